"""The Evidence of judged queries, to measure any setting of the knobs without searching again.

Settings that differ only in alpha, or that keep the same entities, share their score lines. These
are padded to 16, 32, 64 ... documents and stacked by width, so that a few array operations rank
hundreds of queries, each with its own alpha.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.evaluation.judgments import Grades, JudgedQuery
from kbx_tui.evaluation.metrics import CUTOFF, ideal_gain
from kbx_tui.evaluation.runs import Retrieve
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import (
    Array,
    ComponentScores,
    Flags,
    LinkedDocuments,
    Scores,
    frozen,
)
from kbx_tui.search.ranking.alpha import NO_RESULT, ScoreLines, lines_key, without_alpha
from kbx_tui.search.ranking.entities import choose_entities
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.request import Preset, Tuning

POOL_LIMIT = 64 * 1024 * 1024

Progress = Callable[[int, int], bool | None]
"""Called with the number of queries done and the total; True stops."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measures of some settings on some queries; arrays have shape (settings, queries)."""

    ndcg: Scores
    """nDCG@10, gain `2^grade - 1`, 0..1."""
    judged: Scores
    """judged@10: share of the first 10 results that is judged, 0..1; 0 without results."""


class JudgedEvidence:
    """Judged queries with their Evidence. Not thread-safe."""

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.queries: list[JudgedQuery] = []
        self.evidence: list[Evidence] = []
        """Evidence per query, compacted (`EvidenceCompactor`): for ranking, not for explaining."""
        self.left_out = 0
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

        Stops at `limit` bytes. The score lines of `tuning` are computed for every threshold, so
        that settings with other alphas and thresholds are measured fastest later.
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
        return self._compactor.bytes + self._pool.bytes

    def add(self, query: JudgedQuery, evidence: Evidence, tuning: Tuning) -> None:
        self.queries.append(query)
        self.evidence.append(self._compactor.compact(evidence))
        self._ideal.append(ideal_gain(query.grades))
        self._slots.clear()
        self._prepare(len(self) - 1, tuning)

    def regrade(self, queries: Sequence[JudgedQuery], tuning: Tuning) -> list[JudgedQuery]:
        """Take the grades of these queries and drop all others; return those not yet held."""
        newest = {query.text: query for query in queries}
        stays = [query.text in newest for query in self.queries]
        if not all(stays):
            self.evidence = list(compress(self.evidence, stays))
            self._ideal = list(compress(self._ideal, stays))
            self.queries = list(compress(self.queries, stays))
            self._clear()  # the remaining queries have new numbers
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
        if self._pool.bytes > POOL_LIMIT:
            self._clear()
        slots = np.array([self._slots_of(tuning) for tuning in tunings], np.int64)
        slots = slots.reshape(len(tunings), len(self))
        values, column = np.unique([tuning.alpha for tuning in tunings], return_inverse=True)
        different, place = np.unique(slots * len(values) + column[:, None], return_inverse=True)
        slot, alpha = np.divmod(different, max(len(values), 1))
        gain, judged, found = self._pool.top_ten(slot, values[alpha])
        ndcg = gain[place].reshape(slots.shape) / np.array(self._ideal)
        return Measured(ndcg, (judged / np.maximum(found, 1.0))[place].reshape(slots.shape))

    def _slots_of(self, tuning: Tuning) -> Slots:
        key = without_alpha(tuning)
        if key not in self._slots:
            slots = [self._slot(number, tuning) for number in range(len(self))]
            self._slots[key] = np.array(slots, np.int64)
        return self._slots[key]

    def _slot(self, number: int, tuning: Tuning) -> int:
        evidence = self.evidence[number]
        ranking = Ranking(evidence, tuning, *choose_entities(evidence, tuning))
        key = number, lines_key(ranking)
        if key not in self._slot_of:
            lines = ScoreLines.of(ranking, CUTOFF)
            grades = self.queries[number].grades
            self._slot_of[key] = self._pool.add(lines, evidence.paths, grades)
        return self._slot_of[key]

    def _prepare(self, number: int, tuning: Tuning) -> None:
        # one threshold for each set of entities that a threshold can select
        scores = {1.0, *(min(entity.score, 1.0) for entity in self.evidence[number].entities)}
        for threshold in scores:
            self._slot(number, replace(tuning, entity_threshold=threshold))

    def _clear(self) -> None:
        self._pool = LinePool()
        self._slot_of: dict[tuple[int, Hashable], int] = {}
        self._slots: dict[Tuning, Slots] = {}


NARROWEST = 16
AT_ONCE = 2048
FIELDS = 7
ANSWERED, PARENT, OPENED, KNOWN_ITEM, ALWAYS, GAIN, JUDGED = range(FIELDS)
DISCOUNTS = np.log2(np.arange(2, CUTOFF + 2))

Slots = NDArray[np.int64]


class LinePool:
    def __init__(self) -> None:
        self._width: list[int] = []
        self._position: list[int] = []
        self._tables: defaultdict[int, list[Scores]] = defaultdict(list)
        self._factors: list[float] = []
        self._is_flat: list[bool] = []
        self._stacked: dict[int, Scores] = {}

    def __len__(self) -> int:
        return len(self._width)

    @property
    def bytes(self) -> int:
        return sum(2 * 8 * FIELDS * width for width in self._width)

    def add(self, lines: ScoreLines, paths: Sequence[str], grades: Grades) -> int:
        width = NARROWEST
        while width < len(lines):
            width *= 2
        table = np.zeros((FIELDS, width))
        table[ANSWERED, : len(lines)] = lines.answered
        table[PARENT, : len(lines)] = lines.parent
        table[OPENED, : len(lines)] = lines.opened
        table[KNOWN_ITEM, : len(lines)] = lines.is_known_item
        table[ALWAYS, : len(lines)] = lines.is_always_result
        for place, row in enumerate(lines.rows.tolist()):
            grade = grades.get(paths[row])
            if grade is not None:
                table[GAIN, place], table[JUDGED, place] = 2.0**grade - 1.0, 1.0
        self._position.append(len(self._tables[width]))
        self._tables[width].append(table)
        self._stacked.pop(width, None)
        self._width.append(width)
        self._factors.append(lines.factor)
        self._is_flat.append(lines.is_flat)
        return len(self._width) - 1

    def top_ten(self, slots: Slots, alphas: Scores) -> tuple[Scores, Scores, Scores]:
        """Return gain, number judged and number found in the top 10 of each line and its alpha.

        All have shape (m,). The gain is the discounted cumulative gain of `2^grade - 1`.
        """
        gain, judged, found = (np.zeros(len(slots)) for _ in range(3))
        widths = np.array(self._width)[slots]
        positions, factors = np.array(self._position)[slots], np.array(self._factors)[slots]
        alphas = np.where(np.array(self._is_flat)[slots], 1.0, alphas)
        for width in np.unique(widths).tolist():
            numbers = np.flatnonzero(widths == width)
            if width not in self._stacked:
                self._stacked[width] = np.stack(self._tables[width])
            for start in range(0, len(numbers), AT_ONCE):
                some = numbers[start : start + AT_ONCE]
                batch = self._stacked[width][positions[some]]
                final = _final(batch, factors[some], alphas[some])
                gain[some], judged[some], found[some] = _first_ten(final, batch)
        return gain, judged, found


def _final(tables: Scores, factors: Scores, alphas: Scores) -> Scores:
    """Return final scores as `ScoreLines.final` does, with one alpha per table; shape (m, n)."""
    alpha = alphas[:, None]
    blended = alpha * tables[:, ANSWERED] + (1.0 - alpha) * tables[:, PARENT]
    final = factors[:, None] * blended + tables[:, OPENED]
    final[tables[:, KNOWN_ITEM] > 0.0] = 1.0
    is_result: Flags = (blended > 0.0) | (tables[:, ALWAYS] > 0.0)
    final[~is_result] = NO_RESULT
    return final


def _first_ten(final: Scores, tables: Scores) -> tuple[Scores, Scores, Scores]:
    """Return gain, number judged and number found in the top 10; changes `final`.

    Taking the maximum ten times is faster than sorting; of equal scores, it takes the first.
    """
    numbers = np.arange(len(final))
    gain, judged, found = (np.zeros(len(final)) for _ in range(3))
    for discount in DISCOUNTS.tolist():
        best = np.argmax(final, axis=1)
        is_result = final[numbers, best] > NO_RESULT
        gain += np.where(is_result, tables[numbers, GAIN, best], 0.0) / discount
        judged += np.where(is_result, tables[numbers, JUDGED, best], 0.0)
        found += is_result
        final[numbers, best] = NO_RESULT
    return gain, judged, found


LIMIT = 256 * 1024 * 1024


class KeptEvidence:
    """Retrieves each query once per preset, as Evidence for ranking, not for explaining."""

    def __init__(self, retrieve: Callable[[str, Preset], Evidence]) -> None:
        self._retrieve = retrieve
        self._kept: dict[Preset, tuple[int, dict[str, Evidence]]] = {}

    def read(
        self,
        queries: Sequence[str],
        preset: Preset,
        generation: int,
        *,
        limit: int = LIMIT,
        progress: Progress | None = None,
    ) -> dict[str, Evidence]:
        before, known = self._kept.get(preset, (generation, {}))
        if before != generation:
            known = {}
        asked = list(dict.fromkeys(queries))
        compactor, found = EvidenceCompactor(), dict[str, Evidence]()
        for number, text in enumerate(asked):
            if (progress and progress(number, len(asked))) or compactor.bytes >= limit:
                break
            if text not in known:
                known[text] = self._retrieve(text, preset)
            found[text] = known[text] = compactor.compact(known[text])
        self._kept[preset] = generation, {text: known[text] for text in asked if text in known}
        return found


OBJECT_BYTES = 2_000


class EvidenceCompactor:
    """Reduces Evidence to what `rank` needs, so that hundreds of queries fit in memory.

    It ranks as before but cannot explain: cosines, both scaled scores, and BM25 where it resolves
    no ties, are one shared array of NaN. Arrays that are equal in several queries are shared, too:
    the links of an entity, and frecency. A document takes 16 bytes for a query that names a person
    or team, 24 if the query also has a topic, 8 for any other query.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._links: dict[Hashable, LinkedDocuments] = {}
        self._arrays: dict[Hashable, NDArray[Any]] = {}

    def compact(self, evidence: Evidence) -> Evidence:
        typed = self._relevance_only(evidence.as_typed)
        if evidence.topic is not None:  # BM25 resolves ties of documents unrelated to the topic
            typed = replace(typed, raw_lexical=evidence.as_typed.raw_lexical)
            self.bytes += typed.raw_lexical.nbytes
        searched = typed
        if evidence.as_searched is not evidence.as_typed:
            searched = self._relevance_only(evidence.as_searched)
        self.bytes += OBJECT_BYTES
        return replace(
            evidence,
            as_typed=typed,
            as_searched=searched,
            links=tuple(
                self._shared_links(entity.id, linked)
                for entity, linked in zip(evidence.entities, evidence.links, strict=True)
            ),
            frecency=self._shared(evidence.frecency),
        )

    def _relevance_only(self, components: ComponentScores) -> ComponentScores:
        size = len(components.doc_relevance)
        unknown, nowhere = np.full(size, np.nan), np.full(size, -1, np.int8)
        unknown = self._shared(frozen(unknown))
        self.bytes += components.doc_relevance.nbytes
        return replace(
            components,
            raw_lexical=unknown,
            lexical=unknown,
            cosine=unknown,
            vector=unknown,
            own_relevance=unknown,
            propagated_from=self._shared(frozen(nowhere)),
        )

    def _shared_links(self, entity_id: str, linked: LinkedDocuments) -> LinkedDocuments:
        arrays: list[NDArray[Any]] = [linked.rows, linked.strengths]
        if linked.propagated is not None:
            arrays.append(linked.propagated)
        key = entity_id, *map(_content, arrays)
        if key not in self._links:
            self._links[key] = linked
            self.bytes += sum(array.nbytes for array in arrays) + 8 * len(linked.reasons)
        return self._links[key]

    def _shared(self, array: Array) -> Array:
        shared: Array = self._arrays.setdefault(_content(array), array)  # type: ignore[assignment]
        if shared is array:
            self.bytes += array.nbytes
        return shared


def _content(array: NDArray[Any]) -> Hashable:
    return array.dtype.str, hash(array.tobytes()), len(array)
