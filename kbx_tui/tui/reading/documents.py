"""A document as the reading pane shows it: lines, links, matches, embeds. Tested on its own.

`![[note]]` and `![[note#heading]]` are shown as quotes below the line that embeds them, and do not
show what they embed in turn.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from kbx_tui.errors import NotFound
from kbx_tui.formatting import format_count, format_size
from kbx_tui.knowledge.fields import tags_of
from kbx_tui.knowledge.reading import read_frontmatter
from kbx_tui.safe_text import safe_line, safe_lines
from kbx_tui.tui.drawing.lines import shorten
from kbx_tui.tui.reading.markdown_lines import (
    InlineText,
    Kind,
    Mark,
    Place,
    Preview,
    line_kinds,
    render_inline,
)

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.api.documents import DocumentView
    from kbx_tui.search.results.response import Snippet


def present_document(
    document: DocumentView,
    snippet: Snippet | None,
    find_matches: Callable[[str], Sequence[tuple[int, int]]],
    read_passage: Callable[[str], Passage | None] = lambda target: None,
) -> Preview:
    """Return a document without control characters; `snippet` is its best passage.

    `find_matches` returns the spans of query words in a text.
    """
    text = document.text
    if document.left_out:
        text += f"\n*{format_size(document.left_out)} more appear when the page is read.*\n"
    inline = render_inline(safe_lines(text), labels_first=document.labels_first)
    preview = Preview(
        path=document.path,
        title=safe_line(document.title),
        date=safe_line(document.date),
        front_summary=front_summary(document.text, inline.kinds),
        **inline._asdict(),
    )
    preview = with_passages(preview, _passages(inline, read_passage))
    places = _places(preview.lines, find_matches("\n".join(preview.lines)))
    start, end = (snippet.line_start, snippet.line_end) if snippet is not None else (0, 0)
    return replace(
        preview,
        line_start=preview.shown_line(start),
        line_end=preview.shown_line(end),
        matches=tuple(place for place in places if preview.is_own(place.line)),
        redacted=preview.redacted | set(map(preview.shown_line, document.redacted_lines)),
    )


def _passages(
    text: InlineText, read_passage: Callable[[str], Passage | None]
) -> dict[int, list[Passage]]:
    passages: dict[int, list[Passage]] = {}
    embeds = [link for link in text.links if link.is_embed]
    for link in embeds[:MOST_EMBEDS]:
        if (passage := read_passage(link.target)) is not None:
            passages.setdefault(link.place.line, []).append(passage)
    return passages


def _places(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[Place, ...]:
    """Return the places in the lines for spans of the text that joins them with line breaks."""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    places: list[Place] = []
    for start, end in spans:
        index = bisect_right(starts, start) - 1
        before, length = starts[index], len(lines[index])
        places.append(Place(index + 1, start - before, min(end - before, length)))
    return tuple(places)


def read_passage(engine: KnowledgeBase, source: str, target: str) -> Passage | None:
    """Return what to show, in the document at `source`, of the note it embeds as `target`."""
    destination = engine.links.follow(target, source)
    if destination is None or not destination.path or destination.path == source:
        return None
    if destination.heading and not destination.line:
        return None  # no such section: the link is shown as it is
    try:
        note = engine.documents.view(destination.path)
    except NotFound:
        return None
    lines = safe_lines(note.text)
    if destination.line > len(lines):  # the file has changed since indexing
        return None
    return passage_of(lines, destination.line, note.redacted_lines, labels_first=note.labels_first)


MOST_LINES = 12
MOST_EMBEDS = 20
"""Maximum number of embeds shown in a document; further ones remain links."""
MOST_TEXT = 500
QUOTE = "> "


@dataclass(frozen=True, slots=True)
class Passage:
    lines: tuple[str, ...]
    """Lines without inline markup, each starting with `QUOTE`."""
    redacted: frozenset[int]
    emphasis: Mapping[int, tuple[Mark, ...]]


def passage_of(
    lines: Sequence[str], heading: int, redacted: frozenset[int], *, labels_first: bool = False
) -> Passage:
    """Return the beginning of a note, or of the section with its heading on this 1-based line."""
    kinds = line_kinds(lines)
    start = heading or sum(kind == "front" for kind in kinds)
    end = _end_of_section(lines, kinds, heading) if heading else len(lines)
    while start < end and (
        not lines[start].strip() or (not heading and lines[start].startswith("# "))
    ):
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    cut = min(end, start + MOST_LINES)
    within = [line[:MOST_TEXT] for line in lines[start:cut]]
    text = render_inline(within, labels_first=labels_first)
    shown = [QUOTE + line for line in text.lines]
    if cut < end:
        shown.append(f"{QUOTE}… {format_count(end - cut, 'more line')}")
    emphasis = {
        number - 1: tuple(
            Mark(mark.start + len(QUOTE), mark.end + len(QUOTE), mark.look) for mark in marks
        )
        for number, marks in text.emphasis.items()
    }
    hidden = frozenset(line - start - 1 for line in redacted if start < line <= cut)
    return Passage(tuple(shown), hidden, emphasis)


def with_passages(preview: Preview, passages: Mapping[int, Sequence[Passage]]) -> Preview:
    """Return a document with `passages` below the 1-based lines that embed them."""
    if not passages:
        return preview
    lines: list[str] = []
    kinds: list[Kind] = []
    file_lines: list[int] = []
    emphasis: dict[int, tuple[Mark, ...]] = {}
    redacted: set[int] = set()
    shown: list[int] = [0]
    for number, (line, kind) in enumerate(zip(preview.lines, preview.kinds, strict=True), 1):
        lines.append(line)
        kinds.append(kind)
        shown.append(len(lines))
        if number in preview.emphasis:
            emphasis[len(lines)] = preview.emphasis[number]
        for passage in passages.get(number, ()):
            first = len(lines) + 1
            emphasis |= {first + index: marks for index, marks in passage.emphasis.items()}
            redacted |= {first + index for index in passage.redacted}
            lines += passage.lines
            kinds += ["text"] * len(passage.lines)
        file_lines += [number] * (len(lines) - len(file_lines))
    links = tuple(
        replace(link, place=replace(link.place, line=shown[link.place.line]))
        for link in preview.links
    )
    return replace(
        preview,
        lines=tuple(lines),
        kinds=kinds,
        links=links,
        emphasis=emphasis,
        redacted=frozenset(redacted),
        file_lines=file_lines,
    )


def _end_of_section(lines: Sequence[str], kinds: Sequence[Kind], heading: int) -> int:
    level = _level(lines[heading - 1])
    for number in range(heading, len(lines)):
        if kinds[number] in ("title", "heading") and _level(lines[number]) <= level:
            return number
    return len(lines)


def _level(line: str) -> int:
    text = line.lstrip(" ")
    return len(text) - len(text.lstrip("#")) or 6


def front_summary(text: str, kinds: Sequence[Kind]) -> str:
    """Return, for example, `frontmatter: 6 lines, type meeting, 3 tags`; empty without any."""
    lines = sum(kind == "front" for kind in kinds)
    if not lines:
        return ""
    values = read_frontmatter(text.replace("\r\n", "\n")).values
    kind, tags = values.get("type"), tags_of(values)
    facts = [format_count(max(lines - 2, 0), "line")]
    if isinstance(kind, str) and kind.strip():
        facts.append(f"type {shorten(safe_line(kind), 20)}")
    facts += [format_count(len(tags), "tag")] if tags else []
    return f"frontmatter: {', '.join(facts)}"


_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\||>|```|~~~)")


def whole_passage(lines: Sequence[str], start: int, end: int) -> str:
    """Return lines `start` to `end` (1-based), extended to whole paragraphs and list items."""
    if not 1 <= start <= min(end, len(lines)):
        return ""
    first, last = start - 1, min(end, len(lines)) - 1
    while first and lines[first].strip() and _continues(lines[first - 1], lines[first]):
        first -= 1
    while last + 1 < len(lines) and _continues(lines[last], lines[last + 1]):
        last += 1
    return "\n".join(lines[first : last + 1]).strip("\n")


def _continues(line: str, following: str) -> bool:
    if not (line.strip() and following.strip()) or _BLOCK.match(following):
        return False
    return not line.lstrip().startswith(("#", "|", "```", "~~~"))
