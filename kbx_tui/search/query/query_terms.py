"""Words of a query, and how much each counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from kbx_tui.index.lexical.bm25 import Term
from kbx_tui.index.lexical.terms import term_of, terms_in, words_in
from kbx_tui.index.rows import searchable
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.evidence.score_normalization import (
    IDENTIFIER_SHARE,
    IDENTIFIER_TIMES,
    IDENTIFIER_WEIGHT,
    LEXICAL_WEIGHT,
    NAMED_PAIR_WEIGHT,
    NAMES_LEXICAL_WEIGHT,
    PAIR_WEIGHT,
    REPEATS_COUNTED,
)
from kbx_tui.search.query.english_words import MONTHS, REQUEST_WORDS, has_topic

MAX_TERMS = 64
"""A query is cut here: every term costs, and no question has as many."""

_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"(19|20)\d\d")


def query_terms(query: str) -> list[str]:
    """Return the distinct words of a query as typed, in order, at most 64.

    Repeating a word would multiply its BM25, so each counts once.
    """
    words = _WORD.findall(searchable(query))
    return list({word.casefold(): word for word in words}.values())[:MAX_TERMS]


def weighted_terms(query: str) -> list[str]:
    """Return the words to search documents with; one that counts more stands there repeatedly.

    Words that only say what to do ("latest updates on") are left out while others remain. A word
    the query repeats counts as often, at most three times (a pasted log must not be its own best
    match); the identifiers of a lookup count three times.
    """
    terms = query_terms(query)
    topic = [term for term in terms if fold(term) not in REQUEST_WORDS]
    topic = topic if has_topic(map(fold, topic)) else terms
    counts = Counter(word.casefold() for word in _WORD.findall(searchable(query)))
    wanted = identifiers(query)
    weighted = []
    for term in topic:
        times = min(counts[term.casefold()], REPEATS_COUNTED)
        weighted += [term] * (max(times, IDENTIFIER_TIMES) if term in wanted else times)
    return weighted


def identifiers(query: str) -> frozenset[str]:
    """Return the words with digits when the query is a lookup of them: a third of its words or
    more, `pull request 2718`. Dates and years are none.
    """
    words = query_terms(query)
    if any(fold(word) in MONTHS for word in words):
        return frozenset()
    terms = [word for word in words if has_topic([fold(word)])]
    found = {t for t in terms if any(map(str.isdigit, t)) and not _YEAR.fullmatch(t)}
    return frozenset(found if len(found) >= IDENTIFIER_SHARE * len(terms) else ())


def lexical_weight(query: str, *, names_someone: bool = False) -> float:
    """Return the share of words in the relevance of documents: meaning knows no numbers or names.

    `names_someone`: the query names a person or a team, or did before the name was taken out.
    """
    if identifiers(query):
        return IDENTIFIER_WEIGHT
    return NAMES_LEXICAL_WEIGHT if names_someone else LEXICAL_WEIGHT


def counted_terms(query: str, names: Sequence[str] = ()) -> dict[Term, float]:
    """Return the terms to search documents with, and how many times each counts.

    Two that stand side by side in the query count a little as a pair too; less so within one of
    `names`, whose documents are told by links.
    """
    counts: dict[Term, float] = dict(Counter(terms_in(" ".join(weighted_terms(query)))))
    named = {pair for name in names for pair in _pairs(name)}
    pairs = [pair for pair in _pairs(query) if pair[0] in counts and pair[1] in counts]
    return counts | {
        pair: NAMED_PAIR_WEIGHT if pair in named else PAIR_WEIGHT for pair in pairs[:MAX_TERMS]
    }


def _pairs(text: str) -> list[tuple[str, str]]:
    return list(pairwise(term_of(word) for word in words_in(searchable(text))))
