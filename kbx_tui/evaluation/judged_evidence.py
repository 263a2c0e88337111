"""The Evidence of judged queries, to measure any setting of the knobs without searching again.

Settings that differ only in alpha, or that keep the same entities, share the score lines of a
query, which are computed once and rank all of these settings at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.evaluation.judgments import Grades, JudgedQuery
from kbx_tui.evaluation.metrics import CUTOFF, ideal_gain
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
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Preset, Tuning

LINES_LIMIT = 64 * 1024 * 1024
"""Bytes of score lines above which they are computed again."""

Retrieve = Callable[[str], Evidence]
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
        return self._compactor.bytes + sum(graded.bytes for graded in self._graded.values())

    def add(self, query: JudgedQuery, evidence: Evidence, tuning: Tuning) -> None:
        self.queries.append(query)
        self.evidence.append(self._compactor.compact(evidence))
        self._ideal.append(ideal_gain(query.grades))
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
                for key in [key for key in self._graded if key[0] == number]:
                    del self._graded[key]
                for keys in self._keys.values():
                    keys.pop(number, None)
                self._prepare(number, tuning)
        return list(newest.values())

    def measure(self, tunings: Sequence[Tuning]) -> Measured:
        if self.bytes - self._compactor.bytes > LINES_LIMIT:
            self._clear()
        places: defaultdict[Tuning, list[int]] = defaultdict(list)
        for place, tuning in enumerate(tunings):
            places[without_alpha(tuning)].append(place)
        settings = [(setting, self._keys[setting], some) for setting, some in places.items()]
        alphas = np.array([tuning.alpha for tuning in tunings])
        gain, judged = (np.zeros((len(tunings), len(self))) for _ in range(2))
        for number in range(len(self)):
            alike: defaultdict[LinesKey, list[int]] = defaultdict(list)
            for setting, keys, some in settings:
                alike[keys.get(number) or self._key(number, setting)] += some
            for key, some in alike.items():
                gain[some, number], judged[some, number] = self._graded[key].top_ten(alphas[some])
        return Measured(gain / np.array(self._ideal), judged)

    def _key(self, number: int, setting: Tuning) -> LinesKey:
        """Return the key of the lines of a query under a setting, computed if they are not yet."""
        evidence, grades = self.evidence[number], self.queries[number].grades
        ranking = rank(evidence, setting)
        key = self._keys[setting][number] = number, lines_key(ranking)
        if key not in self._graded:
            lines = ScoreLines.of(ranking, CUTOFF)
            self._graded[key] = _GradedLines.of(lines, evidence.paths, grades)
        return key

    def _prepare(self, number: int, tuning: Tuning) -> None:
        # one threshold for each set of entities that a threshold can select
        scores = {1.0, *(min(entity.score, 1.0) for entity in self.evidence[number].entities)}
        for threshold in scores:
            self._key(number, without_alpha(replace(tuning, entity_threshold=threshold)))

    def _clear(self) -> None:
        self._graded: dict[LinesKey, _GradedLines] = {}
        self._keys: defaultdict[Tuning, dict[int, LinesKey]] = defaultdict(dict)


LinesKey = tuple[int, Hashable]
"""The number of a query, and the key of its score lines."""
DISCOUNTS = np.log2(np.arange(2, CUTOFF + 2))


@dataclass(frozen=True, slots=True)
class _GradedLines:
    lines: ScoreLines
    gain: Scores
    """`2^grade - 1` of each of the documents, 0 for one without a grade."""
    judged: Flags

    @classmethod
    def of(cls, lines: ScoreLines, paths: Sequence[str], grades: Grades) -> _GradedLines:
        known = [grades.get(paths[row]) for row in lines.rows.tolist()]
        gain = np.array([2.0 ** (grade or 0) - 1.0 for grade in known], np.float64)
        return cls(lines, gain, np.array([grade is not None for grade in known], np.bool_))

    @property
    def bytes(self) -> int:
        return 8 * 6 * len(self.lines)

    def top_ten(self, alphas: Scores) -> tuple[Scores, Scores]:
        """Return the discounted gain of the top 10 under each alpha, and its share of judged."""
        final = self.lines.final(alphas)
        order = np.argsort(-final, axis=1, kind="stable")[:, :CUTOFF]
        is_result = np.take_along_axis(final, order, axis=1) > NO_RESULT
        gains = np.zeros((len(alphas), order.shape[1] + 1))
        gains[:, 1:] = np.where(is_result, self.gain[order], 0.0) / DISCOUNTS[: order.shape[1]]
        judged = np.count_nonzero(is_result & self.judged[order], axis=1)
        found = np.maximum(np.count_nonzero(is_result, axis=1), 1)
        return np.cumsum(gains, axis=1)[:, -1], judged / found


LIMIT = 256 * 1024 * 1024


class KeptEvidence:
    """Retrieves each query once per preset, as Evidence for ranking, not for explaining."""

    def __init__(self, retrieve: Callable[[str, Preset], Evidence]) -> None:
        self._retrieve = retrieve
        self._kept: dict[Preset, tuple[int, dict[str, Evidence]]] = {}

    def read(self, queries: Iterable[str], preset: Preset, generation: int) -> dict[str, Evidence]:
        """Return the Evidence of as many queries as fit in memory."""
        before, known = self._kept.get(preset, (generation, {}))
        compactor, found = EvidenceCompactor(), dict[str, Evidence]()
        for text in queries:
            if compactor.bytes >= LIMIT:
                break
            is_known = text in known and before == generation
            evidence = known[text] if is_known else self._retrieve(text, preset)
            found[text] = compactor.compact(evidence)
        self._kept[preset] = generation, found
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
