"""The rows of the recall box: saved and past queries, and what is new in one. Pure."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from kbx_tui.knowledge.folding import fold
from kbx_tui.safe_text import safe_line
from kbx_tui.search.query_history import PastQuery
from kbx_tui.search.saved_queries import News, SavedQuery
from kbx_tui.tui.explore.search_state import SearchState
from kbx_tui.tui.explore.stored_settings import settings_words, state_of

LEAST_SIMILARITY = 70.0
"""Lowest similarity of a query to what is typed, 0..100, where none holds its words."""
UNITS = (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("min", 60))


@dataclass(frozen=True, slots=True)
class RecallRow:
    """A query to run, or a document to go to."""

    kind: Literal["saved", "past", "document"]
    text: str
    """The query, or the title of the document."""
    name: str = ""
    """Of a saved query; for a document `new` or `changed`."""
    found: str = ""
    """How many results there were; for a document its date."""
    when: str = ""
    detail: str = ""
    """Settings in words, and the first results."""
    state: SearchState | None = None
    """What to search for; None for a document, and where the settings cannot be read."""
    path: str = ""
    """Of a document."""


def recall_rows(
    saved: Sequence[SavedQuery],
    past: Sequence[PastQuery],
    usual: SearchState,
    now: float | None = None,
) -> list[RecallRow]:
    """Return the rows of saved queries by name, then of past ones, the most recent first.

    Settings that equal `usual` are left out.
    """
    now = time.time() if now is None else now
    rows = []
    for one in saved:
        state = state_of(one.query, one.settings)
        rows.append(
            RecallRow(
                "saved",
                safe_line(one.query),
                name=safe_line(one.name),
                when=ago(now - one.at),
                detail=_settings(state, usual),
                state=state,
            )
        )
    for each in past:
        state = state_of(each.query, each.settings)
        first = f"found {', '.join(map(safe_line, each.first))}" if each.first else ""
        rows.append(
            RecallRow(
                "past",
                safe_line(each.query),
                found="" if each.found is None else f"{each.found:,}",
                when=ago(now - each.at) if each.at else "",
                detail=" · ".join(filter(None, (_settings(state, usual), first))),
                state=state,
            )
        )
    return rows


def document_rows(news: News) -> list[RecallRow]:
    """Return the rows of the documents that are new or changed."""
    return [
        RecallRow(
            "document",
            safe_line(each.title) or safe_line(each.path),
            name="new" if each.is_new else "changed",
            found=safe_line(each.date),
            detail=safe_line(each.path),
            path=each.path,
        )
        for each in news.results
    ]


def news_words(news: News) -> str:
    """Return how many documents are new and changed: `2 new, 1 changed`."""
    new = sum(each.is_new for each in news.results)
    changed = len(news.results) - new
    counts = (f"{new} new" if new else "", f"{changed} changed" if changed else "")
    return ", ".join(filter(None, counts)) or "nothing new"


def matching(rows: Sequence[RecallRow], text: str) -> list[RecallRow]:
    """Return the rows that hold all words of a text, else the similar ones, best first."""
    words = fold(text).split()
    texts = [fold(f"{row.name} {row.text}") for row in rows]
    held = [row for row, of in zip(rows, texts, strict=True) if all(w in of for w in words)]
    if held or not words:
        return held
    scores = [fuzz.partial_ratio(fold(text), of) for of in texts]
    similar = [number for number, score in enumerate(scores) if score >= LEAST_SIMILARITY]
    return [rows[number] for number in sorted(similar, key=lambda number: -scores[number])]


def ago(seconds: float) -> str:
    """Return how long ago something was, in its largest unit: `3h ago`, `now`."""
    for name, size in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{name} ago"
    return "now"


def _settings(state: SearchState | None, usual: SearchState) -> str:
    return "its settings cannot be read" if state is None else settings_words(state, usual)
