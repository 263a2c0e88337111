"""The Evidence of judged queries, to measure any setting of the knobs without searching again.

Settings that differ in alpha only, or that keep the same entities, share their score lines
(`score_lines`), and all queries are ranked together (`line_pool`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.line_pool import LinePool, Slots
from kbx_tui.evaluation.measure import Retrieve
from kbx_tui.evaluation.metrics import CUTOFF, ideal_gain
from kbx_tui.search.evidence.compact import EvidenceCompactor
from kbx_tui.search.evidence.evidence import Evidence, Scores
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.kept_entities import choose_entities
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.ranking.rank_many import lines_key, without_alpha
from kbx_tui.search.ranking.score_lines import ScoreLines

POOL_LIMIT = 64 * 1024 * 1024
"""Bytes of score lines from which they are computed again."""

Progress = Callable[[int, int], bool | None]
"""Called with the number of queries done and the total; True stops."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What some settings are worth on some queries; arrays have shape (settings, queries)."""

    ndcg: Scores
    """nDCG@10, gain `2^grade - 1`, 0..1."""
    judged: Scores
    """judged@10: share of the first 10 results that is judged, 0..1; 0 of none."""


class JudgedEvidence:
    """Judged queries with their Evidence, compact. Not thread-safe."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        """Generation of the index that was read."""
        self.queries: list[JudgedQuery] = []
        self.evidence: list[Evidence] = []
        """Parallel to `queries`; to rank, not to explain (`compact`)."""
        self.left_out = 0
        """Number of judged queries for which there was no room, or that were not reached."""
        self._compactor = EvidenceCompactor()
        self._ideal: list[float] = []
        self._clear()

    @classmethod
    def read(
        cls,
        queries: Sequence[JudgedQuery],
        retrieve: Retrieve,
        generation: int,
        tuning: Tuning,
        *,
        limit: int,
        progress: Progress | None = None,
    ) -> JudgedEvidence:
        """Retrieve the Evidence of each query that has a relevant document.

        Stops at `limit` bytes. The lines of `tuning` are computed, with every threshold: later any
        setting of alpha and threshold is measured fastest.
        """
        judged = [query for query in queries if query.is_measurable]
        kept = cls(generation)
        for number, query in enumerate(judged):
            if (progress and progress(number, len(judged))) or kept.bytes >= limit:
                kept.left_out = len(judged) - number
                break
            kept.add(query, retrieve(query.text), tuning)
        return kept

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def bytes(self) -> int:
        """Bytes of memory that Evidence and lines take, about."""
        return self._compactor.bytes + self._pool.bytes

    def add(self, query: JudgedQuery, evidence: Evidence, tuning: Tuning) -> None:
        """Add a query with complete Evidence, and the lines of `tuning` with every threshold."""
        self.queries.append(query)
        self.evidence.append(self._compactor.compact(evidence))
        self._ideal.append(ideal_gain(query.grades))
        self._slots.clear()
        self._prepare(len(self) - 1, tuning)

    def regrade(self, queries: Sequence[JudgedQuery], tuning: Tuning) -> list[JudgedQuery]:
        """Take over the grades of these queries and drop all others; return those to add.

        `tuning` as in `add`.
        """
        newest = {query.text: query for query in queries}
        stays = [query.text in newest for query in self.queries]
        if not all(stays):
            self.evidence = list(compress(self.evidence, stays))
            self._ideal = list(compress(self._ideal, stays))
            self.queries = list(compress(self.queries, stays))
            self._clear()  # the others have other numbers now
        for number, before in enumerate(self.queries):
            query = newest.pop(before.text)
            if query != before:
                self.queries[number] = query
                self._ideal[number] = ideal_gain(query.grades)
                self._slots.clear()
                for key in [key for key in self._slot_of if key[0] == number]:
                    del self._slot_of[key]
                self._prepare(number, tuning)
        return list(newest.values())

    def measure(self, tunings: Sequence[Tuning]) -> Measured:
        """Return what the first 10 results of each query are worth under each tuning."""
        if self._pool.bytes > POOL_LIMIT:
            self._clear()
        slots = np.array([self._slots_of(tuning) for tuning in tunings], np.int64)
        slots = slots.reshape(len(tunings), len(self))
        values, column = np.unique([tuning.alpha for tuning in tunings], return_inverse=True)
        different, place = np.unique(slots * len(values) + column[:, None], return_inverse=True)
        slot, alpha = np.divmod(different, max(len(values), 1))
        top = self._pool.top_ten(slot, values[alpha])
        gain = top.gain[place].reshape(slots.shape)
        judged = top.judged / np.maximum(top.found, 1.0)
        return Measured(gain / np.array(self._ideal), judged[place].reshape(slots.shape))

    def _slots_of(self, tuning: Tuning) -> Slots:
        key = without_alpha(tuning)
        if key not in self._slots:
            slots = [self._slot(number, tuning) for number in range(len(self))]
            self._slots[key] = np.array(slots, np.int64)
        return self._slots[key]

    def _slot(self, number: int, tuning: Tuning) -> int:
        """Return the number in the pool of the lines of one query, which are added if needed."""
        evidence = self.evidence[number]
        ranking = Ranking(evidence, tuning, *choose_entities(evidence, tuning))
        key = number, lines_key(ranking)
        if key not in self._slot_of:
            lines = ScoreLines.of(ranking, CUTOFF)
            grades = self.queries[number].grades
            self._slot_of[key] = self._pool.add(lines, evidence.paths, grades)
        return self._slot_of[key]

    def _prepare(self, number: int, tuning: Tuning) -> None:
        for threshold in _thresholds(self.evidence[number]):
            self._slot(number, replace(tuning, entity_threshold=threshold))

    def _clear(self) -> None:
        self._pool = LinePool()
        self._slot_of: dict[tuple[int, Hashable], int] = {}
        self._slots: dict[Tuning, Slots] = {}


def _thresholds(evidence: Evidence) -> set[float]:
    """Return a threshold for every choice of entities by their score."""
    return {1.0, *(min(entity.score, 1.0) for entity in evidence.entities)}
