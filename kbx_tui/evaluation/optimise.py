"""The best setting of the knobs on judged queries, offered only if it wins on queries it never saw.

Coordinate search sets one knob after the other to its best value until nothing improves. Its result
is always the best on the queries it was chosen on, which proves little. Therefore the queries are
split into folds, and each query is measured with the setting chosen on the other folds (k-fold
cross-validation). The setting chosen on all queries is offered only if these measurements beat the
current setting in a paired randomisation test. Otherwise the advice is to keep the current one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.evaluation.judged_evidence import JudgedEvidence
from kbx_tui.evaluation.metrics import (
    EQUAL,
    NOTICEABLE,
    SIGNIFICANCE,
    queries_needed,
    randomisation_p,
)
from kbx_tui.evaluation.runs import ProgressCallback
from kbx_tui.formatting import format_change, format_p
from kbx_tui.search.evidence.scores import Scores
from kbx_tui.search.request import Tuning

FOLDS = 5
FEWEST_QUERIES = 10
ROUNDS = 3
LEAST_GAIN = 0.002
"""Gain in mean nDCG@10 below which a knob stays as it is; values within half of it of the best
count as equal, and the one closest to the current value is taken."""
SEED = 10

UNIT_STEPS = tuple(step / 20 for step in range(21))
ENTITY_NUMBERS = (1, 2, 3, 5, 8, 12, 20)
HOTNESS_WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3)

SETTING_OF: Mapping[str, str] = {
    "alpha": "hierarchy_alpha",
    "entity_threshold": "hierarchy_entity_threshold",
    "max_entities": "hierarchy_max_entities",
    "gate": "hierarchy_gate",
    "parent": "hierarchy_parent",
    "hotness_weight": "hotness_weight",
}

Queries = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether to change the knobs, and the evidence for it. Figures are mean nDCG@10."""

    current: Tuning
    best: Tuning
    """The setting chosen on all queries; `current` if none is better."""
    wins: bool
    queries: int
    left_out: int
    before: float
    after: float
    """Mean of `best` on the queries it was chosen on, hence slightly too high."""
    gain: float
    p: float
    better: int
    worse: int
    """`better` and `worse`: queries with a higher and a lower nDCG@10 when measured out of fold."""
    judged_before: float
    judged_after: float
    """Mean judged@10, 0..1: lower than before if unjudged documents have come up."""
    more_queries: int
    """About how many more judged queries would settle whether the gain is real or, without a gain,
    whether a difference of .02 exists. 0 if it is settled."""

    @property
    def changes(self) -> Mapping[str, tuple[Any, Any]]:
        return {
            key: (getattr(self.current, knob), getattr(self.best, knob))
            for knob, key in SETTING_OF.items()
            if getattr(self.current, knob) != getattr(self.best, knob)
        }

    @property
    def verdict(self) -> str:
        if self.wins:
            return (
                f"change: {format_change(self.gain)} nDCG@10 on queries that did not choose it "
                f"(p {format_p(self.p)}, {self.better} better, {self.worse} worse)"
            )
        if self.queries < FEWEST_QUERIES:
            return f"keep what you have: {self.queries} judged queries are too few to choose by"
        if not self.changes:
            return "keep what you have: no other setting is better on your judged queries"
        more = f"; about {self.more_queries} more judged queries would settle it"
        return (
            f"keep what you have: {format_change(self.gain)} nDCG@10 on queries that did not "
            f"choose the setting (p {format_p(self.p)}){more if self.more_queries else ''}"
        )


def advise(
    kept: JudgedEvidence,
    current: Tuning,
    queries: Queries | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> Advice:
    """Return whether to change the knobs from `current`, by the given queries or by all.

    No search runs: every setting is measured from the evidence in `kept`. Deterministic.
    `progress` is called before each coordinate search; its exceptions end the call.
    """
    tell = progress or (lambda done, total: None)
    chosen = np.arange(len(kept)) if queries is None else queries
    worth = _Worth(kept)
    now = worth.ndcg([current])[0, chosen]
    best, out_of_fold = current, now.copy()
    if len(chosen) >= FEWEST_QUERIES:
        tell(0, FOLDS + 1)
        best = _search(worth, current, chosen)
        for number, fold in enumerate(_folds(len(chosen)), 1):
            tell(number, FOLDS + 1)
            others = np.delete(chosen, fold)
            setting = _search(worth, current, others)
            out_of_fold[fold] = worth.ndcg([setting])[0, chosen[fold]]
    differences = out_of_fold - now
    gain = float(differences.mean()) if len(chosen) else 0.0
    p = randomisation_p(now.tolist(), out_of_fold.tolist())
    wins = best != current and gain > 0.0 and p <= SIGNIFICANCE
    measured = kept.measure([current, best])
    return Advice(
        current=current,
        best=best,
        wins=wins,
        queries=len(chosen),
        left_out=kept.left_out,
        before=_mean(now),
        after=_mean(measured.ndcg[1, chosen]),
        gain=gain,
        p=p,
        better=int(np.count_nonzero(differences > EQUAL)),
        worse=int(np.count_nonzero(differences < -EQUAL)),
        judged_before=_mean(measured.judged[0, chosen]),
        judged_after=_mean(measured.judged[1, chosen]),
        more_queries=0 if wins else _more_queries(differences),
    )


def _more_queries(differences: Scores) -> int:
    """Return how many more queries would settle whether the mean difference is real.

    They must find a difference of this size or, if it is not positive, of `NOTICEABLE`. 0 if there
    are enough. If no query differs, `FEWEST_QUERIES` suffice.
    """
    mean = float(differences.mean()) if len(differences) else 0.0
    effect = mean if mean > EQUAL else NOTICEABLE
    needed = queries_needed(differences.tolist(), effect)
    return max((needed or FEWEST_QUERIES) - len(differences), 0)


class _Worth:
    def __init__(self, kept: JudgedEvidence) -> None:
        self._kept = kept
        self._known: dict[Tuning, Scores] = {}
        self.may_count_openings = any(found.frecency.any() for found in kept.evidence)

    def ndcg(self, tunings: Sequence[Tuning]) -> Scores:
        unknown = list(dict.fromkeys(each for each in tunings if each not in self._known))
        if unknown:
            figures = self._kept.measure(unknown).ndcg
            self._known.update(zip(unknown, figures, strict=True))
        return np.array([self._known[each] for each in tunings])


def _search(worth: _Worth, start: Tuning, queries: Queries) -> Tuning:
    best = start
    for _ in range(ROUNDS):
        before = best
        for knob, values in _knobs(worth, start):
            best = _set_knob(worth, best, knob, values, queries)
        if best == before:
            break
    return best


def _set_knob(
    worth: _Worth, current: Tuning, knob: str, values: Sequence[Any], queries: Queries
) -> Tuning:
    variants = [replace(current, **{knob: value}) for value in values]
    means = worth.ndcg([current, *variants])[:, queries].mean(axis=1)
    now, others = means[0], means[1:]
    if others.max() < now + LEAST_GAIN:
        return current
    nearly = np.flatnonzero(others >= others.max() - LEAST_GAIN / 2).tolist()
    return variants[min(nearly, key=lambda place: _distance(current, variants[place], knob))]


def _distance(one: Tuning, other: Tuning, knob: str) -> float:
    before, after = getattr(one, knob), getattr(other, knob)
    return float(before != after) if isinstance(before, str) else abs(after - before)


def _knobs(worth: _Worth, start: Tuning) -> Iterator[tuple[str, Sequence[Any]]]:
    yield "alpha", UNIT_STEPS
    yield "entity_threshold", UNIT_STEPS
    yield "max_entities", ENTITY_NUMBERS
    if start.preset == "default":  # the seed preset has a fixed gate and parent score
        yield "gate", ("soft", "hard")
        yield "parent", ("coverage", "max")
    if worth.may_count_openings:
        yield "hotness_weight", HOTNESS_WEIGHTS


def _folds(size: int) -> list[Queries]:
    """Return the queries' positions per fold, shuffled to separate queries written together."""
    order = np.random.default_rng(SEED).permutation(size)
    return [np.sort(fold) for fold in np.array_split(order, FOLDS)]


def _mean(figures: Scores) -> float:
    return float(figures.mean()) if len(figures) else 0.0
