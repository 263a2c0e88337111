"""Comparing texts with facts and open items: exact text first, then the nearest by vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from kbx_tui.knowledge.records import Fact
from kbx_tui.similarity.fact_vectors import Remembered
from kbx_tui.similarity.matches import Nearest, SimilarityMatch
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.similarity.scoring.pair_score import Likeness, likeness
from kbx_tui.similarity.scoring.thresholds import Thresholds

NEAREST = 48
"""Texts compared word by word, at least: the nearest by cosine. Words move a score by less than .2
of cosine, so a match beyond them would need as many better ones."""

NEAREST_TOLD = 5
"""How many are told where nothing is a match: some may not be told to everyone."""

Vector = NDArray[np.float32]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Found:
    """What was compared."""

    matches: list[SimilarityMatch]
    """Best first."""
    nearest: tuple[Nearest, ...]
    """What has the best scores of all that was compared, best first, at most `NEAREST_TOLD`."""
    has_similar: bool
    """True when one without a conflict reaches its threshold, told in `matches` or not."""
    texts: frozenset[str] = frozenset()
    """Of all that reach their threshold, told or not."""


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

    They are the best `limit` and what ties with the last of them.

    `names` tells the name of each entity by id; `within` has shape (facts,) and lets them in.
    """
    rows = _to_compare(text, vector, memory, limit, within)
    nearest, alike = _alike(text, vector, rows, memory, calibration, thresholds)
    last = alike[limit - 1].likeness.score if len(alike) > limit else 0.0
    told = [one for one in alike if one.likeness.score >= last]
    matches = [one.judged(names) for one in told]
    return Found(
        best_first(matches),
        nearest,
        any(match.is_similar for match in matches)
        or not all(one.likeness.is_conflict() for one in alike[len(told) :]),
        frozenset(one.fact.text for one in alike),
    )


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
    _, alike = _alike(text, vector, rows, memory, calibration, thresholds)
    judged = [(one.row, one.judged(names)) for one in alike]
    return sorted(judged, key=lambda one: (-one[1].score, bool(one[1].conflicts), one[0]))


def _to_compare(
    text: str, vector: Vector, memory: Remembered, limit: int, within: Flags | None
) -> NDArray[np.int64]:
    """Return the rows to be compared word by word, ascending."""
    rows = {row for row, _ in find_same(text, memory, within)}
    rows.update(memory.nearest(vector, max(NEAREST, 4 * limit), within).tolist())
    return np.array(sorted(rows), np.int64)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A fact that was compared: a match where it reaches its threshold and nothing contradicts."""

    row: int
    fact: Fact
    likeness: Likeness
    threshold: float

    def as_nearest(self) -> Nearest:
        """Return it with its score, whatever it contradicts."""
        fact = self.fact
        return Nearest(
            fact.text, self.likeness.score, self.threshold, fact.kind, fact.path, fact.line
        )

    def judged(self, names: dict[str, str]) -> SimilarityMatch:
        """Return it as a match, with what the texts contradict each other on."""
        fact, pair = self.fact, self.likeness.judged()
        return SimilarityMatch(
            text=fact.text,
            score=pair.score,
            fact_id=fact.fact_id,
            source_path=fact.path,
            date=fact.date,
            entity_name=names.get(fact.entity_id, ""),
            match_type=fact.kind,
            threshold=self.threshold,
            relation=pair.relation,
            cosine=pair.cosine,
            signals=pair.signals,
            conflicts=pair.conflicts,
            line=fact.line,
            done=fact.done,
        )


def _alike(
    text: str,
    vector: Vector,
    rows: NDArray[np.int64],
    memory: Remembered,
    calibration: Calibration,
    thresholds: Thresholds,
) -> tuple[tuple[Nearest, ...], list[_Candidate]]:
    """Return the nearest of `rows`, and those that reach their threshold, best first.

    Conflicts are not looked for: that takes longest, and most are not told.
    """
    cosines = memory.cosines(vector, rows).tolist()
    scored = [
        (row, likeness(text, memory.facts[row].text, cosine, calibration))
        for row, cosine in zip(rows.tolist(), cosines, strict=True)
    ]
    scored.sort(key=lambda one: (-one[1].score, one[0]))
    candidates = []
    for row, found in scored:
        fact = memory.facts[row]
        candidates.append(_Candidate(row, fact, found, thresholds.of(fact.kind, fact.text)))
    nearest = tuple(one.as_nearest() for one in candidates[:NEAREST_TOLD])
    return nearest, [one for one in candidates if thresholds.reached(one.likeness, one.threshold)]


def the_nearest(compared: Iterable[Nearest]) -> tuple[Nearest, ...]:
    """Return those with the best scores, best first."""
    return tuple(nlargest(NEAREST_TOLD, compared, key=lambda one: one.score))


def best_first(matches: Sequence[SimilarityMatch]) -> list[SimilarityMatch]:
    """Return matches by score, among equals without a conflict first, then by place."""
    return sorted(
        matches,
        key=lambda one: (-one.score, bool(one.conflicts), one.source_path, one.line),
    )
