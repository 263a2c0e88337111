"""What past queries show: the effect of each threshold, and over-retrieved documents. Pure.

A document is over-retrieved if it is among the first ten results of many queries that do not ask
for it. The number of these queries is its k-occurrence (Radovanović, Nanopoulos and Ivanović, "Hubs
in Space", 2010), which is very high for a few hubs in spaces of many dimensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np

from kbx_tui.index.lexical.postings import terms_in
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning

THRESHOLDS = tuple(step / 20 for step in range(21))
BINS = 20

Outcome = Literal["two_pass", "flat", "nothing"]


@dataclass(frozen=True, slots=True)
class AskedQuery:
    query: str
    top_score: float | None
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class ThresholdObservatory:
    thresholds: tuple[float, ...]
    queries: tuple[AskedQuery, ...]
    histogram: tuple[int, ...]
    """Number of queries by the score of the best entity, in 20 equal bins from 0 to 1; the last
    includes 1. Queries without an entity are in no bin."""

    def share(self, outcome: Outcome) -> tuple[float, ...]:
        size = max(len(self.queries), 1)
        return tuple(
            sum(query.outcomes[place] == outcome for query in self.queries) / size
            for place in range(len(self.thresholds))
        )

    def flips(self, before: float, after: float) -> tuple[AskedQuery, ...]:
        thresholds = np.array(self.thresholds)
        one, other = (int(np.argmin(np.abs(thresholds - each))) for each in (before, after))
        return tuple(
            query for query in self.queries if query.outcomes[one] != query.outcomes[other]
        )


def observe_thresholds(evidence: Iterable[Evidence], tuning: Tuning) -> ThresholdObservatory:
    asked = tuple(_asked(found, tuning) for found in evidence)
    scores = [query.top_score for query in asked if query.top_score is not None]
    histogram, _ = np.histogram(scores, bins=BINS, range=(0.0, 1.0))
    return ThresholdObservatory(THRESHOLDS, asked, tuple(histogram.tolist()))


def _asked(found: Evidence, tuning: Tuning) -> AskedQuery:
    candidates = [
        entity.score for entity in found.entities if entity.found and entity.id not in tuning.muted
    ]
    outcomes: dict[tuple[int, ...], Outcome] = {}
    for_each: list[Outcome] = []
    for threshold in THRESHOLDS:
        ranking = rank(found, replace(tuning, entity_threshold=threshold))
        if ranking.kept not in outcomes:
            answered = bool(ranking.included.any())
            outcomes[ranking.kept] = ranking.search_mode if answered else "nothing"
        for_each.append(outcomes[ranking.kept])
    return AskedQuery(found.query, max(candidates, default=None), tuple(for_each))


DEPTH = 10
LEAST_QUERIES = 10
"""Least number of queries for a result: a share of fewer is a matter of chance."""
LEAST_OCCURRENCES = 5
LEAST_SHARE = 0.2
DEVIATIONS = 3.0
"""Standard deviations above chance: in a small base, any document is often in the top ten."""


@dataclass(frozen=True, slots=True)
class OverRetrieved:
    path: str
    occurrences: int
    queries: int


def find_over_retrieved(
    firsts: Mapping[str, Sequence[str]], titles: Mapping[str, str], documents: int
) -> tuple[OverRetrieved, ...]:
    """Return the over-retrieved documents, the worst first.

    `firsts` maps queries to the paths of their first results, `titles` maps paths to titles, and
    `documents` is the number of documents in the base. A query with a word of a document's title
    asks for it, so it does not count. An over-retrieved document turns up for at least 5 queries,
    for at least a fifth of them, and at least three standard deviations more often than a document
    drawn at random.
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
    words = {path: frozenset(terms_in(title)) for path, title in titles.items()}
    for query, paths in firsts.items():
        asked = set(terms_in(query))
        for path in paths[:DEPTH]:
            if asked.isdisjoint(words.get(path, ())):
                yield path
