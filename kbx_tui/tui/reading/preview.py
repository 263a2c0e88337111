"""A document as the preview shows it: lines, matches and links. Plain values."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Preview:
    """The current text of a document's file."""

    path: str
    title: str
    date: str
    kind: str
    lines: tuple[str, ...]
    """Line n of the file is item n-1, without control characters."""
    line_start: int = 0
    line_end: int = 0
    """1-based lines of the best passage, 0 when there is none."""
    matches: tuple[Place, ...] = ()
    """Words of the query, in the order of the text."""
    links: tuple[TextLink, ...] = ()
    """In the order of the text."""
    redacted: frozenset[int] = frozenset()
    """1-based lines that are shown greyed: programs do not get to see them."""
