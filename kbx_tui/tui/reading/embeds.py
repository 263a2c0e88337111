"""Passages of other notes that a document embeds, and the summary of its frontmatter. Pure.

`![[note]]` and `![[note#heading]]` are shown as quotes below the line that embeds them, and do not
show what they embed in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.fields import tags_of
from kbx_tui.knowledge.reading import read_frontmatter
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.reading.markdown_lines import Kind, Mark, Preview, line_kinds, render_inline

MOST_LINES = 12
MOST_EMBEDS = 20
"""Embeds of a document that are shown; further ones stay links."""
MOST_TEXT = 500
QUOTE = "> "


@dataclass(frozen=True, slots=True)
class Passage:
    lines: tuple[str, ...]
    """Without inline markup, each begins with `QUOTE`."""
    redacted: frozenset[int]
    emphasis: Mapping[int, tuple[Mark, ...]]
    """The parts that were emphasized, by index of the line."""


def passage_of(lines: Sequence[str], heading: int, redacted: frozenset[int]) -> Passage:
    """Return the beginning of a note, or of the section whose heading is on line `heading`.

    `lines` are those of the file, without control characters; `redacted` holds 1-based lines.
    """
    kinds = line_kinds(lines)
    start = heading or sum(kind == "front" for kind in kinds)
    end = _end_of_section(lines, kinds, heading) if heading else len(lines)
    while start < end and (not lines[start].strip() or (not heading and _is_title(lines[start]))):
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    cut = min(end, start + MOST_LINES)
    text = render_inline([line[:MOST_TEXT] for line in lines[start:cut]])
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
    """Return a document with `passages`, by the 1-based line that embeds them, below their lines.

    Only lines, kinds, links and emphasis of `preview` are set.
    """
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


def _is_title(line: str) -> bool:
    return line.startswith("# ")


MOST_TYPE = 20


def front_summary(text: str, kinds: Sequence[Kind]) -> str:
    """Return `frontmatter: 6 lines, type meeting, 3 tags`; empty without frontmatter.

    `kinds` says what each line of `text` is.
    """
    lines = next((number for number, kind in enumerate(kinds) if kind != "front"), len(kinds))
    if not lines:
        return ""
    values = read_frontmatter(text.replace("\r\n", "\n")).values
    kind, tags = values.get("type"), tags_of(values)
    facts = [format_count(max(lines - 2, 0), "line")]
    if isinstance(kind, str) and kind.strip():
        facts.append(f"type {shorten(safe_line(kind), MOST_TYPE)}")
    facts += [format_count(len(tags), "tag")] if tags else []
    return f"frontmatter: {', '.join(facts)}"
