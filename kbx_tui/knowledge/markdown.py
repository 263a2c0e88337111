"""Inline markup, and the structure of a markdown body: headings, list items, code, fields, tags.

Line numbers are 0-based lines of the body; add ``Document.body_line`` for lines of the file. Blocks
are those of CommonMark, parsed by markdown-it without its inline rules. If only headings are
needed, a fast scanner finds them, which gives up where only a parser can decide: a line beginning
with ``#`` ends any list or quote, so it is a heading unless in code or raw HTML, and the scanner
only has to follow fences, HTML and underlines. It is kept for its speed: see the experiment
"heading scanner" in docs/quality.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from html.entities import html5
from itertools import islice
from typing import TYPE_CHECKING, Any

from kbx_tui.knowledge.folding import name_key

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CODE_SPAN = (
    r"`(?<!``)(?P<ticks>`{0,15})(?!`)"
    r"(?:[^`\n]|\n(?!\n)|(?!`(?P=ticks)(?!`))`){1,2000}?`(?P=ticks)(?!`)"
)
"""Code, whose group `ticks` are the marks before it after the first. Like all alternatives to it,
it begins with a literal character: a search skips to candidates."""
EMPHASIS = (
    re.compile(r"(?<![*\\])\*\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*\*(?!\*)"),
    re.compile(r"(?<![*\\\w])\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*(?![*\w])"),
    re.compile(r"(?<![_\\\w])__(?=\S)([^_\n]{1,500}?)(?<=\S)__(?![_\w])"),
    re.compile(r"(?<![_\\\w])_(?=\S)([^_\n]{1,500}?)(?<=\S)_(?![_\w])"),
    re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)"),
)

LINK_TITLE = r"(?:[ \t]+(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\([^()\n]{0,200}\)))?"

_INLINE_MARKUP = (  # each match is replaced by its group
    re.compile(r"!?\[\[([^\[\]\n|]{1,300})\]\]"),
    re.compile(r"!?\[\[[^\[\]\n|]{1,300}\|([^\[\]\n]{1,300})\]\]"),
    re.compile(
        r"!?\[([^\[\]\n]{0,500})\]"
        rf"\((?:[^()\s]|\([^()\s]{{0,200}}\)){{0,1000}}{LINK_TITLE}\)"
    ),
    re.compile(r"!?\[([^\[\]\n]{1,500})\]\[[^\[\]\n]{0,200}\]"),
    *EMPHASIS,
    re.compile(r"\\([!-/:-@\[-`{-~])"),
)


def strip_markup(text: str) -> str:
    if not any(mark in text for mark in "[*_`\\"):
        return text
    for pattern in _INLINE_MARKUP:
        text = pattern.sub(r"\1", text)
    return text


MAX_LINES = 100_000
_LARGE = 1_000_000


_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True)
class ListItem:
    line: int
    text_end: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class Outline:
    headings: tuple[Heading, ...]
    items: tuple[ListItem, ...]
    code: tuple[tuple[int, int], ...]
    section_ends: tuple[int, ...] = field(init=False)
    """First line after the section of each heading; ``sys.maxsize`` if the body ends with it."""

    def __post_init__(self) -> None:
        ends, open_sections = [sys.maxsize] * len(self.headings), list[int]()
        for index, heading in enumerate(self.headings):
            while open_sections and self.headings[open_sections[-1]].level >= heading.level:
                ends[open_sections.pop()] = heading.line
            open_sections.append(index)
        object.__setattr__(self, "section_ends", tuple(ends))


def outline(body: str) -> Outline:
    body = read_as_markdown(body)
    return _outline(body) if len(body) < _LARGE else _outline_of_large(body)


def _read_outline(body: str) -> Outline:
    lines = body.split("\n")
    try:
        parsed = _parser().parse(body)
    except RecursionError:  # nested too deeply to parse: treat as text without structure
        return Outline((), (), ())
    return Outline(
        tuple(_headings(parsed, lines)),
        tuple(_items(parsed)),
        tuple(
            (token.map[0], token.map[1])
            for token in parsed
            if token.map and token.type in ("fence", "code_block", "html_block")
        ),
    )


_outline = lru_cache(maxsize=64)(_read_outline)
_outline_of_large = lru_cache(maxsize=2)(_read_outline)


def has_unread_lines(body: str) -> bool:
    return body.count("\n") >= MAX_LINES


def read_as_markdown(body: str) -> str:
    if not has_unread_lines(body):
        return body
    line_ends = (match.start() for match in _LINE_END.finditer(body))
    return body[: next(islice(line_ends, MAX_LINES - 1, None))]


def headings(body: str) -> tuple[Heading, ...]:
    return _headings_in(read_as_markdown(body))


@lru_cache(maxsize=1)  # title, date and row of a page ask in turn
def _headings_in(body: str) -> tuple[Heading, ...]:
    scanned = scan_headings(body)
    return outline(body).headings if scanned is None else scanned


TOP_LINES = 12
"""Lines at the top of a body in which a line such as `Date: ...` is a property of the document."""


def end_of_top(body: str) -> int:
    """Return the offset at which the top of a body ends."""
    end = -1
    for _ in range(TOP_LINES):
        if (end := body.find("\n", end + 1)) < 0:
            return len(body)
    return end


def states_title(body: str, title: str) -> bool:
    key = name_key(title)
    return any(name_key(heading.text) == key for heading in headings(body))


_TEMPLATE_MARKS = {"{{": "}}", "{%": "%}", "<%": "%>", "${": "}"}
_TEX_MARKS = {"\\(": "\\)", "\\[": "\\]", "\\begin{": "\\end{"}
_SHORT_MARKS = _TEMPLATE_MARKS | _TEX_MARKS
_COMMENT_MARKS = {"%%": "%%", "<!--": "-->", "{/*": "*/}", "$$": "$$"}
_UNREAD_MARK = re.compile(
    CODE_SPAN + r"|\{\{|\{%|<%|\$\{|%%|<!--|\{/\*|\$\$|\\(?<!\\\\)(?:\(|\[|begin\{)"
    r"|\$(?<![\\$\w]\$)(?=\S)[^$\n]{1,300}(?<=\S)\$(?![\d$\w])"
)
_LONGEST = 2000
_LINK_TARGET = re.compile(r"\]\([^)\n]*(?:[./#:]|[^\W\d_]{2})")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]*\]\]")
_SIGN_OF_TEX = re.compile(r"\\[A-Za-z]|[=^_{}]")
_TWO_LETTERS = re.compile(r"[^\W\d_]{2}")


def blank_unread(body: str) -> str:
    """Return a body with spaces for code, comments, placeholders of templates and mathematics."""
    text = blank_code(body)
    parts, done, unclosed = list[str](), 0, set[str]()
    for match in _UNREAD_MARK.finditer(text):
        mark, start, end = match[0], match.start(), match.end()
        if start < done or match["ticks"] is not None or mark in unclosed:
            continue
        if closing := _SHORT_MARKS.get(mark):
            found = text.find(closing, end, end + _LONGEST)
            if mark in ("\\(", "\\[") and not _is_mathematics(text[end : max(found, end)]):
                continue  # brackets that are escaped
        elif closing := _COMMENT_MARKS.get(mark):
            found = text.find(closing, end)
            if found < 0:
                unclosed.add(mark)
        else:
            closing, found = "", end
        if found >= 0:
            end = found + len(closing)
            parts += [text[done:start], _NOT_LINE_END.sub(" ", text[start:end])]
            done = end
    return "".join([*parts, text[done:]]) if parts else text


def _is_mathematics(text: str) -> bool:
    """Return whether a text between escaped brackets is TeX, whose brackets do not make links.

    It is where its line ends at once, or where it holds no word, or a sign of TeX beside wikilinks.
    """
    if text.startswith("\n"):
        return True
    if "\n\n" in text or _LINK_TARGET.search(text):
        return False
    return not _TWO_LETTERS.search(text) or bool(_SIGN_OF_TEX.search(_WIKILINK.sub("", text)))


_NOT_LINE_END = re.compile(r"[^\n]")


_MARKERS = r"[ \t*+_.)=\d-]"
_MAY_BE_CODE = re.compile(
    rf"```|~~~|^{_MARKERS}*+(?:>|<(?!https?:|mailto:))"
    rf"|(?:\A|^(?:{_MARKERS}*+(?:\#[^\n]*+)?\n|[^\n]*\]:[^\n]*+\n(?:[^\n]+\n){{0,2}}))"
    rf"{_MARKERS}*(?: {{4}}|\t)"
    rf"|^{_MARKERS}*[*+.)-][ \t]*(?: {{4}}|\t)",
    re.MULTILINE,
)
"""A fence, raw HTML, a quotation, or an indentation that does not continue the paragraph above
it: below a blank line, heading, rule or definition, or after the marker of an item."""


def blank_code(body: str) -> str:
    if not any(mark in body for mark in ("```", "~~~", "    ", "\t", "<pre", "<PRE")):
        return body
    if not _MAY_BE_CODE.search(body):  # nested lists need no parser
        return body
    lines = body.split("\n")
    for first, end in outline(body).code:
        lines[first:end] = [" " * len(line) for line in lines[first:end]]
    return "\n".join(lines)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # imported late: a search parses no markdown

    parser = MarkdownIt("commonmark")
    # a picture may be a data URL, which is slow to encode
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.core.ruler.disable(["inline", "normalize"])  # `decode` normalized line ends
    return parser


def _headings(parsed: Sequence[Token], lines: Sequence[str]) -> Iterator[Heading]:
    for token in parsed:
        if token.type != "heading_open" or token.level or not token.map:
            continue
        first, end = token.map
        if token.markup in ("=", "-"):
            text = _heading_text(" ".join(line.strip() for line in lines[first : end - 1]))
        else:
            text = atx_text(lines[first])
        yield Heading(int(token.tag[1:]), text, first, end)


def _items(parsed: Sequence[Token]) -> Iterator[ListItem]:
    quotes = depth = 0
    for index, token in enumerate(parsed):
        if token.type == "blockquote_open":
            quotes += 1
        elif token.type == "blockquote_close":
            quotes -= 1
        elif token.type == "list_item_open":
            if token.map and not quotes:
                first, end = token.map
                inner = parsed[index + 1]
                own = inner.map[1] if inner.type == "paragraph_open" and inner.map else first
                yield ListItem(first, own, end, depth)
            depth += 1
        elif token.type == "list_item_close":
            depth -= 1


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    line: int
    end: int


_EVENT = re.compile(
    r"^(?:(?P<atx>#{1,6})(?=[ \t]|$)"
    r"|(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    r"|(?P<indented> {1,3}(?:`{3,}|~{3,}))"
    r"|(?P<underline> {0,3}(?:=+|-+)[ \t]*$)"
    r"|(?P<comment> {0,3}<!--[^\n]*-->)"
    r"|(?P<opened><!--)"
    r"|(?P<raw> {0,3}<(?:!--|\?|![A-Z]|!\[CDATA\[|(?i:pre|script|style|textarea)(?![^\s>])))"
    r"|(?P<tag> {0,3}<(?!https?:|mailto:)[A-Za-z/])"
    r"|(?P<doubt> {1,3}\#{1,6}(?=[ \t]|$)))",
    re.MULTILINE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_TOP_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_ATX = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*))?$")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")


def atx_text(line: str) -> str:
    match = _ATX.match(line)
    return _heading_text(_CLOSING_MARKS.sub("", match[1] or "").strip()) if match else ""


_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*\{:?[ \t]*[#.][^{}\n]{0,200}\}$")
"""The id and classes of a heading: `{#setup .wide}`, or `{: #setup }` in Python-Markdown."""
_LINE_BREAK = re.compile(r"(?<!\s)\s*<br(?![\w-])[^<>\n]{0,100}>\s*", re.IGNORECASE)
_CODE_OR_TAG = re.compile(
    r"(`[^`\n]{0,500}`)|</?(?:a|b|big|center|em|font|i|img|kbd|mark|small|span|strong|sub|sup|u)"
    r"(?![\w-])[^<>\n]{0,500}>",
    re.IGNORECASE,
)


def _heading_text(text: str) -> str:
    if "{" in text:
        text = _ATTRIBUTES.sub("", text)
    if "<" in text:
        text = _CODE_OR_TAG.sub(r"\1", _LINE_BREAK.sub(" ", text)).strip()
    return without_entities(strip_markup(text))


_ENTITY = re.compile(r"&(#(?:\d{1,7}|[xX][\da-fA-F]{1,6});|[A-Za-z][A-Za-z\d]{1,31};)")


def without_entities(text: str) -> str:
    """Return a text with characters for HTML entities such as `&auml;`."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    return unescape(entity[0]) if entity[1][0] == "#" or entity[1] in html5 else entity[0]


def scan_headings(body: str) -> tuple[Heading, ...] | None:
    headings: list[Heading] = []
    fence = ""
    in_list_fence = False
    tag_end = line = position = comment_end = 0
    for event in _EVENT.finditer(body):
        kind = event.lastgroup
        if event.start() < comment_end:
            continue
        if fence:
            if kind in ("fence", "indented") and _closes_fence(body, event, fence):
                fence = ""
            continue
        if kind == "comment":
            continue
        if kind in ("raw", "doubt") or (in_list_fence and kind != "indented"):
            return None
        if tag_end and kind != "tag" and not _BLANK_LINE.search(body, tag_end - 1, event.start()):
            return None
        if kind == "opened":
            closing = body.find("-->", event.start())
            comment_end = len(body) if closing < 0 else _line_end(body, closing)
        elif kind == "tag":
            tag_end = _line_end(body, event.end())
        elif kind == "indented":  # usually a fence in a list
            in_list_fence = not in_list_fence
        elif kind == "fence":
            fence = event["fence"]
        else:
            line += body.count("\n", position, event.start())
            position = event.start()
            if kind == "atx":
                text = atx_text(body[event.start() : _line_end(body, event.end())])
                headings.append(Heading(len(event["atx"]), text, line, line + 1))
            else:
                above = _underlined_text(body, event.start())
                if above is None:
                    return None
                if above:
                    level = 1 if "=" in event["underline"] else 2
                    headings.append(Heading(level, _heading_text(above), line - 1, line + 1))
    return tuple(headings)


def _line_end(body: str, position: int) -> int:
    end = body.find("\n", position)
    return len(body) if end < 0 else end


def _closes_fence(body: str, event: re.Match[str], fence: str) -> bool:
    marks = event.group().strip()
    return marks.startswith(fence) and not body[event.end() : _line_end(body, event.end())].strip(
        " \t"
    )


def _underlined_text(body: str, underline: int) -> str | None:
    if underline == 0:
        return ""
    start = body.rfind("\n", 0, underline - 1) + 1
    above = body[start : underline - 1]
    if not above.strip(" \t") or _TOP_HEADING.match(above):
        return ""
    before = body[body.rfind("\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
    alone = start == 0 or not before.strip(" \t") or _TOP_HEADING.match(before)
    return above.strip() if above[0].isalpha() and alone else None


_KEY = r"[^\W\d_][\w /-]{0,60}"
_FIELD = re.compile(
    rf"^[ \t>]*(?:[-*+][ \t]+(?:\[.\][ \t]+)?)?(?P<mark>[*_]{{0,2}})(?P<key>{_KEY})(?P=mark)"
    r"::[ \t]+(?P<value>\S[^\n]*)$"
    rf"|\[(?P<key_2>{_KEY})::(?P<value_2>(?:\[\[[^\[\]\n]*\]\]|[^\[\]\n])+)\]"
    rf"|\((?P<key_3>{_KEY})::(?P<value_3>[^()\n]+)\)",
    re.MULTILINE,
)


def inline_fields(body: str) -> dict[str, Any]:
    """Return the inline fields of a body, `key:: value` lines and `[key:: value]`, by key.

    A key that occurs several times has a list of its values. Keys are in lower case, with `_` for
    spaces.
    """
    if "::" not in body or not _FIELD.search(body):  # to blank code may take parsing
        return {}
    found: dict[str, list[str]] = {}
    for match in _FIELD.finditer(blank_code(body)):
        value = match["value"] or match["value_2"] or match["value_3"]
        found.setdefault(_key_of(match), []).append(value.strip())
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


def blank_inline_fields(text: str, keys: Set[str]) -> str:
    """Return a text, whose code is blank, with spaces for the inline fields of some keys."""

    def blanked(match: re.Match[str]) -> str:
        return " " * len(match[0]) if _key_of(match) in keys else match[0]

    return _FIELD.sub(blanked, text) if "::" in text else text


def _key_of(field: re.Match[str]) -> str:
    key = field["key"] or field["key_2"] or field["key_3"]
    return strip_markup(key).strip().casefold().replace(" ", "_")


_TAG = re.compile(
    CODE_SPAN + r"|\[\[[^\[\]\n]{1,500}\]\]"
    r"|\#(?<!\S\#)(?:\[\[(?P<page>[^\[\]\n]{1,200})\]\]"
    r"|(?P<tag>[^\s\#!-,.:-@\[-^`{-~\u2000-\u206f\u2e00-\u2e7f]{1,200}))"
)
_MAY_BE_TAG = re.compile(r"#(?<!\S#)[^\s#]")
_NO_WORD = re.compile(r"[\d/_-]*")


def inline_tags(body: str) -> tuple[str, ...]:
    """Return the distinct tags outside code and links, without `#`; `#[[two words]]` is one too.

    Numbers are not tags.
    """
    if not _MAY_BE_TAG.search(body):
        return ()
    found = _TAG.finditer(blank_code(body))
    names = (name for match in found if (name := match["tag"] or match["page"]))
    tags = (name.strip("/ ") for name in names)
    return tuple(dict.fromkeys(tag for tag in tags if tag and not _NO_WORD.fullmatch(tag)))


_CODE_SPAN_OR_WIKILINK = re.compile(
    CODE_SPAN + r"|\[\[(?P<target>[^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?"
    r"(?:\|[^\[\]\n]{0,300})?\]\]"
)


def wikilink_targets(text: str) -> Iterator[str]:
    for match in _CODE_SPAN_OR_WIKILINK.finditer(text):
        target = (match["target"] or "").strip().rstrip("\\").strip()
        if target:
            yield target
