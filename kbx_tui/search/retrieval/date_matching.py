"""Which documents are of the time that a query asks for: by their dates, titles and paths.

A title names a date in words or numbers (`Q1 2026 goals`, `Notes of 17 March`). Without a year it
counts only for a document that is not dated in another year. What texts say of dates is left to the
search for the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.bm25 import Bm25Index
from kbx_tui.index.lexical.terms import term_of
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.calendar_names import MONTH_NAMES
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.evidence.date_preference import DateMatch
from kbx_tui.search.evidence.score_normalization import SOON_AFTER_DAYS
from kbx_tui.search.query.dates.date_reading import ReadDate
from kbx_tui.search.query.dates.period import DocumentDates, Period

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def date_matches(
    dates: Sequence[ReadDate], snapshot: Snapshot, documents: DocumentDates, words: Bm25Index
) -> NDArray[np.int8]:
    """Return the `DateMatch` of every document with any of some dates, shape (documents,)."""
    matches = np.zeros(len(snapshot.paths), np.int8)
    for read in dates:
        if (soon_after := read.period.after(*SOON_AFTER_DAYS)) is not None:
            matches[documents.flags_in(soon_after)] = DateMatch.SOON_AFTER
    for read in dates:
        if read.named_period is not None:
            written = _WrittenDate(read.named_period)
            matches[list(_rows_naming(written, snapshot, words))] = DateMatch.NAMED
    for read in dates:
        matches[documents.flags_in(read.period)] = DateMatch.DATED
    return matches


class _WrittenDate:
    """The forms in which titles and paths write a day, month, quarter or year."""

    def __init__(self, period: Period) -> None:
        self.year = period.first[:4]
        self.rarest_word, forms, numbers = _forms(period)
        self.in_path = re.compile(rf"(?<!\d){numbers}(?!\d)")
        self._in_title = re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)|{self.in_path.pattern}")

    def is_in_title(self, title: str, date: str) -> bool:
        """Return whether a title names the date, given the date of its document, perhaps empty."""
        folded = fold(title)
        if not self._in_title.search(folded):
            return False
        years = set(_YEAR.findall(folded)) or {date[:4] or self.year}
        return self.year in years


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


def _rows_naming(written: _WrittenDate, snapshot: Snapshot, words: Bm25Index) -> Iterator[int]:
    """Yield the rows of the documents whose title or path names a date."""
    for row in words.rows_holding(term_of(written.rarest_word)).tolist():
        if written.is_in_title(snapshot.titles[row], snapshot.dates[row]):
            yield row
    for row, path in enumerate(snapshot.paths):
        if written.year in path and written.in_path.search(fold(path)):
            yield row
