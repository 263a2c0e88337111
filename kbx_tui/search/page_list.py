"""The pages below a path, and the lines in them that contain a text: what `ls` and `grep` do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.open_index import IndexGeneration

LINES_SHOWN, LINE_LENGTH, LEAD = 5, 300, 100
"""Lines of a page that are shown, characters of each, and of those the most before the text."""


@dataclass(frozen=True, slots=True)
class PageLine:
    line: int
    """In the file, from 1."""
    text: str


@dataclass(frozen=True, slots=True)
class ListedPage:
    id: str
    path: str
    title: str
    type: str
    date: str
    """Empty without one."""
    lines: tuple[PageLine, ...]
    more_lines: int
    """Lines that contain the text, beyond those shown."""


@dataclass(frozen=True, slots=True)
class PageList:
    pages: tuple[ListedPage, ...]
    paths: Sequence[str]
    """Of all pages there are, also beyond the limit."""


def list_pages(
    generation: IndexGeneration,
    paths: Sequence[str],
    text: str = "",
    offset: int = 0,
    limit: int | None = None,
) -> PageList:
    """List those of some pages that contain a text, in their order; all of them without one.

    Letter case and accents are ignored, as in a search. Properties above the text are not read.
    Raises ConfigError for a text of several lines.
    """
    if text.splitlines()[1:]:
        raise ConfigError("text is looked for within lines: leave out line breaks")
    if wanted := fold(text):
        paths = [path for path in paths if wanted in fold(generation.bodies.read([path])[0][0])]
    shown = paths[offset:] if limit is None else paths[offset : offset + limit]
    return PageList(tuple(_page(generation, path, wanted) for path in shown), paths)


def _page(generation: IndexGeneration, path: str, wanted: str) -> ListedPage:
    snapshot, lines = generation.snapshot, list[PageLine]()
    row = snapshot.row_of[path]
    if wanted:
        ((body, first),) = generation.bodies.read([path])
        folded = fold(body).split("\n")  # folding leaves line breaks as they are
        for number, (line, compared) in enumerate(zip(body.split("\n"), folded, strict=True)):
            if wanted in compared:
                lines.append(PageLine(first + number, _around(line, compared.index(wanted))))
    return ListedPage(
        snapshot.ids[row],
        path,
        snapshot.titles[row],
        snapshot.kinds[row],
        snapshot.dates[row],
        tuple(lines[:LINES_SHOWN]),
        len(lines[LINES_SHOWN:]),
    )


def _around(line: str, at: int) -> str:
    """Return a line, or what is around place `at` of a long one."""
    if len(line) <= LINE_LENGTH:
        return line
    room = LINE_LENGTH - 2  # for an ellipsis at each end
    start = max(min(at - LEAD, len(line) - room), 0)
    end = start + room
    return f"{'…' * (start > 0)}{line[start:end]}{'…' * (end < len(line))}"
