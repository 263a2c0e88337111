"""The terms of a query and their weights in BM25."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from kbx_tui.index.lexical.bm25 import Term
from kbx_tui.index.lexical.terms import separate_cjk, term_of, terms_in, words_in
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.evidence import score_normalization as weights
from kbx_tui.search.query.english_words import MONTHS, REQUEST_WORDS, has_topic

MAX_TERMS = 64
"""Further words are ignored: every term takes time, and no question has as many."""

_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"(19|20)\d\d")


def query_terms(query: str) -> list[str]:
    """Return the distinct words of a query as typed, in order, at most 64."""
    words = _WORD.findall(separate_cjk(query))
    return list({word.casefold(): word for word in words}.values())[:MAX_TERMS]


def weighted_terms(query: str) -> list[str]:
    """Return the words to search documents for, repeated as often as they count.

    Words that only phrase the request ("latest updates on") are left out while others remain. A
    word counts as often as the query repeats it, up to three times, so that a pasted log is not its
    own best match; the identifiers of a lookup count three times.
    """
    terms = query_terms(query)
    topic = [term for term in terms if fold(term) not in REQUEST_WORDS]
    topic = topic if has_topic(map(fold, topic)) else terms
    counts = Counter(word.casefold() for word in _WORD.findall(separate_cjk(query)))
    looked_up = identifiers(query)
    weighted = []
    for term in topic:
        times = min(counts[term.casefold()], weights.REPEATS_COUNTED)
        weighted += [term] * (max(times, weights.IDENTIFIER_TIMES) if term in looked_up else times)
    return weighted


def identifiers(query: str) -> frozenset[str]:
    """Return the words with digits if they are a third of the query or more: `pull request 2718`.

    Dates and years are not identifiers.
    """
    words = query_terms(query)
    if any(fold(word) in MONTHS for word in words):
        return frozenset()
    terms = [word for word in words if has_topic([fold(word)])]
    numbers = {t for t in terms if any(map(str.isdigit, t)) and not _YEAR.fullmatch(t)}
    return frozenset(numbers if len(numbers) >= weights.IDENTIFIER_SHARE * len(terms) else ())


def lexical_weight(query: str, *, names_someone: bool = False) -> float:
    """Return the weight of the lexical score: higher for identifiers and names.

    `names_someone`: the query names a person or a team, or did before the name was removed.
    """
    if identifiers(query):
        return weights.IDENTIFIER_WEIGHT
    return weights.NAMES_LEXICAL_WEIGHT if names_someone else weights.LEXICAL_WEIGHT


def counted_terms(query: str) -> dict[Term, float]:
    """Return the terms to search documents for, with the weight of each.

    Two adjacent words of the query are a term of their own with a low weight.
    """
    counts: dict[Term, float] = dict(Counter(terms_in(" ".join(weighted_terms(query)))))
    words = [term_of(word) for word in words_in(separate_cjk(query))]
    pairs = [pair for pair in pairwise(words) if pair[0] in counts and pair[1] in counts]
    return counts | dict.fromkeys(pairs[:MAX_TERMS], weights.PAIR_WEIGHT)
