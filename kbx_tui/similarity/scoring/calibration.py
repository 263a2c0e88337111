"""Calibration: maps signals to a score that means the same for every embedding model.

Per model and form of text, a table holds the weights of the signals and four knots. The weighted
sum is a logistic regression on labelled pairs; the knots tie it to the thresholds:

    .85  best F1 on those pairs
    .80  more recall, with F1 within 4 % of its best
    .90  more precision, with F1 within 4 % of its best

Between knots the score is linear in the sum, so it is monotone in every signal with a positive
weight. `scripts/calibrate_similarity.py` makes the tables.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kbx_tui.similarity.scoring.signals import Form, Signals

TABLES = Path(__file__).parent / "calibration.json"

DISTINCT, BELOW = 0.84, 0.009
"""Cap for labels that are `distinct`, and the range above it that keeps their order: `Platform &
Infrastructure` is close to `Platform`, but not a duplicate."""

NEARLY_ONE = 0.999
"""Highest score of texts that differ: 1 means identical."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Weights and knots that turn the signals of one form of text into a score."""

    cosine: float
    tokens: float
    shares_word: float
    spelling: float
    bias: float
    """Weights of the signals, and the bias of the sum."""
    knots: tuple[tuple[float, float], ...]
    """(sum, score) pairs, ascending; the first score is 0, the last 1."""

    def sum(self, signals: Signals) -> float:
        """Return the weighted sum of the signals."""
        return (
            self.cosine * signals.cosine
            + self.tokens * signals.tokens
            + self.shares_word * signals.shares_word
            + self.spelling * signals.spelling
            + self.bias
        )

    def score(self, signals: Signals) -> float:
        """Return the score, 0..1."""
        total = self.sum(signals)
        position = bisect_right(self.knots, (total, float("inf")))
        if position == 0:
            return self.knots[0][1]
        if position == len(self.knots):
            return self.knots[-1][1]
        (low, below), (high, above) = self.knots[position - 1], self.knots[position]
        return below + (above - below) * (total - low) / (high - low)

    def least_cosine(self, score: float) -> float:
        """Return a cosine below which no pair reaches `score`, whatever its other signals."""
        position = next(i for i, knot in enumerate(self.knots) if knot[1] >= score)
        (high, above) = self.knots[position]
        (low, below) = self.knots[max(position - 1, 0)]
        total = high if above == below else low + (high - low) * (score - below) / (above - below)
        most = max(0.0, self.tokens + self.shares_word) + max(0.0, self.spelling) + self.bias
        return (total - most) / self.cosine


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curves of one embedding model; without any, the score is the raw cosine."""

    model: str
    curves: Mapping[Form, Curve]

    @property
    def is_known(self) -> bool:
        """Whether this model has been calibrated."""
        return bool(self.curves)

    def score(self, signals: Signals, form: Form) -> float:
        """Return the score of two texts that differ, 0..0.999."""
        curve = self.curves.get(form)
        score = curve.score(signals) if curve else signals.cosine
        if form == "label" and signals.distinct and score > DISTINCT:
            score = DISTINCT + BELOW * (score - DISTINCT) / (1.0 - DISTINCT)
        return min(max(score, 0.0), NEARLY_ONE)

    def least_cosine(self, score: float) -> float:
        """Return a cosine below which no pair reaches `score`."""
        return min((curve.least_cosine(score) for curve in self.curves.values()), default=score)


def calibration_of(model: str) -> Calibration:
    """Return the calibration of a model by name; without curves when there is none."""
    return Calibration(model, _tables().get(model, {}))


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[Form, Curve]]:
    raw = json.loads(TABLES.read_text(encoding="utf-8"))
    return {
        model: {
            form: Curve(**table["weights"], knots=tuple(map(tuple, table["knots"])))
            for form, table in forms.items()
        }
        for model, forms in raw["models"].items()
    }
