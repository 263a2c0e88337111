"""BM25 over the postings of one generation: those mapped from a file plus those of newer texts.

    score(text) = sum over query terms of  weight * idf * tf * (k1 + 1) / (tf + k1 * norm)
    idf = ln(1 + (N - n + .5) / (n + .5)),  norm = 1 - b + b * length / mean length

Source: Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework", with the idf of Lucene,
which is never negative; k1 = 1.2, b = .75, as in LanceDB.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Flags, Rows, Scores, ascending
from kbx_tui.index.lexical.postings import OF, UNKNOWN, Postings, stem_of_term, term_of, words_in
from kbx_tui.knowledge.folding import ENGLISH, LANGUAGES

K1, B = 1.2, 0.75

TERMS_KEPT = 1000
"""Terms whose place and idf are kept: one search asks for those of its terms several times."""

SHORTEST_MISSPELLED = 5
"""Letters from which a word with a wrong one is recognised."""

FREQUENT = 20

PlainTerm = str | tuple[str, str]
"""A term, or a pair of terms of which the second directly follows the first."""


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A word as its terms in several languages. A text, in one language, holds at most one of them.

    Its idf is that of a term held by all the texts that hold any of them.
    """

    terms: tuple[PlainTerm, ...]


Term = PlainTerm | AnyOf


@dataclass(frozen=True, slots=True)
class PostingsSegment:
    """Some of an index's texts: their postings, and the row each text has in the generation."""

    postings: Postings
    rows: Rows
    """Row of each doc id, -1 for a text that is not part of the generation."""
    is_whole: bool = field(init=False)
    """Whether the texts are those of the generation, in the same order."""
    _term_ids: dict[str, int] = field(default_factory=dict, repr=False, compare=False)
    """Of terms of the latest queries: a search looks most up several times, in pairs too."""

    def __post_init__(self) -> None:
        is_whole = bool(np.array_equal(self.rows, np.arange(len(self.rows))))
        object.__setattr__(self, "is_whole", is_whole)

    def lookup(self, term: Term) -> tuple[Rows, Scores]:
        if isinstance(term, AnyOf):
            return _concatenated([self.lookup(each) for each in term.terms])
        if isinstance(term, str):
            doc_ids, frequencies = self.postings.postings_of(self.term_id(term))
        else:
            doc_ids, frequencies = self.postings.postings_of_pair(*map(self.term_id, term))
        if self.is_whole:
            return doc_ids.astype(np.int64), frequencies.astype(np.float64)
        rows = self.rows[doc_ids]
        current = rows >= 0
        return rows[current], frequencies[current].astype(np.float64)

    def holds(self, term: str) -> bool:
        return self.term_id(term) >= 0 if self.is_whole else len(self.lookup(term)[0]) > 0

    def term_id(self, term: str) -> int:
        if (term_id := self._term_ids.get(term)) is None:
            if len(self._term_ids) >= TERMS_KEPT:
                self._term_ids.clear()
            term_id = self._term_ids[term] = self.postings.term_id(term)
        return term_id


SHORTEST_STEM = 4
"""Letters of a term from which a misspelt word may be another form of it."""


def errors_in(word: str) -> int:
    """Return how many letters of a word may be wrong, missing, added or exchanged with the next."""
    return 0 if len(word) < SHORTEST_MISSPELLED else min((len(word) + 1) // 4, 2)


class Bm25Index:
    """All texts of one generation, scored by BM25. Read-only; `size` is the number of rows."""

    def __init__(
        self, segments: Sequence[PostingsSegment], size: int, *, in_statistics: Flags | None = None
    ) -> None:
        """Compute N, n and the mean length over the rows `in_statistics`; by default over all."""
        self._segments, self.size = tuple(segments), size
        if in_statistics is None or not in_statistics.any():
            in_statistics = np.ones(size, np.bool_)
        self.in_statistics = in_statistics
        """Rows that count in the statistics, shape (size,)."""
        self._count = int(np.count_nonzero(in_statistics))
        lengths, self._languages = np.zeros(size), np.zeros(size, np.uint8)
        for segment in self._segments:
            current = segment.rows >= 0
            lengths[segment.rows[current]] = segment.postings.lengths[current]
            self._languages[segment.rows[current]] = segment.postings.languages[current]
        numbers, texts = np.unique(self._languages, return_counts=True)
        by_texts = numbers[np.argsort(-texts, kind="stable")].tolist()
        self.languages = tuple(LANGUAGES[number] for number in by_texts)
        """Languages that the texts are in, that of most texts first."""
        mean = lengths[in_statistics].mean() if lengths[in_statistics].any() else 1.0
        self._norms = K1 * (1.0 - B + B * lengths / mean)
        self._rarities: dict[Term, tuple[float, bool]] = {}

    def bm25(self, queries: Sequence[Mapping[Any, float]]) -> list[Scores]:
        """Return the score of every row for each query, shape (size,), 0 without a query term.

        A query maps each Term to its weight. A term that several queries share is looked up once.
        """
        scores = [np.zeros(self.size) for _ in queries]
        for term in dict.fromkeys(term for query in queries for term in query):
            rows, term_scores = self._score_term(term)
            for query, score in zip(queries, scores, strict=True):
                if weight := query.get(term):
                    np.add.at(
                        score, rows, weight * term_scores
                    )  # twice as fast as `score[rows] +=`
        return scores

    def language_of(self, row: int) -> str:
        return LANGUAGES[int(self._languages[row])]

    def offsets(self, rows: Sequence[int]) -> list[TextOffsets | None]:
        numbers, doc_ids = self._places[:, rows].tolist()
        texts = [TextsWithOffsets(segment.postings, segment.term_id) for segment in self._segments]
        return [
            None if number < 0 else texts[number].add(doc_id)
            for number, doc_id in zip(numbers, doc_ids, strict=True)
        ]

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """Segment and doc id of the text of each row, -1 without one, shape (2, size + 1).

        The last column is for row -1.
        """
        places = np.full((2, self.size + 1), -1, np.int32)
        for number, segment in enumerate(self._segments):
            current = np.flatnonzero(segment.rows >= 0)
            places[:, segment.rows[current]] = np.full(len(current), number), current
        return places

    def holds(self, term: str) -> bool:
        """Return whether any text in a language other than English holds a term."""
        return term in self._terms_of_others

    @cached_property
    def _terms_of_others(self) -> frozenset[str]:
        others = [language for language in self.languages if language != ENGLISH]
        return frozenset(
            term
            for segment in self._segments
            for language in others
            for term in segment.postings.terms_from(f"{language}{OF}")
        )

    def frequent(self, beginning: str) -> Counter[str]:
        """Return the most frequent terms that begin with `beginning`, and how many texts hold each.

        Texts that have been replaced still count.
        """
        counts = Counter[str]()
        for segment in self._segments:
            counts.update(dict(segment.postings.frequent_terms_from(beginning, FREQUENT)))
        return counts

    def rows_holding(self, term: Term) -> Rows:
        return self._lookup(term)[0]

    def texts_with(self, word: str, following: str = "", /) -> int:
        """Return how many texts hold a folded word, in the language in which most do.

        With `following`, return how many hold that word directly after it.
        """
        first, second = self._terms_of(word), self._terms_of(following)
        terms: dict[str, PlainTerm] = dict(first)
        if following:
            terms = {each: (first[each], second[each]) for each in first if each in second}
        return max((len(self.rows_holding(term)) for term in set(terms.values())), default=0)

    @cached_property
    def usual_language(self) -> str:
        counts = np.bincount(self._languages[self.in_statistics], minlength=1)
        return LANGUAGES[int(counts.argmax())]

    def _terms_of(self, word: str) -> dict[str, str]:
        terms = {language: term_of(word, language) for language in self.languages}
        return {
            language: term
            for language, term in terms.items()
            if term and (OF not in term or self.holds(term))
        }

    def occurrences(self, term: Term) -> tuple[int, int]:
        rows, frequencies = self._lookup(term)
        return len(rows), int(frequencies.sum())

    def rows_holding_all(self, terms: Sequence[Term]) -> Rows:
        """Return the rows of the texts that hold all terms, at least one; fastest rarest first."""
        rows = self.rows_holding(terms[0])
        for term in terms[1:]:
            if not len(rows):
                break
            holds = np.zeros(self.size, np.bool_)
            holds[self.rows_holding(term)] = True
            rows = rows[holds[rows]]
        return rows

    def rows_with_phrase(self, text: str) -> Rows:
        """Return the rows of the texts with these words one after the other, ascending.

        Words match in any form; stop words are ignored.
        """
        words, found = words_in(text), [np.empty(0, np.int64)]
        for language in self.languages:
            terms = [term_of(word, language) for word in words]
            pairs = [pair for pair in pairwise(terms) if all(pair)]
            if any(terms):
                found.append(self.rows_holding_all([*pairs, *filter(None, terms)]))
        return ascending(np.concatenate(found))

    def is_held(self, word: str) -> bool:
        """Return whether a text holds a folded word, in any form and language."""
        for language in self.languages:
            term = term_of(word, language)
            is_possible = term and (OF not in term or self.holds(term))
            for part in self._segments if is_possible else ():
                if part.holds(term):
                    return True
        return False

    def spelled_alike(self, word: str) -> list[str]:
        """Return the terms of the main language spelled most like a folded word, nearest first.

        They begin with the same letter and differ by at most `errors_in(word)`. The word may also
        begin with them: then its ending is misspelt, as that of `migratoin`.
        """
        term, most = term_of(word, self.usual_language), errors_in(word)
        stem = stem_of_term(term)
        beginning = term[: len(term) - len(stem) + 1]
        known = {each for part in self._segments for each in part.postings.terms_from(beginning)}
        from rapidfuzz.distance import OSA  # few queries are misspelt

        errors = {each: OSA.distance(stem, stem_of_term(each)) for each in known if term}
        beginnings = (each for each in errors if word.startswith(stem_of_term(each)))
        errors |= {each: most for each in beginnings if len(stem_of_term(each)) >= SHORTEST_STEM}
        near = sorted(each for each in errors if errors[each] <= most)
        return sorted(near, key=lambda each: (errors[each], -len(self.rows_holding(each))))

    def idf(self, term: Term) -> float:
        return self._rarity(term)[0]

    def idf_of_held(self, terms: Iterable[Term]) -> dict[Term, float]:
        rarities = {term: self._rarity(term) for term in terms}
        return {term: idf for term, (idf, is_held) in rarities.items() if is_held}

    def _rarity(self, term: Term, rows: Rows | None = None) -> tuple[float, bool]:
        """Return the idf of a term, and whether any text holds it; `rows` are those that do."""
        if rarity := self._rarities.get(term):
            return rarity
        rows = self._lookup(term)[0] if rows is None else rows
        counts_all = self._count == self.size
        holding = len(rows) if counts_all else np.count_nonzero(self.in_statistics[rows])
        idf = float(np.log1p((self._count - holding + 0.5) / (holding + 0.5)))
        if len(self._rarities) >= TERMS_KEPT:
            self._rarities.clear()
        rarity = self._rarities[term] = idf, len(rows) > 0
        return rarity

    def _score_term(self, term: Term) -> tuple[Rows, Scores]:
        rows, frequencies = self._lookup(term)
        idf, _ = self._rarity(term, rows)
        return rows, idf * (K1 + 1.0) * frequencies / (frequencies + self._norms[rows])

    def _lookup(self, term: Term) -> tuple[Rows, Scores]:
        if len(self._segments) == 1:
            return self._segments[0].lookup(term)
        return _concatenated([segment.lookup(term) for segment in self._segments])


def _concatenated(matches: Sequence[tuple[Rows, Scores]]) -> tuple[Rows, Scores]:
    rows = [rows for rows, _ in matches] or [np.empty(0, np.int64)]
    frequencies = [frequencies for _, frequencies in matches] or [np.empty(0)]
    return np.concatenate(rows), np.concatenate(frequencies)


class TextsWithOffsets(dict[str, list[list[int]]]):
    """Where the words of each term start in some texts of one Postings, in the order of `add`.

    All texts are added before a term is looked up.
    """

    def __init__(self, postings: Postings, term_id: Callable[[str], int]) -> None:
        self._postings, self._term_id = postings, term_id
        self._doc_ids: list[int] = []

    def add(self, doc_id: int) -> TextOffsets | None:
        size = int(self._postings.text_sizes[doc_id])
        if size == UNKNOWN:
            return None
        self._doc_ids.append(doc_id)
        return TextOffsets(size, self, len(self._doc_ids) - 1)

    def __missing__(self, term: str) -> list[list[int]]:
        doc_ids = np.array(self._doc_ids, np.int32)
        self[term] = offsets = self._postings.offsets_in(doc_ids, self._term_id(term))
        return offsets


class TextOffsets(NamedTuple):
    size: int
    texts: TextsWithOffsets
    number: int

    def of(self, term: str) -> Sequence[int]:
        """Return where each word of a term starts, ascending and at most `postings.BEYOND`."""
        return self.texts[term][self.number]
