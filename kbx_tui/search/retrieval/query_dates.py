"""The dates of a query against one generation: what they mean, filter and prefer.

Documents are of the time that a query asks for by their dates, titles and paths. A title names a
date in words or numbers (`Q1 2026 goals`, `Notes of 17 March`). Without a year it counts only for a
document that is not dated in another year. What texts say of dates is left to the search for the
words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.bm25 import Bm25Index
from kbx_tui.index.lexical.terms import term_of
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.dates import MONTH_NAMES
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.search.evidence.evidence import DateMatch, DatePreference, PreferredDates
from kbx_tui.search.evidence.scores import DATE_WEIGHT, SOON_AFTER_DAYS, WRITTEN_DATE_WEIGHT, frozen
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.date_reading import DatedQuery, ReadDate, Span, read_dates
from kbx_tui.search.query.english_words import DOCUMENT_WORDS, has_topic
from kbx_tui.search.query.filters import Filters
from kbx_tui.search.query.named_query import NamedQuery
from kbx_tui.search.query.periods import DocumentDates, Period
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.retrieval.scope import ScopedDocuments


@dataclass(frozen=True, slots=True)
class QueryDates:
    text: str
    """What is searched for; empty if the query asks for a time and nothing else."""
    filters: Filters
    read: tuple[ReadDate, ...] = ()
    undated: tuple[str, ...] = ()
    is_filter: bool = False

    @classmethod
    def of(
        cls,
        request: SearchRequest,
        generation: IndexGeneration,
        find_names: Callable[[str], NamedQuery],
    ) -> Self:
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

        today, is_filter = request.today or date.today(), request.dates == "filter"
        dated = read_dates(query, today, document_dates, spans_of_names)
        periods = [read.period for read in (*dated.dates, *dated.undated)]
        if not periods:
            return cls(query, filters)
        if is_filter:
            ends = [period.last for period in periods]
            last = max(ends) if all(ends) else ""
            filters = filters.within(min(period.first for period in periods), last)
        undated = tuple(read.period.words for read in dated.undated)
        return cls(_searched(dated, find_names), filters, dated.dates, undated, is_filter)

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


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def date_matches(
    dates: Sequence[ReadDate], snapshot: Snapshot, documents: DocumentDates, words: Bm25Index
) -> NDArray[np.int8]:
    matches = np.zeros(len(snapshot.paths), np.int8)
    for read in dates:
        if (soon_after := read.period.after(*SOON_AFTER_DAYS)) is not None:
            matches[documents.flags_in(soon_after)] = DateMatch.SOON_AFTER
    for read in dates:
        if read.named_period is not None:
            named = list(_rows_naming(read.named_period, snapshot, words))
            matches[named] = DateMatch.NAMED
    for read in dates:
        matches[documents.flags_in(read.period)] = DateMatch.DATED
    return matches


def _forms(period: Period) -> tuple[str, Sequence[str], str]:
    """Return a word that all forms in words share, these forms, and that in numbers.

    The forms are regular expressions.
    """
    (year, first_month, first_day), (_, last_month, _) = (
        end.split("-") for end in (period.first, period.last)
    )
    month = MONTH_NAMES[int(first_month) - 1]
    if period.first == period.last:
        day = rf"0?{int(first_day)}(?:st|nd|rd|th)?"
        forms = (rf"{day} (?:of )?{month}", rf"{month} {day}")
        return month, forms, rf"{year}[-/._]?{first_month}[-/._]?{first_day}"
    if first_month == last_month:
        return month, (month,), rf"{year}[-/._]{first_month}"
    if (first_month, last_month) == ("01", "12"):
        return year, (year,), year
    quarter = f"q{int(last_month) // 3}"
    return quarter, (quarter,), rf"{year}[-/._]?{quarter}"


def _rows_naming(period: Period, snapshot: Snapshot, words: Bm25Index) -> Iterator[int]:
    year, (rarest_word, forms, numbers) = period.first[:4], _forms(period)
    in_path = re.compile(rf"(?<!\d){numbers}(?!\d)")
    in_title = re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)|{in_path.pattern}")
    for row in words.rows_holding(term_of(rarest_word)).tolist():
        title = fold(snapshot.titles[row])
        if in_title.search(title):
            dated = snapshot.dates[row][:4] or year
            if year in (_YEAR.findall(title) or [dated]):
                yield row
    for row, path in enumerate(snapshot.paths):
        if year in path and in_path.search(fold(path)):
            yield row
