"""Words of a query, and BM25 of every document for them."""

from __future__ import annotations

import re

import numpy as np

from kbx_tui.index.rows import searchable
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store, translated
from kbx_tui.search.evidence import Scores

MAX_TERMS = 64
"""A query is cut here: every term costs, and no question has as many."""

_WORD = re.compile(r"\w+")


def query_terms(query: str) -> list[str]:
    """Return the distinct words of a query as typed, in order, at most 64.

    Repeating a word would multiply its BM25, so each counts once.
    """
    words = _WORD.findall(searchable(query))
    return list({word.casefold(): word for word in words}.values())[:MAX_TERMS]


def raw_lexical_scores(store: Store, snapshot: Snapshot, query: str, where: str) -> Scores:
    """Return BM25 of every document, shape (documents,), 0 where no word matches or out of scope.

    The where clause is a pre-filter: scores under it equal those without it.
    """
    scores, terms = np.zeros(len(snapshot.paths)), query_terms(query)
    if not terms or not snapshot.paths:
        return scores
    from lancedb.query import MatchQuery

    table = store.table("documents")
    with translated("search the words", store.uri):
        found = table.search(MatchQuery(" ".join(terms), "text")).select(["key", "_score"])
        if where:
            found = found.where(where)
        answer = found.limit(len(snapshot.paths)).to_arrow()
    rows = snapshot.rows_of_keys(answer["key"].to_numpy())
    raw = answer["_score"].to_numpy()
    present = rows >= 0  # a document of a newer generation than the snapshot
    scores[rows[present]] = raw[present]
    return scores
