"""The topic of a query, from the statistics of the base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from kbx_tui.index.lexical.bm25 import Bm25Index, Term
from kbx_tui.search.evidence.score_normalization import (
    FULL_BM25,
    FULL_COSINE,
    fuse,
    scale_lexical,
)
from kbx_tui.search.evidence.topic import Topic
from kbx_tui.search.query.names.named_query import NamedQuery
from kbx_tui.search.query.query_terms import SearchedTerms, searched_terms


def query_topic(
    named: NamedQuery, terms: SearchedTerms, words: Bm25Index, lexical_weight: float
) -> Topic | None:
    """Return the topic of a query, None if it names people or teams and asks nothing else.

    `terms` are those of `named.document_query`, and `lexical_weight` is the weight of BM25 in the
    relevance. Terms that no document holds do not count.
    """
    if named.names_only:
        return None
    idf = words.idf_of_held(terms.words)
    bm25 = FULL_BM25 * sum(terms.weights[term] * value for term, value in idf.items())
    full = fuse(scale_lexical(np.array(bm25)), np.array(FULL_COSINE), lexical_weight)
    thing_share = 0.0
    if named.names_things:
        asked = (
            named.words_asked
            and searched_terms(named.words_asked, words.languages, words.holds).words
        )
        thing_share = 1.0 - _share(asked or (), idf)
    weight = min(1.0, sum(idf.values()) / words.telling_idf) if idf else 1.0
    return Topic(float(full), thing_share, weight)


def _share(terms: Iterable[Term], idf: Mapping[Term, float]) -> float:
    """Return the share of the sum of `idf` that some terms make up, 0 if it is 0."""
    total = sum(idf.values())
    return sum(idf.get(term, 0.0) for term in terms) / total if total else 0.0
