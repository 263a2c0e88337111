"""Marks for text that must not be passed on, what they hide of a page, and the rest: public pages.

Marks are `#redacted`, `(redacted)`, `(status: redacted)`, also in code, a comment or a highlight,
in full-width letters, and with characters that nobody sees. Lines keep their numbers. A public page
is parsed from the text of a page without the redacted parts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import groupby
from typing import Any

from kbx_tui.knowledge.decoding import content_hash, decode
from kbx_tui.knowledge.facts import MARKERS, read_fact_line
from kbx_tui.knowledge.fields import tags_of
from kbx_tui.knowledge.folding import WORD, fold, normalized
from kbx_tui.knowledge.markdown import (
    MAX_LINES,
    Outline,
    has_unread_lines,
    outline,
    read_as_markdown,
    without_entities,
)
from kbx_tui.knowledge.reading import (
    USUAL,
    Conventions,
    entry_starts,
    parse_document,
    read_frontmatter,
)
from kbx_tui.knowledge.records import REDACTED, Document

_TAG = r"(?<![^\W_])(?<![/\\#&?])#redacted(?![^\W_])"
"""Not in a longer word, an escape or the address of a part: `notes.md/#redacted`."""
_REDACTED_WORDS = r"\s*(?:status::?\s*)?#?redacted\s*"
_COMMENT = rf"<!--{_REDACTED_WORDS}-->|%%{_REDACTED_WORDS}%%"
_BRACKETS = rf"[(\[{{]{_REDACTED_WORDS}[)\]}}]|{_COMMENT}"
_MARK = re.compile(f"{_TAG}|{_BRACKETS}", re.IGNORECASE)
_FIELD_MARK = re.compile(rf"#[ \t]*redacted(?![^\W_])|{_BRACKETS}", re.IGNORECASE)
_LONE_MARK = re.compile(
    rf"[(\[{{]?{_TAG}[)\]}}]?|[({{]{_REDACTED_WORDS}[)}}]|\[\s*status::?\s*redacted\s*\]|{_COMMENT}"
    r"|status::?\s*redacted\b",
    re.IGNORECASE,
)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point of Unicode."""
_OTHER_TAG = re.compile(r"(?:^|(?<=\s))#[^\s#]+|<(?:/?[a-z]|!--)[^<>]*>|%%[^%]*%%", re.IGNORECASE)
_REDACTED_WORD = re.compile(r"(?<![^\W_])redacted(?![^\W_])", re.IGNORECASE)
_NO = frozenset({"", "false", "no", "none", "null", "0", "off", "~"})


def plain(text: str) -> str:
    """Return text as it is seen: without unseen characters, full-width ones as usual ones."""
    return text if text.isascii() else normalized("NFKC", _UNSEEN.sub("", text))


def may_hold_mark(text: str) -> bool:
    return REDACTED in plain(text).lower()


def has_redaction_mark(text: str) -> bool:
    text = plain(text)
    if REDACTED not in text.lower():
        return False
    if _MARK.search(text):
        return True
    return read_fact_line(MARKERS.sub("", text)).status == REDACTED


def is_lone_mark(text: str) -> bool:
    """Return whether a block holds nothing but a mark and perhaps other tags and comments.

    `[redacted]` is not a mark: it replaces text that its writer already removed.
    """
    text = plain(text)
    if REDACTED not in text.lower():
        return False
    rest, marks = _LONE_MARK.subn("", text)
    return bool(marks) and not any(map(str.isalnum, _OTHER_TAG.sub("", rest)))


def is_page_redacted(title: str, frontmatter: Mapping[str, Any]) -> bool:
    """Return whether a whole page is redacted.

    It is if its title has a mark, `status:` (a text or a list) has the word, `redacted:` has any
    value but no, or it has the tag `redacted`.
    """
    if has_redaction_mark(title):
        return True
    for key, value in frontmatter.items():
        name = plain(key).strip().casefold()
        if name == "status" and _REDACTED_WORD.search(plain(str(value))):
            return True
        if name == REDACTED and str(value).strip().casefold() not in _NO:
            return True
    return any(
        plain(tag).casefold().split("/")[0] == REDACTED
        for key, value in frontmatter.items()
        for tag in tags_of({key: value})
    )


Span = tuple[int, int]

_TABLE_ROW = re.compile(r"\s*\|")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t|\s*$)")
_DEFINITION = re.compile(r" {0,3}[:~][ \t]")
_NOTE = re.compile(
    rf' {{0,3}}(?:\[\^[^\[\]\n]{{1,200}}\]:|!!!|\?\?\?|===[!+]?[ \t]*")|{_DEFINITION.pattern}'
)
"""Begins a footnote, an admonition, a tab or a definition: further paragraphs are indented."""


def redacted_lines(body: str) -> frozenset[int]:
    """Return the 0-based numbers of the redacted lines of a body.

    These are the list items (with everything nested in them), paragraphs, code blocks, table rows
    and sections whose text or heading has a redaction mark. A mark in any paragraph or code block
    of a list item applies to the item. A mark alone in its block applies to the section or block
    directly above. If the body has a mark anywhere, its lines that are not read as markdown are
    redacted too.
    """
    if not may_hold_mark(body):
        return frozenset()
    return _redacted_lines(body)


@lru_cache(maxsize=8)
def _redacted_lines(body: str) -> frozenset[int]:
    lines = _lines_of(_Blocks(body).redacted())
    if has_unread_lines(body):  # the ends of their blocks are unknown
        lines.update(range(MAX_LINES, body.count("\n") + 1))
    return frozenset(lines)


def _lines_of(spans: Iterable[Span]) -> set[int]:
    lines, reached = set[int](), 0
    for start, end in sorted(spans):  # each line once: thousands of spans may overlap
        lines.update(range(max(start, reached), end))
        reached = max(reached, end)
    return lines


def paragraphs(body: str) -> Iterator[Span]:
    """Yield runs of lines that are not blank; each item, heading and table row begins a new one."""
    lines, blocks = read_as_markdown(body).split("\n"), outline(body)
    starts = {item.line for item in blocks.items} | {heading.line for heading in blocks.headings}
    start = 0
    for number, line in enumerate([*lines, ""]):
        previous = lines[number - 1] if 0 < number < len(lines) else ""
        is_row = _TABLE_ROW.match(line) or _TABLE_ROW.match(previous)
        if not line.strip() or number in starts or is_row:
            if start < number:
                yield start, number
            start = number if line.strip() else number + 1


def _runs(lines: Sequence[str]) -> Iterator[Span]:
    for is_blank, run in groupby(enumerate(lines), key=lambda numbered: not numbered[1].strip()):
        if not is_blank:
            numbers = [number for number, _ in run]
            yield numbers[0], numbers[-1] + 1


def _notes(lines: Sequence[str], blocks: Iterable[Span]) -> Iterable[Span]:
    """Return footnotes and similar, which Markdown itself reads as paragraphs and code.

    A definition begins with its term, if that has a mark, and is followed by others of that term.
    """
    ends = dict[int, int]()
    reached, marked = 0, -1
    for start, end in blocks:
        if start < reached:
            continue
        if marked < 0 or not _DEFINITION.match(lines[start]):
            marked = start if has_redaction_mark(" ".join(lines[start:end])) else -1
        begins = next((at for at in range(start, end) if _NOTE.match(lines[at])), end)
        if begins == end:
            continue
        begins = begins if marked < 0 else marked
        reached = last = end
        while reached < len(lines) and _INDENTED.match(lines[reached]):
            reached += 1
            last = reached if lines[reached - 1].strip() else last
        ends[begins] = last
    return ends.items()


class _Blocks:
    def __init__(self, body: str) -> None:
        self._lines = read_as_markdown(body).split("\n")
        self._outline: Outline = outline(body)
        self._paragraphs = list(paragraphs(body))
        count = len(self._lines)
        self._inner = list[Span | None]([None]) * count
        self._outer = list[Span | None]([None]) * count
        self._section_of: dict[int, int] = {}
        blocks = self._outline
        self._notes = _notes(self._lines, self._paragraphs)
        for start, end in (*_runs(self._lines), *blocks.code, *self._notes):
            self._outer[start:end] = [(start, end)] * (min(end, count) - start)
        for item in reversed(blocks.items):  # outermost last, so that it wins
            start, end = item.line, min(item.end, count)
            self._outer[start:end] = [(start, item.end)] * (end - start)
        for item in blocks.items:
            start, end = item.line + 1, min(item.end, count)
            self._inner[start:end] = [(item.line, item.end)] * (end - start)
        for index, heading in enumerate(blocks.headings):
            self._section_of |= dict.fromkeys(range(heading.line, heading.end), index)
        self._item_lines = {item.line for item in blocks.items}

    def redacted(self) -> Iterator[Span]:
        blocks, ends = self._outline, dict(self._paragraphs)
        innermost = {item.line: item for item in blocks.items}
        without_text = dict[int, Span]()
        """Items that begin with code, a comment, a quotation or a heading."""
        for item in blocks.items:
            end = item.text_end
            if end == item.line and innermost[item.line] is item:
                end = ends.get(item.line, end)
                without_text[item.line] = item.line, item.end
            if has_redaction_mark(self._text(item.line, end)):
                yield item.line, item.end
        for index, heading in enumerate(blocks.headings):
            if has_redaction_mark(self._text(heading.line, heading.end)):
                yield self._section(index)
        for start, end in blocks.code:
            if any(map(has_redaction_mark, self._lines[start:end])):
                yield without_text.get(start) or self._inner[start] or (start, end)
        yield from (note for note in self._notes if has_redaction_mark(self._text(*note)))
        for start, end in self._paragraphs:
            text = self._text(start, end)
            if not has_redaction_mark(text):
                continue
            yield start, end
            around = None if start in self._item_lines else self._inner[start]
            if around is not None:
                yield around
            elif is_lone_mark(text):
                yield self._above(start, end)

    def _above(self, start: int, end: int) -> Span:
        if (around := self._inner[start]) is not None:
            return around  # an item with nothing but a mark, in another item
        if start in self._item_lines:
            return start, end  # a list item of its own is a placeholder
        above = next((at for at in range(start - 1, -1, -1) if self._lines[at].strip()), -1)
        if above < 0:
            return 0, len(self._lines)
        if above in self._section_of:
            return self._section(self._section_of[above])
        return self._outer[above] or (above, above + 1)

    def _section(self, index: int) -> Span:
        blocks = self._outline
        return blocks.headings[index].line, min(blocks.section_ends[index], len(self._lines))

    def _text(self, start: int, end: int) -> str:
        return " ".join(line.strip() for line in self._lines[start:end])


PLACEHOLDER = "- [redacted]"
FIELD_PLACEHOLDER = "# [redacted]"
_PLACEHOLDERS = re.compile(
    rf"^({re.escape(PLACEHOLDER)}|{re.escape(FIELD_PLACEHOLDER)})$(?:\n+\1$)*\n*", re.MULTILINE
)

_STATUS = re.compile(
    r"^[ \t]*[\"']?(?:status[\"']?[ \t]*[:=].*\bredacted\b"
    r"|redacted[\"']?[ \t]*[:=][ \t]*(?:true|yes|1))",
    re.IGNORECASE | re.MULTILINE,
)
_TAGGED = re.compile(
    r"^[ \t]*[\"']?tags?[\"']?[ \t]*[:=]"
    r"(?:.*(?:\n[ \t]*-.*)*[\s\[,\"'#])?redacted(?=[\s\],\"'/]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_LISTED = re.compile(
    r"(?:^|[,\[{])[ \t\"'#-]*redacted(?:/[^\s,\]}]*)?[ \t\"']*(?:$|[,\]}])",
    re.IGNORECASE | re.MULTILINE,
)
_CONTINUED = re.compile(r"\n(?![^\s\[\]{},#-][^\n:=]*[:=](?:\s|$))")
"""A line end in the value of an entry."""


def marked_lines(text: str) -> frozenset[int]:
    if not may_hold_mark(text):
        return frozenset()
    front = read_frontmatter(text)
    first = front.body_line - 1
    head = text.split("\n")[:first]
    fields = _lines_of(_marked_fields(head)) if head else set()
    return frozenset(fields | {first + line for line in redacted_lines(front.body)})


def public_text(text: str) -> str:
    """Return the text of a file, its redacted lines replaced by placeholders and blank lines."""
    marked = marked_lines(text)
    if not marked:
        return text
    first_of_body = read_frontmatter(text).body_line - 1
    shown = []
    for number, line in enumerate(text.split("\n")):
        if number not in marked:
            shown.append(line)
        elif number - 1 in marked and number != first_of_body:
            shown.append("")
        else:
            shown.append(FIELD_PLACEHOLDER if number < first_of_body else PLACEHOLDER)
    return "\n".join(shown)


def is_same_public_text(one: bytes, other: bytes) -> bool:
    """Return whether public texts differ at most in how many placeholders follow one another.

    Two become one when the last line between them is removed.
    """
    first, second = (_PLACEHOLDERS.sub(r"\1\n", text.decode()) for text in (one, other))
    return first == second


def says_redacted_at_top(text: str) -> bool:
    """Return whether the lines at the top have the status or tag, as `is_page_redacted` has it.

    In frontmatter that cannot be read, any item of a list may be a tag.
    """
    if not text.startswith(("---", "+++", ";;;", "{")):
        return False
    front = read_frontmatter(text)
    end = front.body_line - 1
    top = "\n".join(text.split("\n")[:end]) if end else text.partition("\n\n")[0]
    top = plain(top)
    forms = [_STATUS.search(top)]
    if front.fault or not end:
        joined = _CONTINUED.sub(" ", top)
        forms += [_STATUS.search(joined), _TAGGED.search(top), _TAGGED.search(joined)]
        forms.append(_LISTED.search(top))
    return any(forms)


NEAR_MARK = "looks like a redaction mark, but is not one"
NEAR_MARK_SHOWN = 80
_NEAR_MARK = re.compile(
    r"(?:[#@!%$\\(\[{<【〔*_~=`]|<!--|\{\.)[ \t]*(?:status::?[ \t]*)?(?P<adorned>[^\W_]{6,9})\b"
    r"|^\W*+(?:[\w-]++::?[ \t]*+)?(?P<lone>[^\W_]{6,9})(?:::?[ \t]*+(?:true|yes|1))?\W*+$"
)
_HTML_TAG = re.compile(r"<[a-z][\w-]*+(?![^\s/>])[^<>]*", re.IGNORECASE)
_OTHER_VALUE = re.compile(
    r"(?<![\w:-])(?!(?:class|id|data-[\w-]*+)\s*=)([\w:-]++)\s*+=\s*+"
    r"(?:\"[^\"]*+\"?|'[^']*+'?|[^\s\"'<>]++)",
    re.IGNORECASE,
)
"""An attribute whose value is an address or prose."""
_REDACTED_WORD_OF_TAG = re.compile(r"(?<![^\W_])[^\W_]{6,9}(?![^\W_])")
_NO_MISTAKES = frozenset({"reacted", "redactor"})


def near_marks(text: str) -> Iterator[tuple[int, str]]:
    """Yield number (1-based) and beginning of the lines with what looks like a mark but is not."""
    if not _has_half(plain(text)):
        return
    lines = text.split("\n")
    found = [
        number
        for number, line in enumerate(map(plain, lines))
        if _has_half(line) and any(map(_is_near_mark, _adorned_words(without_entities(line))))
    ]
    marked = marked_lines(text) if found else frozenset()
    for number in found:
        if number not in marked:
            yield number + 1, lines[number].strip()[:NEAR_MARK_SHOWN]


def _has_half(text: str) -> bool:
    """Return whether a text may hold a word with one mistake at most."""
    text = text.lower()
    return "reda" in text or "cted" in text or "redca" in text


def _adorned_words(line: str) -> Iterator[str]:
    """Yield the words of a line that stand alone, after a sign, or in a tag of HTML."""
    for found in _NEAR_MARK.finditer(line):
        yield found["adorned"] or found["lone"]
    for tag in _HTML_TAG.findall(line):
        yield from _REDACTED_WORD_OF_TAG.findall(_OTHER_VALUE.sub(r"\1", tag))


def _is_near_mark(word: str) -> bool:
    word = word.lower()
    if word in ("redact", REDACTED):
        return True
    from rapidfuzz.distance import OSA  # most pages have no such word

    return word not in _NO_MISTAKES and OSA.distance(word, REDACTED, score_cutoff=1) <= 1


def _marked_fields(head: Sequence[str]) -> Iterator[Span]:
    """Yield the marked entries of frontmatter; `head` has all of its lines, `---` included.

    A mark on a list item applies to the item, on the header of a table to the table; on a line of
    its own to the entries before and after it.
    """
    starts = entry_starts("\n".join(head))
    keys = [line for line, depth in starts.items() if depth <= 1]
    first = 0 if head[0].startswith("{") else 1  # an object of JSON has no fences
    last = len(head) - first

    def entry(number: int) -> Span:
        at = bisect_right(keys, number)
        return keys[at - 1] if at else first, keys[at] if at < len(keys) else last

    for number in range(first, last):
        line = plain(head[number])
        if not _FIELD_MARK.search(line):
            continue
        depth = starts.get(number, 1)
        if line.lstrip().startswith("#"):
            yield entry(max(number - 1, first))[0], entry(number + 1)[1]
        elif depth == 0 or (depth > 1 and line.split()[0] == "-"):
            end = number + 1
            while end < last and starts.get(end, depth + 1) > depth:
                end += 1
            yield number, end
        else:
            yield entry(number)


def public_data(
    path: str, data: bytes, entity_types: frozenset[str], conventions: Conventions = USUAL
) -> bytes | None:
    """Return the content of a file as agents may see it; None for a page hidden from them.

    It depends on nothing that is redacted: not on its words, nor on how long they are.
    """
    page = PublicPage(path, data, entity_types, conventions=conventions)
    if not page.is_marked:
        return data
    return None if page.is_hidden else page.texts[1].encode()


class PublicPage:
    """One version of a file and its unredacted parts, parsed lazily."""

    def __init__(
        self,
        path: str,
        data: bytes,
        entity_types: frozenset[str],
        file_hash: str = "",
        conventions: Conventions = USUAL,
    ) -> None:
        self.path = path
        self._parse = partial(
            parse_document, path, entity_types=entity_types, conventions=conventions
        )
        self.content_hash = file_hash or content_hash(data)
        self._text = decode(data)[0]
        self._data = data if may_hold_mark(self._text) else b""
        self._public = public_text(self._text)

    @cached_property
    def public_hash(self) -> str:
        """The content hash of the public text; empty for a hidden page."""
        if self.is_hidden:
            return ""
        return content_hash(self._public.encode()) if self.is_marked else self.content_hash

    @property
    def is_marked(self) -> bool:
        return self.is_hidden or self._public != self._text

    @cached_property
    def is_hidden(self) -> bool:
        if not self._data:
            return False
        page = self._parse(self._data)
        return (
            is_page_redacted(page.title, page.frontmatter)
            or says_redacted_at_top(self._text)
            or (page.title, page.id) != (self.document.title, self.document.id)
        )

    @cached_property
    def redacted_lines(self) -> frozenset[int]:
        if not self.is_marked:
            return frozenset()
        if self.is_hidden:
            return frozenset(range(1, self._text.count("\n") + 2))
        return frozenset(line + 1 for line in marked_lines(self._text))

    @cached_property
    def document(self) -> Document:
        return self._parse(self._public.encode())

    @property
    def body(self) -> str:
        return "" if self.is_hidden else self.document.body

    @property
    def texts(self) -> tuple[str, str]:
        return self._text, "" if self.is_hidden else self._public

    def says(self, text: str) -> bool:
        """Return whether the public text holds these words in this order.

        They may be contiguous, or have gaps within a line or paragraph, as in a fact without its
        date and sources. Letter case and accents are ignored.
        """
        if self.is_hidden:
            return False
        wanted = _words(text)
        if not wanted:
            return True
        return " ".join(wanted) in self._run or any(
            _is_subsequence(wanted, unit) for unit in self._units if wanted[0] in unit
        )

    def redacts(self, text: str) -> bool:
        return self.is_marked and not self.says(text)

    @cached_property
    def _run(self) -> str:
        return " ".join(_words(self._public))

    @cached_property
    def _units(self) -> tuple[tuple[str, ...], ...]:
        lines, body = self._public.split("\n"), self.document.body
        first = self.document.body_line - 1
        spans = [(first + start, first + end) for start, end in paragraphs(body)]
        return (
            *(tuple(_words(line)) for line in lines),
            *(tuple(_words(" ".join(lines[start:end]))) for start, end in spans if end > start + 1),
        )


def _words(text: str) -> list[str]:
    return WORD.findall(fold(text))


def _is_subsequence(wanted: list[str], words: tuple[str, ...]) -> bool:
    rest = iter(words)
    return all(word in rest for word in wanted)
