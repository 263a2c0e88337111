"""Full-text search over facts and open items, whose matches are signals in pass 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment
from kbx_tui.index.lexical.postings import make_postings
from kbx_tui.index.lexical.terms import terms_in
from kbx_tui.index.store import Store
from kbx_tui.search.evidence.evidence import highest
from kbx_tui.search.query.query_terms import query_terms

FACTS_LIMIT = 50


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact that holds a term of the query."""

    entity_id: str
    text: str
    bm25: float


class FactIndex:
    """The facts of one generation. Inactive ones only contribute to term statistics."""

    def __init__(self, store: Store, language_of: Callable[[str], str]) -> None:
        """`language_of` returns the language of a page, given its path."""
        columns = ["fact_id", "entity_id", "text", "status", "path"]
        table = store.rows("facts", columns).sort_by("fact_id")
        self._entity_ids: list[str] = table["entity_id"].to_pylist()
        self._texts: list[str] = table["text"].to_pylist()
        statuses = table["status"].to_pylist()
        self._active = np.array([status == "active" for status in statuses], np.bool_)
        size = len(self._texts)
        paths: list[str] = table["path"].to_pylist()
        texts = zip(paths, self._texts, strict=True)
        postings = make_postings(texts, lambda path, _: language_of(path))
        self._words = Bm25Index([PostingsSegment(postings, np.arange(size))], size)

    def find(self, query: str) -> list[FoundFact]:
        """Return the active facts that hold a term of the query, best first, at most 50."""
        text, languages = " ".join(query_terms(query)), self._words.languages
        terms = (term for language in languages for term in terms_in(text, language))
        (scores,) = self._words.bm25([dict.fromkeys(terms, 1.0)])
        rows = np.flatnonzero((scores > 0.0) & self._active)
        return [
            FoundFact(self._entity_ids[row], self._texts[row], float(scores[row]))
            for row in highest(scores, rows, FACTS_LIMIT).tolist()
        ]
