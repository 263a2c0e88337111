"""The dates of a query against one generation: what they mean, filter and prefer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Self

import numpy as np

from kbx_tui.knowledge.folding import folded_words
from kbx_tui.search.evidence.date_preference import DateMatch, DatePreference, PreferredDates
from kbx_tui.search.evidence.evidence import frozen
from kbx_tui.search.evidence.score_normalization import DATE_WEIGHT, WRITTEN_DATE_WEIGHT
from kbx_tui.search.index_generation import IndexGeneration
from kbx_tui.search.query.dates.date_reading import DatedQuery, ReadDate, Span, read_dates
from kbx_tui.search.query.dates.period import DocumentDates
from kbx_tui.search.query.english_words import DOCUMENT_WORDS, has_topic
from kbx_tui.search.query.filters import Filters
from kbx_tui.search.query.names.named_query import NamedQuery
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.retrieval.date_matching import date_matches
from kbx_tui.search.retrieval.scope import ScopedDocuments


@dataclass(frozen=True, slots=True)
class QueryDates:
    """The dates read in one query."""

    text: str
    """What is searched for; empty if the query asks for a time and nothing else."""
    filters: Filters
    """Those of the request, narrowed to the dates if they are a filter."""
    read: tuple[ReadDate, ...] = ()
    undated: tuple[str, ...] = ()
    """Periods in words in which no document is dated."""
    is_filter: bool = False

    @classmethod
    def of(
        cls,
        request: SearchRequest,
        generation: IndexGeneration,
        find_names: Callable[[str], NamedQuery],
    ) -> Self:
        """Read the dates of a query; `find_names` finds the names in a text."""
        query, filters = request.searched, request.filters
        if request.dates == "off":
            return cls(query, filters)

        def spans_of_names(text: str) -> list[Span]:
            return [(match.start, match.end) for match in find_names(text).matches if match.named]

        def document_dates() -> DocumentDates:
            if not request.hidden:
                return generation.document_dates
            base = generation.snapshot
            visible = zip(base.paths, base.dates, strict=True)
            return DocumentDates(["" if p in request.hidden else day for p, day in visible])

        today = request.today or date.today()
        dated = read_dates(query, today, document_dates, spans_of_names)
        periods = [read.period for read in (*dated.dates, *dated.undated)]
        if not periods:
            return cls(query, filters)
        if request.dates == "filter":
            ends = [period.last for period in periods]
            last = max(ends) if all(ends) else ""
            filters = filters.within(min(period.first for period in periods), last)
        undated = tuple(read.period.words for read in dated.undated)
        text = _searched(dated, find_names)
        return cls(text, filters, dated.dates, undated, request.dates == "filter")

    def preference(
        self, generation: IndexGeneration, scoped: ScopedDocuments, full_relevance: float | None
    ) -> DatePreference | None:
        """Return the preference for documents in scope; None if no date was read.

        `full_relevance` is that of a full answer, None if the query asks only for people.
        """
        if not self.read:
            return None
        matches = date_matches(
            self.read, generation.snapshot, generation.document_dates, generation.words
        )
        dates = tuple(
            PreferredDates(read.text, read.period.first, read.period.last, read.period.words)
            for read in self.read
        )
        all_relative = all(read.is_relative for read in self.read)
        weight = DATE_WEIGHT if all_relative else WRITTEN_DATE_WEIGHT
        matches = frozen(matches[scoped.rows])
        return DatePreference(dates, matches, full_relevance, weight, self.is_filter)

    def listed(self, preference: DatePreference | None) -> Mapping[int, str]:
        """Return the documents in scope that a query lists which asks only for a time.

        By row, with `date`, as `Evidence.known_items`.
        """
        if self.text or preference is None:
            return {}
        return dict.fromkeys(np.flatnonzero(preference.matches == DateMatch.DATED).tolist(), "date")


def _searched(dated: DatedQuery, find_names: Callable[[str], NamedQuery]) -> str:
    """Return the text to search for.

    Words of a date are searched for beside a topic: titles and texts write them. Beside names alone
    they would be the topic, which documents of that time need not write.
    """
    named = find_names(dated.rest)
    if any(match.named for match in named.matches):
        return dated.rest if named.names_only and dated.dates else dated.text
    if has_topic(word for word in folded_words(dated.rest) if word not in DOCUMENT_WORDS):
        return dated.text
    may_be_written = not dated.dates and not all(read.is_relative for read in dated.undated)
    return dated.text if may_be_written else ""
