"""Documents that turn up for too many queries: templates, indices, minutes of everything. Pure.

A document is over-retrieved if it is among the first ten results of many queries that do not ask
for it. That number is its k-occurrence (Radovanović, Nanopoulos and Ivanović, "Hubs in Space",
2010), which a few hubs have very high in spaces of many dimensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from kbx_tui.index.lexical.terms import terms_in

DEPTH = 10
"""Results of a query that count: as many as are read."""
LEAST_QUERIES = 10
"""Queries below which nothing is said: a share of a few queries is a matter of chance."""
LEAST_OCCURRENCES = 5
LEAST_SHARE = 0.2
"""Share of the queries from which it is too many."""
DEVIATIONS = 3.0
"""Standard deviations above chance: in a small base every document is often among ten."""


@dataclass(frozen=True, slots=True)
class OverRetrieved:
    """A document, and for how many queries it turned up."""

    path: str
    occurrences: int
    """Queries with it among their first results that have no word of its title."""
    queries: int
    """Queries that were asked."""


def find_over_retrieved(
    firsts: Mapping[str, Sequence[str]], titles: Mapping[str, str], documents: int
) -> tuple[OverRetrieved, ...]:
    """Return the over-retrieved documents, the worst first.

    `firsts` are the paths of the first results by query, `titles` those of documents by path, and
    `documents` is the number of documents in the base. A query with a word of the title of a
    document asks for it, so it does not count. To be over-retrieved, a document turns up for at
    least 5 queries, for a fifth of them, and more often by three standard deviations than a
    document drawn at random would.
    """
    if len(firsts) < LEAST_QUERIES or documents <= DEPTH:
        return ()
    chance = DEPTH / documents
    expected = len(firsts) * chance
    limit = expected + DEVIATIONS * sqrt(expected * (1.0 - chance))
    least = max(LEAST_OCCURRENCES, LEAST_SHARE * len(firsts), limit)
    counts = Counter(_unasked(firsts, titles))
    found = [
        OverRetrieved(path, count, len(firsts)) for path, count in counts.items() if count >= least
    ]
    return tuple(sorted(found, key=lambda each: (-each.occurrences, each.path)))


def _unasked(firsts: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> Iterable[str]:
    """Yield the path of each first result whose title has no word of its query."""
    words = {path: frozenset(terms_in(title)) for path, title in titles.items()}
    for query, paths in firsts.items():
        asked = set(terms_in(query))
        for path in paths[:DEPTH]:
            if asked.isdisjoint(words.get(path, ())):
                yield path
