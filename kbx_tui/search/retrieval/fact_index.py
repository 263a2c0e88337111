"""Full-text search over facts and open items, whose matches are signals in pass 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kbx_tui.index.entities.stored_facts import StoredFacts
from kbx_tui.index.lexical.bm25 import K1, B
from kbx_tui.index.lexical.terms import term_of, words_in
from kbx_tui.search.evidence.evidence import Scores, highest
from kbx_tui.search.query.query_terms import query_terms

FACTS_LIMIT = 50


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact that holds a term of the query."""

    entity: int
    """Index into the entities."""
    text: str
    bm25: float


class FactIndex:
    """The facts of one generation. Inactive ones only contribute to term statistics."""

    def __init__(self, facts: StoredFacts) -> None:
        self._facts, self._postings = facts, facts.postings()
        self._texts, self._languages = facts.text_column(), facts.languages()
        total = int(facts.lengths.sum(dtype=np.int64))
        self._mean_length = total / len(facts) if total else 1.0

    def find(self, query: str) -> list[FoundFact]:
        """Return the best of the active facts of each entity that hold a term of the query.

        Best first, from the best 50 facts. Scored by the formula of `index/lexical/bm25`, only
        those that hold a term.
        """
        words = words_in(" ".join(query_terms(query)))
        terms = dict.fromkeys(
            term
            for language in self._languages
            for word in words
            if (term := term_of(word, language))
        )
        ids, parts = [np.empty(0, np.int32)], [np.empty(0)]
        for term in terms:
            doc_ids, frequencies = self._postings.postings_of(self._postings.term_id(term))
            idf = np.log1p((len(self._facts) - len(doc_ids) + 0.5) / (len(doc_ids) + 0.5))
            lengths = self._facts.lengths[doc_ids]
            norms = K1 * (1.0 - B + B * lengths / self._mean_length)
            counts = frequencies.astype(np.float64)
            ids.append(doc_ids)
            parts.append(float(idf) * (K1 + 1.0) * counts / (counts + norms))
        rows, places = np.unique(np.concatenate(ids), return_inverse=True)
        scores: Scores = np.bincount(places, np.concatenate(parts), len(rows)).astype(np.float64)
        found = np.flatnonzero((scores > 0.0) & (self._facts.active[rows] > 0))
        best = highest(scores, found, FACTS_LIMIT)
        numbers = self._facts.entities[rows[best]].tolist()
        found_facts: dict[int, FoundFact] = {}
        for number, row, score in zip(
            numbers, rows[best].tolist(), scores[best].tolist(), strict=True
        ):
            if number >= 0 and number not in found_facts:  # reading a text takes a while
                found_facts[number] = FoundFact(number, self._texts[row], score)
        return list(found_facts.values())
