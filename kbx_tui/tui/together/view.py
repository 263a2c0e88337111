"""What the screen of several bases shows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import shorten

if TYPE_CHECKING:
    from kbx_tui.api.several_bases import SeveralResponse
    from kbx_tui.search.results.response import SearchResponse

NAME_WIDTH = 18
"""The widest name of a base that is shown whole, in cells."""


@dataclass(frozen=True, slots=True)
class OwnedRow:
    """A result, and the base that it is of."""

    rank: int
    base: str
    path: str
    title: str
    date: str
    score: float
    is_known_item: bool
    snippet: str
    matches: tuple[tuple[int, int], ...]
    """Spans of `snippet` that match a word of the query."""


@dataclass(frozen=True, slots=True)
class BaseRow:
    """One of the bases."""

    name: str
    holds: str
    """What it holds, or why it cannot be searched yet."""
    found: str = ""
    """What it has for the query; empty before it has answered."""


@dataclass(frozen=True, slots=True)
class TogetherView:
    """The results of those bases that have answered."""

    query: str
    rows: tuple[OwnedRow, ...]
    matched: int
    """Documents that match in all these bases; `rows` are the best of them."""
    notes: tuple[str, ...]
    is_complete: bool
    """Whether every base that can be searched has answered."""


def together_view(response: SeveralResponse, *, is_complete: bool) -> TogetherView:
    """Return what bases answered as rows."""
    rows = tuple(
        OwnedRow(
            rank=rank,
            base=own.base,
            path=own.result.path,
            title=safe_line(own.result.title),
            date=safe_line(own.result.date),
            score=own.result.score,
            is_known_item=own.is_known_item,
            snippet=own.result.snippet,
            matches=own.result.matches,
        )
        for rank, own in enumerate(response.results, 1)
    )
    matched = sum(answer.meta.total_matched for answer in response.responses.values())
    notes = tuple(
        safe_line(f"{name}: {note}")
        for name, answer in response.responses.items()
        if answer.results  # else its row says that nothing was found
        for note in answer.meta.notes
    )
    return TogetherView(response.query, rows, matched, notes, is_complete)


def found_words(answer: SearchResponse) -> str:
    """Return what a base has for a query: `12 found · Alice Chen, Migration`."""
    kept = (answer.meta.explain or {}).get("kept_entities", ())
    names = ", ".join(
        safe_line(entity.name) for entity in answer.meta.pass1_entities if entity.id in kept
    )
    found = f"{answer.meta.total_matched:,} found"
    return " · ".join(filter(None, (found, shorten(names, 60))))


def count_words(view: TogetherView) -> str:
    """Return the title of the results: `Results · 50 best of 188`."""
    if not view.rows:
        return "Results"
    if view.matched > len(view.rows):
        return f"Results · {len(view.rows)} best of {view.matched:,}"
    return format_count(len(view.rows), "result").capitalize()
