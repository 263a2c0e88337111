"""Comparing texts with facts and open items: exact text first, then the nearest by vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.knowledge.records import Fact
from kbx_tui.similarity.calibration import Calibration
from kbx_tui.similarity.matches import MatchType, SimilarityMatch
from kbx_tui.similarity.pair import PairSimilarity, score_of, similarity
from kbx_tui.similarity.remembered import Remembered
from kbx_tui.similarity.thresholds import Thresholds
from kbx_tui.similarity.words import normal_form

NEAREST = 48
"""Texts compared word by word, at least: the nearest by cosine. Words move a score by less than .2
of cosine, so a match beyond them would need as many better ones."""

Vector = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """What was compared, best first."""

    matches: list[SimilarityMatch]
    best_score: float


def find_same(
    text: str, memory: Remembered, within: Flags | None = None
) -> Iterator[tuple[int, Fact]]:
    """Yield the rows and facts whose text is the same, case, accents and spacing aside."""
    for row in memory.same.get(normal_form(text), ()):
        if within is None or within[row]:
            yield row, memory.facts[row]


def find_alike(
    text: str,
    cosines: Vector,
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    limit: int,
    within: Flags | None = None,
) -> Found:
    """Return the facts and open items like a text, whose cosines with all of them are given.

    `names` tells the name of each entity by id; `within` has shape (facts,) and lets them in.
    """
    best, matches = _alike(text, cosines, memory, calibration, thresholds, names, limit, within)
    return Found(best_first([match for _, match in matches]), best)


def rows_alike(
    text: str,
    cosines: Vector,
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    limit: int,
    within: Flags | None = None,
) -> list[tuple[int, SimilarityMatch]]:
    """Return the same matches, best first, each with its row of `memory`."""
    _, found = _alike(text, cosines, memory, calibration, thresholds, names, limit, within)
    return sorted(found, key=lambda one: (-one[1].score, bool(one[1].conflicts), one[0]))


def _alike(
    text: str,
    cosines: Vector,
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
    names: dict[str, str],
    limit: int,
    within: Flags | None,
) -> tuple[float, list[tuple[int, SimilarityMatch]]]:
    rows = {row for row, _ in find_same(text, memory, within)}
    rows.update(nearest(cosines, max(NEAREST, 4 * limit), within).tolist())
    matches: list[tuple[int, SimilarityMatch]] = []
    best = 0.0
    for row in sorted(rows):
        fact, cosine = memory.facts[row], float(cosines[row])
        score = score_of(text, fact.text, cosine, calibration)
        best = max(best, score)
        threshold = thresholds.of(fact.kind, fact.text)
        if score < threshold:
            continue  # most are: conflicts are looked for in matches only
        pair = similarity(text, fact.text, cosine, calibration)
        if thresholds.reached(pair, threshold):
            name = names.get(fact.entity_id, "")
            matches.append((row, match_of(fact, pair, threshold, name)))
    return best, matches


def nearest(cosines: Vector, count: int, within: Flags | None = None) -> NDArray[np.int64]:
    """Return the rows with the highest cosines, in no order."""
    if within is not None:
        inside = np.flatnonzero(within)
        return inside[nearest(cosines[inside], count)]
    if len(cosines) <= count:
        return np.arange(len(cosines))
    return np.argpartition(cosines, -count)[-count:]


def match_of(fact: Fact, pair: PairSimilarity, threshold: float, name: str) -> SimilarityMatch:
    """Return a fact as a match."""
    kind: MatchType = fact.kind
    return SimilarityMatch(
        text=fact.text,
        score=pair.score,
        fact_id=fact.fact_id,
        source_path=fact.path,
        date=fact.date,
        entity_name=name,
        match_type=kind,
        threshold=threshold,
        relation=pair.relation,
        cosine=pair.cosine,
        signals=pair.signals,
        conflicts=pair.conflicts,
        line=fact.line,
        done=fact.done,
    )


def best_first(matches: Sequence[SimilarityMatch]) -> list[SimilarityMatch]:
    """Return matches by score, among equals without a conflict first, then by place."""
    return sorted(
        matches,
        key=lambda one: (-one.score, bool(one.conflicts), one.source_path, one.line),
    )
