"""Words of a query, and BM25 of every document for them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kbx_tui.index.reader import TextSearch
from kbx_tui.index.rows import searchable
from kbx_tui.index.snapshot import Snapshot
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


def lexical_search(snapshot: Snapshot, query: str, where: str) -> TextSearch:
    """Return the search for BM25 of every document that holds a word of the query."""
    return TextSearch(
        table="documents",
        words=query_terms(query),
        columns=("key", "_score"),
        limit=max(1, len(snapshot.paths)),
        where=where,
    )


def raw_lexical_scores(snapshot: Snapshot, answer: Any) -> Scores:
    """Return BM25 of every document, shape (documents,), 0 where no word matches."""
    scores = np.zeros(len(snapshot.paths))
    rows = snapshot.rows_of_keys(answer["key"].to_numpy())
    present = rows >= 0  # a document of a newer generation than the snapshot
    scores[rows[present]] = answer["_score"].to_numpy()[present]
    return scores
