"""A document as the preview shows it: lines, matches and links. Plain values."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kbx_tui.tui.reading.markdown_lines import Kind, Mark


@dataclass(frozen=True, slots=True)
class Place:
    """A part of one line of a document, as displayed."""

    line: int
    """1-based."""
    start: int
    """In characters of the line, 0-based."""
    end: int


@dataclass(frozen=True, slots=True)
class TextLink:
    """A wikilink or a markdown link in a document."""

    place: Place
    """Of its label, which is shown without brackets."""
    target: str
    """Where it leads, as written in the file."""
    is_embed: bool = False
    """Whether the document shows a passage of the target below this line."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The current text of a document's file, with the passages that it embeds.

    Places, the best passage and `redacted` count the lines shown; `file_line` leads to the file.
    """

    path: str
    title: str
    date: str
    kind: str
    lines: tuple[str, ...]
    """Without control characters and inline markup."""
    line_start: int = 0
    line_end: int = 0
    """1-based lines of the best passage, 0 when there is none."""
    matches: tuple[Place, ...] = ()
    """Words of the query, in the order of the text."""
    links: tuple[TextLink, ...] = ()
    """In the order of the text."""
    redacted: frozenset[int] = frozenset()
    """1-based lines that are shown greyed: programs do not get to see them."""
    kinds: Sequence[Kind] = ()
    """What each line is; empty if it is to be seen from the lines."""
    emphasis: Mapping[int, tuple[Mark, ...]] = field(default_factory=dict)
    """By 1-based line: the parts that are emphasized, or code."""
    file_lines: Sequence[int] = ()
    """The line of the file that each line belongs to; empty if each is a line of the file."""
    front_summary: str = ""
    """What the frontmatter holds, in words; empty without one."""

    def file_line(self, line: int) -> int:
        """Return the 1-based line of the file that shows as `line`; 0 for 0."""
        return self.file_lines[line - 1] if line and self.file_lines else line

    def shown_line(self, line: int) -> int:
        """Return the 1-based line that shows a line of the file; 0 for 0."""
        return bisect_left(self.file_lines, line) + 1 if line and self.file_lines else line
