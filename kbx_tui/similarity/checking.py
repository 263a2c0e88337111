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
    vector: Vector,
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    limit: int,
    within: Flags | None = None,
) -> Found:
    """Return the facts and open items like a text, whose unit vector is given.

    They are the best `limit`, what ties with the last of them, and, where all these contradict the
    text, those that follow up to one that does not.

    `names` tells the name of each entity by id; `within` has shape (facts,) and lets them in.
    """
    rows = _to_compare(text, vector, memory, limit, within)
    best, alike = _alike(text, vector, rows, memory, calibration, thresholds, names)
    matches: list[SimilarityMatch] = []
    for _, match in alike:
        enough = len(matches) >= limit and any(one.is_similar for one in matches)
        if enough and match.score < matches[-1].score:
            break
        matches.append(match)
    return Found(best_first(matches), best)


def rows_alike(
    text: str,
    vector: Vector,
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    limit: int,
    within: Flags | None = None,
) -> list[tuple[int, SimilarityMatch]]:
    """Return all of those nearest by vector that are over their threshold, best first, each with
    its row of `memory`.
    """
    rows = _to_compare(text, vector, memory, limit, within)
    _, alike = _alike(text, vector, rows, memory, calibration, thresholds, names)
    return sorted(alike, key=lambda one: (-one[1].score, bool(one[1].conflicts), one[0]))


def _to_compare(
    text: str, vector: Vector, memory: Remembered, limit: int, within: Flags | None
) -> NDArray[np.int64]:
    """Return the rows to be compared word by word, ascending."""
    rows = {row for row, _ in find_same(text, memory, within)}
    rows.update(memory.nearest(vector, max(NEAREST, 4 * limit), within).tolist())
    return np.array(sorted(rows), np.int64)


def _alike(
    text: str,
    vector: Vector,
    rows: NDArray[np.int64],
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
    names: dict[str, str],
) -> tuple[float, Iterator[tuple[int, SimilarityMatch]]]:
    """Return the best score, and the matches among `rows`, one after the other, best first."""
    cosines = memory.cosines(vector, rows).tolist()
    scored = [
        (score_of(text, memory.facts[row].text, cosine, calibration), row, cosine)
        for row, cosine in zip(rows.tolist(), cosines, strict=True)
    ]
    scored.sort(key=lambda one: (-one[0], one[1]))

    def matches() -> Iterator[tuple[int, SimilarityMatch]]:
        for score, row, cosine in scored:
            fact = memory.facts[row]
            threshold = thresholds.of(fact.kind, fact.text)
            if score < threshold:
                continue  # most are: conflicts are looked for in matches only
            pair = similarity(text, fact.text, cosine, calibration)
            if thresholds.reached(pair, threshold):
                yield row, match_of(fact, pair, threshold, names.get(fact.entity_id, ""))

    return scored[0][0] if scored else 0.0, matches()


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
