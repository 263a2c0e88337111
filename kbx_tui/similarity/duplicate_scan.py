"""Duplicates already in the base: facts that say the same, as clusters. Pure but for the clock.

Not all pairs are scored: a fact is compared with its nearest ones by vector. The cosines are taken
block by block, each block with itself and what follows it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kbx_tui.knowledge.records import Fact
from kbx_tui.similarity.conflicts.conflict_guard import Conflict
from kbx_tui.similarity.fact_vectors import Remembered
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.pair_score import PairSimilarity, likeness
from kbx_tui.similarity.scoring.thresholds import Thresholds

BLOCK = 2048
STRETCH = 64
"""Columns of cosines of which the highest is looked at first."""
NEIGHBOURS = 8
"""Nearest facts each fact is compared with; a cluster may be larger, its members chain."""
LEAST_COSINE = 0.55
"""Below it no facts are compared: to reach .80 they would have to share nearly all words."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DuplicateFact:
    """One fact of a cluster."""

    text: str
    fact_id: int
    source_path: str
    line: int
    date: str
    entity_name: str
    match_type: str
    """`fact` or `open_item`."""


@dataclass(frozen=True, slots=True)
class DuplicateCluster:
    """Facts that say the same."""

    score: float
    """Lowest score of the pairs that hold it together."""
    relation: str
    """`exact` when all texts are the same, else `duplicate`."""
    facts: tuple[DuplicateFact, ...]
    """Newest first, undated ones last."""


@dataclass(frozen=True, slots=True)
class ConflictingFacts:
    """Two facts that read alike and contradict each other."""

    score: float
    facts: tuple[DuplicateFact, DuplicateFact]
    """Newest first, undated ones last."""
    conflicts: tuple[Conflict, ...]
    """With the words of the first fact on the left."""


@dataclass(frozen=True, slots=True)
class DuplicateScan:
    """All clusters of a scope."""

    clusters: tuple[DuplicateCluster, ...]
    """The best score first."""
    facts: int
    """How many facts and open items were looked at."""
    conflicting: tuple[ConflictingFacts, ...]
    """Pairs as alike as duplicates that contradict each other, the best score first."""
    model: str
    is_calibrated: bool
    notes: tuple[str, ...]


def find_clusters(
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    within: Flags | None = None,
) -> tuple[list[DuplicateCluster], list[ConflictingFacts]]:
    """Return the clusters, and the pairs that were kept apart by a conflict.

    Facts are compared with facts, open items with open items, whoever they belong to.
    """
    groups, linked = _Groups(len(memory.facts)), dict[tuple[int, int], float]()
    least = [thresholds.of(fact.kind, fact.text) for fact in memory.facts]
    shown = cache(lambda row: _shown(memory.facts[row], names))  # a fact may be in many pairs
    conflicting = []
    for kind in ("fact", "open_item"):
        rows = np.array(
            [
                row
                for row, fact in enumerate(memory.facts)
                if fact.kind == kind and (within is None or within[row])
            ],
            np.int64,
        )
        for left, right, cosine in _candidates(memory, rows):
            threshold = max(least[left], least[right])
            one, other = memory.facts[left].text, memory.facts[right].text
            found = likeness(one, other, cosine, calibration)
            if found.score < threshold:
                continue
            pair = found.judged()
            if pair.relation == "conflict":
                conflicting.append(_conflicting(shown(left), shown(right), pair))
            elif thresholds.reached(pair, threshold):
                linked[left, right] = pair.score
                groups.join(left, right)
    conflicting.sort(key=lambda c: (-c.score, c.facts[0].source_path, c.facts[0].line))
    return _clusters(memory.facts, groups, linked, shown), conflicting


def _candidates(memory: Remembered, rows: NDArray[np.int64]) -> Iterator[tuple[int, int, float]]:
    """Yield pairs worth scoring, each once: same text, then the nearest of each."""
    inside = set(rows.tolist())
    seen = set()
    for same in memory.same.values():
        equal = [row for row in same if row in inside]
        for left, right in pairwise(equal):
            seen.add((left, right))
            yield left, right, 1.0
    vectors = memory.vectors[rows]
    for start in range(0, len(rows), BLOCK):
        block = vectors[start : start + BLOCK]
        with threadpool_limits(limits=os.cpu_count() or 1, user_api="blas"):  # half the time
            cosines = block @ vectors[start:].T
        size = len(block)
        cosines[:, :size][np.tri(size, dtype=np.bool_)] = -1.0  # each pair once, none with itself
        wanted = min(NEIGHBOURS, cosines.shape[1])
        far = _highest(cosines, wanted)
        found = np.take_along_axis(cosines, far, axis=1)
        near, place = np.nonzero(found >= LEAST_COSINE)
        lefts, rights = rows[start + near], rows[start + far[near, place]]
        for pair in zip(lefts.tolist(), rights.tolist(), found[near, place].tolist(), strict=True):
            if pair[:2] not in seen:
                yield pair


def _highest(values: NDArray[np.float32], wanted: int) -> NDArray[np.int64]:
    """Return the columns of the `wanted` highest values in each row, shape (rows, wanted).

    None of them lies outside the stretches with as many highest maxima: with these looked for
    first, a scan of 50,000 facts takes 46 s for 59.
    """
    rows, width = values.shape
    whole = width - width % STRETCH
    if whole < wanted * STRETCH:
        return np.argpartition(values, -wanted, axis=1)[:, -wanted:]
    maxima = values[:, :whole].reshape(rows, -1, STRETCH).max(axis=2)
    stretches = np.argpartition(maxima, -wanted, axis=1)[:, -wanted:, np.newaxis]
    inside = (stretches * STRETCH + np.arange(STRETCH)).reshape(rows, -1)
    rest = np.broadcast_to(np.arange(whole, width), (rows, width - whole))
    columns = np.concatenate((inside, rest), axis=1)
    found = np.take_along_axis(values, columns, axis=1)
    best = np.argpartition(found, -wanted, axis=1)[:, -wanted:]
    return np.take_along_axis(columns, best, axis=1)


class _Groups:
    """Which rows belong together (union-find)."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, row: int) -> int:
        while self._parent[row] != row:
            self._parent[row] = self._parent[self._parent[row]]
            row = self._parent[row]
        return row

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self._parent[high] = low


def _clusters(
    facts: Sequence[Fact],
    groups: _Groups,
    linked: dict[tuple[int, int], float],
    shown: Callable[[int], DuplicateFact],
) -> list[DuplicateCluster]:
    members: dict[int, set[int]] = defaultdict(set)
    lowest: dict[int, float] = {}
    for (left, right), score in linked.items():
        root = groups.root(left)
        members[root] |= {left, right}
        lowest[root] = min(score, lowest.get(root, score))
    clusters = []
    for root, rows in members.items():
        ordered = sorted(rows)
        ordered.sort(key=lambda row: facts[row].date, reverse=True)
        clusters.append(
            DuplicateCluster(
                score=lowest[root],
                relation="exact" if lowest[root] == 1.0 else "duplicate",
                facts=tuple(map(shown, ordered)),
            )
        )
    return sorted(clusters, key=lambda c: (-c.score, c.facts[0].source_path, c.facts[0].line))


def _conflicting(
    one: DuplicateFact, other: DuplicateFact, pair: PairSimilarity
) -> ConflictingFacts:
    conflicts = pair.conflicts
    if other.date > one.date:
        one, other = other, one
        conflicts = tuple(Conflict(c.kind, left=c.right, right=c.left) for c in conflicts)
    return ConflictingFacts(pair.score, (one, other), conflicts)


def _shown(fact: Fact, names: dict[str, str]) -> DuplicateFact:
    return DuplicateFact(
        text=fact.text,
        fact_id=fact.fact_id,
        source_path=fact.path,
        line=fact.line,
        date=fact.date,
        entity_name=names.get(fact.entity_id, ""),
        match_type=fact.kind,
    )
