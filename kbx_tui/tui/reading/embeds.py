"""Passages of other notes that a document embeds, and the summary of its frontmatter. Pure.

`![[note]]` and `![[note#heading]]` are shown as quotes below the line that embeds them, and do not
show what they embed in turn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.fields import tags_of
from kbx_tui.knowledge.reading import read_frontmatter
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.reading.markdown_lines import InlineText, Kind, Mark, line_kinds, render_inline

MOST_LINES = 12
"""Lines of a note that are shown where it is embedded."""
MOST_EMBEDS = 20
"""Embeds of a document that are shown; further ones stay links."""
MOST_TEXT = 500
"""Characters of a line of an embedded note."""
QUOTE = "> "


@dataclass(frozen=True, slots=True)
class Passage:
    """The lines of a note that are shown where it is embedded."""

    lines: tuple[str, ...]
    """Without inline markup, each begins with `QUOTE`."""
    redacted: frozenset[int]
    """Indices of lines that are shown greyed."""
    emphasis: Mapping[int, tuple[Mark, ...]]
    """By index of the line."""


@dataclass(frozen=True, slots=True)
class WithPassages:
    """A text with the passages it embeds."""

    text: InlineText
    file_lines: Sequence[int]
    """The line of the file that each line belongs to; empty if each is a line of the file."""
    redacted: frozenset[int]
    """1-based lines of the passages that are shown greyed."""

    def shown_line(self, line: int) -> int:
        """Return the 1-based line that shows a line of the file; 0 for 0."""
        return bisect_left(self.file_lines, line) + 1 if line and self.file_lines else line

    def is_own(self, line: int) -> bool:
        """Return whether a 1-based line shown is one of the file, not of a passage."""
        file_lines = self.file_lines
        return line < 2 or not file_lines or file_lines[line - 1] != file_lines[line - 2]


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


def with_passages(text: InlineText, passages: Mapping[int, Sequence[Passage]]) -> WithPassages:
    """Return `text` with `passages`, by the 1-based line that embeds them, below their lines."""
    if not passages:
        return WithPassages(text, (), frozenset())
    lines: list[str] = []
    kinds: list[Kind] = []
    file_lines: list[int] = []
    emphasis: dict[int, tuple[Mark, ...]] = {}
    redacted: set[int] = set()
    shown: list[int] = [0]
    for number, (line, kind) in enumerate(zip(text.lines, text.kinds, strict=True), 1):
        lines.append(line)
        kinds.append(kind)
        shown.append(len(lines))
        if number in text.emphasis:
            emphasis[len(lines)] = text.emphasis[number]
        for passage in passages.get(number, ()):
            first = len(lines) + 1
            emphasis |= {first + index: marks for index, marks in passage.emphasis.items()}
            redacted |= {first + index for index in passage.redacted}
            lines += passage.lines
            kinds += ["text"] * len(passage.lines)
        file_lines += [number] * (len(lines) - len(file_lines))
    links = tuple(
        replace(link, place=replace(link.place, line=shown[link.place.line])) for link in text.links
    )
    inline = InlineText(tuple(lines), kinds, links, emphasis)
    return WithPassages(inline, file_lines, frozenset(redacted))


def _end_of_section(lines: Sequence[str], kinds: Sequence[Kind], heading: int) -> int:
    """Return the number of lines before the next heading that is not below this one."""
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
"""Cells of the type."""


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
