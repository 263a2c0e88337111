"""Finds duplicates in the base: clusters of facts that say the same thing. No I/O.

Not all pairs are scored, only each fact with its nearest neighbours by vector. Cosines are computed
block by block, each block with itself and the blocks after it.
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

from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.records import Fact
from kbx_tui.search.evidence.scores import Flags, Rows
from kbx_tui.similarity.conflict_guard import Conflict
from kbx_tui.similarity.fact_vectors import FactVectors
from kbx_tui.similarity.judging import SAME_TOPIC
from kbx_tui.similarity.pair_score import DuplicateFact, PairSimilarity, Scale, with_subject

BLOCK = 2048
STRETCH = 64
NEIGHBOURS = 8
"""Number of nearest facts each fact is compared with; clusters may be larger, as pairs chain."""
MAX_JUDGED = 1000
"""Pairs that the pair model is asked about, the most similar: 2 or 3 s on one core."""
LEAST_COSINE = 0.55
"""Lowest cosine of a scored pair: below it, a match would need nearly all words in common."""


@dataclass(frozen=True, slots=True)
class DuplicateCluster:
    score: float
    """Lowest score of the pairs that link the cluster's members."""
    relation: str
    """`exact` if all texts are identical, else `duplicate`."""
    facts: tuple[DuplicateFact, ...]
    """The members, newest first, undated ones last."""


@dataclass(frozen=True, slots=True)
class ConflictingFacts:
    score: float
    facts: tuple[DuplicateFact, DuplicateFact]
    """The pair, newest first, an undated fact last."""
    conflicts: tuple[Conflict, ...]
    """`left` holds the words of the first fact."""


@dataclass(frozen=True, slots=True)
class DuplicateScan:
    clusters: tuple[DuplicateCluster, ...]
    """Clusters of duplicates, best score first."""
    facts: int
    conflicting: tuple[ConflictingFacts, ...]
    """Pairs of facts in conflict, that with the newest fact first."""
    model: str
    is_calibrated: bool
    notes: tuple[str, ...]
    kept: int = 0
    """Number of pairs that the user decided to keep, whether they are shown or left out."""


@dataclass(frozen=True, slots=True)
class KeptPairs:
    pairs: frozenset[frozenset[int]] = frozenset()
    wanted: bool = False
    """Whether a scan finds only these pairs; otherwise it leaves them out."""


NOTHING_KEPT = KeptPairs()


def find_clusters(
    fact_vectors: FactVectors,
    scale: Scale,
    *,
    within: Flags | None = None,
    kept: KeptPairs = NOTHING_KEPT,
    judge: Callable[[Sequence[PairSimilarity]], Sequence[PairSimilarity]] = list,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[list[DuplicateCluster], list[ConflictingFacts], int]:
    """Return clusters of duplicates, pairs in conflict, and the number of `kept` pairs.

    Facts are compared with facts, and open items with open items, across all entities. Those of
    one page, and of two where one text begins with the name of the other's entity, are in conflict
    from the same topic on, others only if they are as similar as duplicates. `judge` is asked
    about the most similar pairs; the others are judged by rules. `report` gets the numbers of
    facts compared and of all, where those are more than a block.
    """
    facts, texts = fact_vectors.facts, fact_vectors.texts
    groups, linked = _DisjointSets(len(facts)), dict[tuple[int, int], float]()
    minimum = [scale.of(fact.kind, fact.text) for fact in facts]

    @cache  # a fact may be in many pairs
    def record(row: int) -> DuplicateFact:
        fact, name = facts[row], fact_vectors.entity_name(facts[row])
        return DuplicateFact(
            fact.text, fact.fact_id, fact.path, fact.line, fact.date, name, fact.kind
        )

    found: list[tuple[int, int, PairSimilarity]] = []
    compared, total = 0, len(facts) if within is None else int(within.sum())
    for kind in ("fact", "open_item"):
        of_kind = np.array([fact.kind == kind for fact in facts], np.bool_)
        rows = np.flatnonzero(of_kind if within is None else of_kind & within)

        def report_of_kind(done: int, before: int = compared) -> None:
            if total > BLOCK:
                report(before + done, total)

        for left, right, cosine in _candidates(fact_vectors, rows, report_of_kind):
            pair = scale.pair(texts[left], texts[right], cosine)
            is_alike = scale.reached(pair, max(minimum[left], minimum[right]))
            is_one_page = facts[left].entity_id == facts[right].entity_id
            if is_alike or (is_one_page and pair.score >= SAME_TOPIC):
                found.append((left, right, pair))
            elif named := _about_one_entity(fact_vectors, left, right, cosine, scale):
                found.append((left, right, named))
        compared += len(rows)
    found.sort(key=lambda each: -each[2].score)
    judged = judge(
        [
            with_subject(pair, fact_vectors.entity_name(facts[left]), facts[left].entity_id)
            if facts[left].entity_id == facts[right].entity_id
            else pair
            for left, right, pair in found[:MAX_JUDGED]
        ]
    )
    conflicting, kept_pairs = [], 0
    for number, (left, right, pair) in enumerate(found):
        pair = judged[number] if number < len(judged) else pair
        is_conflict = pair.relation == "conflict"
        if not is_conflict and not (
            pair.score >= max(minimum[left], minimum[right]) and pair.covers(pair.score)
        ):
            continue
        is_kept = frozenset((facts[left].fact_id, facts[right].fact_id)) in kept.pairs
        kept_pairs += is_kept
        if is_kept != kept.wanted:
            continue
        if is_conflict:
            conflicting.append(_conflicting(record(left), record(right), pair))
        else:
            linked[left, right] = pair.score
            groups.join(left, right)
    conflicting.sort(key=lambda c: (-c.score, c.facts[0].source_path, c.facts[0].line))
    conflicting.sort(key=lambda c: c.facts[0].date, reverse=True)
    return _clusters(facts, groups, linked, record), conflicting, kept_pairs


def _about_one_entity(
    vectors: FactVectors, left: int, right: int, cosine: float, scale: Scale
) -> PairSimilarity | None:
    """Return the pair without the name of the other's entity, where one text begins with it."""
    texts = [vectors.texts[left], vectors.texts[right]]
    owners = [vectors.entities.get(vectors.facts[row].entity_id) for row in (right, left)]
    bare = [strip_subject(text, owner) for text, owner in zip(texts, owners, strict=True)]
    if bare == texts:
        return None
    pair = scale.pair(bare[0], bare[1], cosine)
    return pair if pair.score >= SAME_TOPIC else None


def _candidates(
    fact_vectors: FactVectors, rows: Rows, report: Callable[[int], None]
) -> Iterator[tuple[int, int, float]]:
    """Yield (row, row, cosine) of each pair to score once: identical texts, then neighbours."""
    in_scope = set(rows.tolist())
    seen = set()
    for identical in fact_vectors.rows_by_text.values():
        for left, right in pairwise(row for row in identical if row in in_scope):
            seen.add((left, right))
            yield left, right, 1.0
    vectors = fact_vectors.vectors[rows]
    for start in range(0, len(rows), BLOCK):
        block = vectors[start : start + BLOCK]
        with threadpool_limits(limits=os.cpu_count() or 1, user_api="blas"):
            cosines = block @ vectors[start:].T
        size = len(block)
        cosines[:, :size][np.tri(size, dtype=np.bool_)] = -1.0  # each pair once, none with itself
        columns = highest_columns(cosines, min(NEIGHBOURS, cosines.shape[1]))
        highest = np.take_along_axis(cosines, columns, axis=1)
        near, rank = np.nonzero(highest >= LEAST_COSINE)
        lefts, rights = rows[start + near], rows[start + columns[near, rank]]
        for pair in zip(lefts.tolist(), rights.tolist(), highest[near, rank].tolist(), strict=True):
            if pair[:2] not in seen:
                yield pair
        report(start + size)


def highest_columns(values: NDArray[np.float32], wanted: int) -> NDArray[np.int64]:
    """Return the columns of the `wanted` highest values per row, shape (rows, wanted), unordered.

    They all lie in the `wanted` stretches of columns with the highest maxima, so these stretches
    are found first: see the experiment "duplicate scan by stretches" in docs/quality.md.
    """
    rows, width = values.shape
    whole = width - width % STRETCH
    if whole < wanted * STRETCH:
        return np.argpartition(values, -wanted, axis=1)[:, -wanted:]
    maxima = values[:, :whole].reshape(rows, -1, STRETCH).max(axis=2)
    stretches = np.argpartition(maxima, -wanted, axis=1)[:, -wanted:, np.newaxis]
    candidates = (stretches * STRETCH + np.arange(STRETCH)).reshape(rows, -1)
    rest = np.broadcast_to(np.arange(whole, width), (rows, width - whole))
    columns = np.concatenate((candidates, rest), axis=1)
    candidate_values = np.take_along_axis(values, columns, axis=1)
    best = np.argpartition(candidate_values, -wanted, axis=1)[:, -wanted:]
    return np.take_along_axis(columns, best, axis=1)


class _DisjointSets:
    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, row: int) -> int:
        while self._parent[row] != row:
            self._parent[row] = self._parent[self._parent[row]]
            row = self._parent[row]
        return row

    def join(self, left: int, right: int) -> None:
        low, high = sorted((self.root(left), self.root(right)))
        self._parent[high] = low


def _clusters(
    facts: Sequence[Fact],
    groups: _DisjointSets,
    linked: dict[tuple[int, int], float],
    record: Callable[[int], DuplicateFact],
) -> list[DuplicateCluster]:
    members: dict[int, set[int]] = defaultdict(set)
    lowest: dict[int, float] = {}
    for (left, right), score in linked.items():
        root = groups.root(left)
        members[root] |= {left, right}
        lowest[root] = min(score, lowest.get(root, score))
    clusters = []
    for root, rows in members.items():
        newest_first = sorted(sorted(rows), key=lambda row: facts[row].date, reverse=True)
        relation = "exact" if lowest[root] == 1.0 else "duplicate"
        clusters.append(DuplicateCluster(lowest[root], relation, tuple(map(record, newest_first))))
    return sorted(clusters, key=lambda c: (-c.score, c.facts[0].source_path, c.facts[0].line))


def _conflicting(
    left: DuplicateFact, right: DuplicateFact, pair: PairSimilarity
) -> ConflictingFacts:
    conflicts = pair.conflicts
    if right.date > left.date:
        left, right = right, left
        conflicts = tuple(Conflict(c.kind, left=c.right, right=c.left) for c in conflicts)
    return ConflictingFacts(pair.score, (left, right), conflicts)
