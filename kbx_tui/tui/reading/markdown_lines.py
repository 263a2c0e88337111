"""The lines of Markdown files of any size: their kinds, styles, links and emphasis. Pure.

No tree is parsed, so that each line of the file stays one line. Links are replaced by their labels
and markers of emphasis are removed; their places are recorded. All other text is verbatim.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Literal, NamedTuple

from kbx_tui.tui.drawing.lines import Look

Kind = Literal["front", "code", "title", "heading", "rule", "table", "text"]
"""`title` is a heading of level 1 or 2, `rule` a separator, `code` includes its fences."""

STYLED = 10_000
"""Number of leading characters of a line searched for markup other than links."""


class Mark(NamedTuple):
    start: int
    end: int
    look: Look


class LineStyle(NamedTuple):
    look: Look
    marks: tuple[Mark, ...]
    prefix: str
    """Starts each row of the wrapped line except the first."""


_FENCE = re.compile(r" *(?:[-*+] +|\d{1,9}[.)] +)?(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?: +|$)")
_RULE = re.compile(r" {0,3}([-*_])(?: *\1){2,} *$|\|[-:| ]+\| *$")
_LEAD = re.compile(
    r"(?P<quote>(?: {0,3}>)*) *"
    r"(?:(?P<bullet>[-*+•]|\d{1,9}[.)]) +"
    r"(?:(?P<box>\[[ xX]\])(?= ) +)?(?P<date>\[\d{4}-\d\d-\d\d\])?)?"
)
_TO_BLANK = re.compile("[^>]")


def line_kinds(lines: Sequence[str]) -> list[Kind]:
    kinds: list[Kind] = ["front"] * _front_length(lines)
    fence = ""
    for line in lines[len(kinds) :] if kinds else lines:
        if fence:
            kinds.append("code")
            if line.strip(" ").startswith(fence) and not line.strip(f" {fence[0]}"):
                fence = ""
        elif not (head := line.lstrip(" ")[:1]):
            kinds.append("text")
        elif (head in "`~-*+" or head.isdigit()) and (opened := _FENCE.match(line)):
            kinds.append("code")
            fence = opened[1]
        elif head == "#" and (heading := _HEADING.match(line)):
            kinds.append("title" if len(heading[1]) <= 2 else "heading")
        elif head in "-*_|" and len(line) <= STYLED and _RULE.match(line):
            kinds.append("rule")
        else:
            kinds.append("table" if head == "|" else "text")
    return kinds


@lru_cache(maxsize=512)
def line_style(text: str, kind: Kind) -> LineStyle:
    """Return the styles of the first `STYLED` characters of a line without inline markup."""
    prefix = wrap_prefix(text, kind)
    if kind == "text":
        return _text_style(text, prefix)
    if kind == "table":
        pipes = re.finditer("[|│]", text[:STYLED])
        return LineStyle("text", tuple(Mark(*pipe.span(), "rule") for pipe in pipes), prefix)
    if kind in ("title", "heading"):
        look: Look = "heading" if kind == "title" else "strong"
        return LineStyle(look, (Mark(0, len(prefix), "rule"),), prefix)
    return LineStyle("rule" if kind == "rule" else "dim", (), prefix)


def wrap_prefix(text: str, kind: Kind) -> str:
    if kind == "text":
        lead = _lead(text)
        end = lead.start("date") if lead["date"] else lead.end()
        return _TO_BLANK.sub(" ", text[:end])
    if kind == "table":
        return "  "
    inner = text.lstrip(" #") if kind in ("title", "heading") else text.lstrip(" ")
    return " " * (len(text) - len(inner))


def overlay(below: Sequence[Mark], above: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return the marks of both, `above` hiding `below`; each is sorted, without overlaps."""
    if not below or not above:
        return tuple(below or above)
    marks, following = list(above), 0
    for start, end, look in below:
        while following < len(above) and above[following].start < end:
            over = above[following]
            if start < over.start:
                marks.append(Mark(start, over.start, look))
            start = max(start, over.end)
            if over.end > end:
                break
            following += 1
        if start < end:
            marks.append(Mark(start, end, look))
    return tuple(sorted(marks))


def _front_length(lines: Sequence[str]) -> int:
    if not lines or lines[0].rstrip(" ") != "---":
        return 0
    ends = (n for n, line in enumerate(lines[1:], 2) if line.rstrip(" ") in ("---", "..."))
    return next(ends, 0)


def _lead(text: str) -> re.Match[str]:
    lead = _LEAD.match(text, 0, STYLED)
    assert lead is not None  # all parts of the pattern are optional
    return lead


def _text_style(text: str, prefix: str) -> LineStyle:
    lead = _lead(text)
    done = lead["box"] not in (None, "[ ]")
    box: Look = "dim" if done else "accent"
    looks: dict[str, Look] = {"quote": "rule", "bullet": "dim", "box": box, "date": "dim"}
    marks = [Mark(*lead.span(group), look) for group, look in looks.items() if lead[group]]
    return LineStyle("dim" if done else "text", tuple(marks), prefix)


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    """1-based line number."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextLink:
    place: Place
    target: str
    is_embed: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """The current text of a document's file, with the passages that it embeds.

    Places, the best passage and `redacted` number the lines shown; `file_line` gives those of the
    file.
    """

    path: str
    title: str
    date: str
    lines: tuple[str, ...]
    """The lines shown, without control characters and inline markup."""
    line_start: int = 0
    line_end: int = 0
    """The last line of the best passage; like `line_start` 1-based, 0 if there is none."""
    matches: tuple[Place, ...] = ()
    links: tuple[TextLink, ...] = ()
    redacted: frozenset[int] = frozenset()
    """1-based lines that are shown greyed, because they are withheld from programs."""
    kinds: Sequence[Kind] = ()
    """The kind of each line; empty to derive the kinds from the lines."""
    emphasis: Mapping[int, tuple[Mark, ...]] = field(default_factory=dict)
    file_lines: Sequence[int] = ()
    """The line of the file that each line belongs to; empty if they are the same lines."""
    front_summary: str = ""

    def file_line(self, line: int) -> int:
        """Return the 1-based line of the file that is shown as `line`; 0 for 0."""
        return self.file_lines[line - 1] if line and self.file_lines else line

    def shown_line(self, line: int) -> int:
        """Return the 1-based line where a line of the file is shown; 0 for 0."""
        return bisect_left(self.file_lines, line) + 1 if line and self.file_lines else line

    def is_own(self, line: int) -> bool:
        lines = self.file_lines
        return line < 2 or not lines or lines[line - 1] != lines[line - 2]


LINKED = 100_000
"""Number of leading characters of a line searched for links: a longer search may block the app."""


class InlineText(NamedTuple):
    lines: tuple[str, ...]
    kinds: Sequence[Kind]
    links: tuple[TextLink, ...]
    emphasis: Mapping[int, tuple[Mark, ...]]


_CODE_SPAN = r"(?P<ticks>`(?<!``)(?<!\\`)`{0,7})(?!`)(?:[^`]{1,1000}+)(?P=ticks)(?!`)"
_LINK = re.compile(
    _CODE_SPAN + r"|!?\[(?<!\\\[)(?:"
    r"\[(?P<target>[^\[\]|]{1,300})(?:\|(?P<alias>[^\[\]]{0,300}))?\]\]"
    r"|(?P<label>[^\[\]]{0,500}+)\]\("
    r"(?P<address><[^<>]{1,1000}+>|(?:[^()\s]|\([^()\s]{0,200}+\)){1,1000}+)"
    r"(?:\s+\"[^\"]{0,200}+\")?\))"
    r"|https?://(?P<url>[^\s<>\"`|\\\]]+)"
)
_EMPHASIS = re.compile(
    _CODE_SPAN + r"|\*\*(?<![*\\]\*\*)(?=[^\s*])[^*]{1,500}+(?<=\S)\*\*(?!\*)"
    r"|\*(?<![\w*\\]\*)(?=[^\s*])[^*]{1,500}+(?<=\S)\*(?![\w*])"
    r"|__(?<![\w\\]__)(?=[^\s_])[^_]{1,500}+(?<=\S)__(?!\w)"
    r"|_(?<![\w\\]_)(?=[^\s_])[^_]{1,500}+(?<=\S)_(?!\w)"
    r"|~~(?<![~\\]~~)(?=[^\s~])[^~]{1,500}+(?<=\S)~~(?!~)"
)
_LOOKS: dict[str, Look] = {"**": "strong", "__": "strong", "~~": "struck"}
_MARKERS = re.compile(r"[*`_]|~~")
_URL_TAIL = ".,;:!?'*_~"


def render_inline(lines: Sequence[str], *, labels_first: bool = False) -> InlineText:
    """Return `lines` with links replaced by their labels, and emphasis without its markers.

    Finds wikilinks, Markdown links and web addresses outside code; an empty label is replaced by
    the target. Line numbers stay the same. Searches only the first `LINKED` characters of a line
    for links, and the first `STYLED` for emphasis. With `labels_first`, the label of a wikilink is
    before its bar.
    """
    shown: list[str] = []
    links: list[TextLink] = []
    emphasis: dict[int, tuple[Mark, ...]] = {}
    kinds = line_kinds(lines)
    for number, (line, kind) in enumerate(zip(lines, kinds, strict=True), 1):
        if kind != "code":
            first = len(links)
            if "](" in line or "[[" in line or "://" in line:
                line = _replace_links(line, number, links, labels_first)
            if kind not in ("front", "rule") and _MARKERS.search(line):
                line, marks = _hide_markers(line, first, links)
                if marks:
                    emphasis[number] = marks
        shown.append(line)
    return InlineText(tuple(shown), kinds, tuple(links), emphasis)


def _replace_links(line: str, number: int, links: list[TextLink], labels_first: bool) -> str:
    parts: list[str] = []
    offset = length = 0
    for match in _LINK.finditer(line, 0, LINKED):
        start, end = match.span()
        label, target = _label_and_target(match, labels_first)
        if not target:
            continue
        if match["url"] is not None:
            end = start + len(label)
        before = line[offset:start]
        parts += [before, label]
        length += len(before)
        is_embed = match["target"] is not None and line[start] == "!"
        links.append(TextLink(Place(number, length, length + len(label)), target, is_embed))
        length += len(label)
        offset = end
    return "".join(parts) + line[offset:]


def _label_and_target(match: re.Match[str], labels_first: bool) -> tuple[str, str]:
    if (written := match["target"]) is not None:
        alias = match["alias"] or ""
        page = written.rstrip("\\ ").strip()  # in tables, the bar is escaped
        if labels_first and alias.strip():
            return page or alias.strip(), alias.strip()
        return alias if alias.strip() else written, page
    if (address := match["address"]) is not None:
        target = address.strip("<>")
        return match["label"] if match["label"].strip() else target, target
    if match["url"] is not None:
        url = match[0].rstrip(_URL_TAIL)
        closing = len(url) - len(url.rstrip(")"))  # unmatched ones belong to the sentence
        surplus = min(closing, max(url.count(")") - url.count("("), 0))
        url = url[: len(url) - surplus].rstrip(_URL_TAIL)
        return url, url
    return "", ""


def _hide_markers(line: str, first: int, links: list[TextLink]) -> tuple[str, tuple[Mark, ...]]:
    """Return `line` without the markers of emphasis, and the marks for the emphasized text.

    Shifts the places of this line's links, `links[first:]`. Signs within addresses are kept.
    """
    places = [(link.place.start, link.place.end, link.target) for link in links[first:]]
    starts = [start for start, *_ in places]
    removed: list[tuple[int, int]] = []
    marked: list[tuple[int, int, Look]] = []
    for match in _EMPHASIS.finditer(line, 0, STYLED):
        (start, end), look = match.span(), _LOOKS.get(match[0][:2])
        size = 2 if look else 1
        if match["ticks"]:
            size, look = len(match["ticks"]), "code"
        markers = ((start, start + size), (end - size, end))
        within = places[max(bisect_right(starts, start) - 1, 0) : bisect_left(starts, end)]
        addresses = [(a, b) for a, b, target in within if line[a:b] == target]
        if any(a < last and begin < b for begin, last in markers for a, b in addresses):
            continue
        if any((a <= start < b) != (a < end <= b) for a, b, _ in within):
            continue  # it begins or ends in the middle of a link
        removed += markers
        marked.append((start + size, end - size, look or "emphasis"))
    if not removed:
        return line, ()
    ends = [end for _, end in removed]
    gone = [0, *accumulate(end - start for start, end in removed)]

    def moved(position: int) -> int:
        return position - gone[bisect_right(ends, position)]

    for index, link in enumerate(links[first:], first):
        place = Place(link.place.line, moved(link.place.start), moved(link.place.end))
        links[index] = replace(link, place=place)
    parts, offset = [], 0
    for start, end in removed:
        parts.append(line[offset:start])
        offset = end
    marks = tuple(Mark(moved(start), moved(end), look) for start, end, look in marked)
    return "".join(parts) + line[offset:], marks
