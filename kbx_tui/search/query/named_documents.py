"""Documents that a query names: in full, by path, id, title or date, or by all words of a title."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kbx_tui.index.arrays import Rows, Scores
from kbx_tui.index.lexical.terms import stem_of_term, terms_in
from kbx_tui.index.snapshot import EntityPages
from kbx_tui.index.stored_documents import EXTRA, KINDS, DocumentSegment, item_key, places_by_row
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.languages import ENGLISH, beginning_of

ID = KINDS.index("id")


class KnownItems:
    """The documents of one generation by path, id, title and date."""

    def __init__(self, segments: Sequence[DocumentSegment], pages: EntityPages) -> None:
        self._segments, self._pages = segments, pages

    def find(self, text: str) -> list[tuple[int, str]]:
        """Return the rows that `text` names in full, each with `path`, `id`, `title` or `date`."""
        key = item_key(text)
        found = self._with_key(key) if key else []
        words = name_key(text)
        return found or (self._with_key(words) if " " in words else [])

    def _with_key(self, key: str) -> list[tuple[int, str]]:
        """Return the rows with a key: by path first, then id, title, date, and parts of titles."""
        found = [(ID, row, ID) for row in self._pages.with_id_key(key)]
        for segment in self._segments:
            for number, document in segment.documents.items(key):
                row = int(segment.rows[document])
                if row >= 0 and not (number == ID and row in self._pages):
                    found.append((min(number, EXTRA), row, number))
        return [(row, KINDS[number]) for _, row, number in sorted(found)]


MOST_TITLES = 200
"""Titles with the rarest word of a query above which none of them is meant by it."""
FEW_TITLES = 10
"""Titles that are read rather than searching for a word that fewer of them hold."""

FEW_TEXTS = 500
"""Documents whose titles are read before any title is searched: reading more takes longer."""


class TitleWords:
    """The titles of one generation, searched by the beginnings of their words."""

    def __init__(
        self,
        segments: Sequence[DocumentSegment],
        language_of: Callable[[int], str] = lambda _: ENGLISH,
    ) -> None:
        """`language_of` returns the language of the document in a row."""
        self._segments, self._language_of = segments, language_of
        # A copy: searching bytes is several times as fast as searching a mapped file.
        self._texts = [segment.documents.folded_titles.data.tobytes() for segment in segments]
        self._starts = [segment.documents.folded_titles.starts.data for segment in segments]
        self._places = places_by_row(segments)

    def holding(
        self, terms: Sequence[str], language: str = ENGLISH, *, among: Rows | None = None
    ) -> tuple[Rows, Scores]:
        """Return the rows of the titles that hold all `terms`, ascending, and the share of each.

        Titles of documents in other languages hold none. Fastest with the rarest term first, and
        with the rows of the texts that hold all terms as `among`. The share of its different terms
        that the query names is above 0 and at most 1.
        """
        wanted = frozenset(terms)
        rows, shares = [], []
        is_possible = among is None or self._may_hold(terms, language, among)
        for row in self._candidates(terms, language) if is_possible else ():
            if self._language_of(row) != language:
                continue
            (title,) = self._titles(np.array([row]))
            held = frozenset(terms_in(title.decode(), language))
            if wanted <= held:
                rows.append(row)
                shares.append(len(wanted) / len(held))
        return np.array(rows, np.int64), np.array(shares, np.float64)

    def _may_hold(self, terms: Sequence[str], language: str, rows: Rows) -> bool:
        """Return whether a title of these rows may hold all terms."""
        if len(rows) > FEW_TEXTS:
            return True
        beginnings = [beginning_of(stem_of_term(term), language).encode() for term in terms]
        titles = self._titles(rows)
        return any(all(beginning in title for beginning in beginnings) for title in titles)

    def _candidates(self, terms: Sequence[str], language: str) -> list[int]:
        """Return the rows of titles that may hold all terms; none if there are too many."""
        fewest: list[int] | None = None
        for term in terms:
            rows = self._rows_with(beginning_of(stem_of_term(term), language))
            if rows is not None and (fewest is None or len(rows) < len(fewest)):
                fewest = rows
            if fewest is not None and len(fewest) <= FEW_TITLES:
                break
        return fewest or []

    def _rows_with(self, beginning: str) -> list[int] | None:
        """Return the rows of titles that contain a text; None if there are too many."""
        rows: list[int] = []
        wanted = beginning.encode()
        for segment, text in zip(self._segments, self._texts, strict=True):
            starts = segment.documents.folded_titles.starts
            position = text.find(wanted)
            while position >= 0:
                document = int(starts.searchsorted(position, "right")) - 1
                if (row := int(segment.rows[document])) >= 0:
                    rows.append(row)
                if len(rows) > MOST_TITLES:
                    return None
                position = text.find(wanted, int(starts[document + 1]))
        return sorted(rows)

    def _titles(self, rows: Rows) -> Iterator[bytes]:
        """Yield titles as they are searched, in UTF-8."""
        places = rows if self._places is None else self._places[rows]
        for place in places.tolist():
            for text, starts in zip(self._texts, self._starts, strict=True):
                if place < len(starts) - 1:
                    yield text[starts[place] : starts[place + 1] - 1]
                    break
                place -= len(starts) - 1
