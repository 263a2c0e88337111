"""Facts and open items by their words: what pass 1 takes for a hint at whom a query is about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kbx_tui.index.lexical.bm25 import Part, WordIndex
from kbx_tui.index.lexical.postings import make_postings
from kbx_tui.index.lexical.terms import terms_in
from kbx_tui.index.store import Store
from kbx_tui.search.query.query_terms import query_terms

FACTS_ASKED = 50


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact that holds a word of the query."""

    entity_id: str
    text: str
    bm25: float


class FactIndex:
    """The facts of one generation. Those that are not active count in the statistics only."""

    def __init__(self, store: Store) -> None:
        table = store.rows("facts", ["fact_id", "entity_id", "text", "status"]).sort_by("fact_id")
        self._owners: list[str] = table["entity_id"].to_pylist()
        self._texts: list[str] = table["text"].to_pylist()
        self._active = np.array([one == "active" for one in table["status"].to_pylist()], np.bool_)
        made = make_postings(("", text) for text in self._texts)
        self._words = WordIndex([Part(made, np.arange(len(self._texts)))], len(self._texts))

    def find(self, query: str) -> list[FoundFact]:
        """Return the active facts that hold a word of the query, at most 50, best first."""
        terms = terms_in(" ".join(query_terms(query)))
        (scores,) = self._words.bm25([dict.fromkeys(terms, 1.0)])
        rows = np.flatnonzero((scores > 0.0) & self._active)
        best = rows[np.argsort(-scores[rows], kind="stable")][:FACTS_ASKED]
        return [
            FoundFact(self._owners[row], self._texts[row], float(scores[row]))
            for row in best.tolist()
        ]
