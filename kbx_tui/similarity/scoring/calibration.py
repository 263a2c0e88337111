"""From signals to a score that means the same for every model: the calibration tables. Pure.

Per embedder and form of text a table holds the weights of the signals and four knots. The weighted
sum is a logistic regression on labelled pairs; the knots give it the meaning of the thresholds:

    .85  best F1 on those pairs
    .80  more recall, as far as F1 stays within 4 % of its best
    .90  more precision, as far as F1 stays within 4 % of its best

Between knots a score is linear in the sum, so it is monotone in every signal of positive weight.
`scripts/calibrate_similarity.py` makes the tables.
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
"""Labels that are `distinct` and would score more than .84 score .84 to .849, in their order:
`Platform & Infrastructure` is near `Platform`, and another one."""

NEARLY_ONE = 0.999
"""Most that texts can score that are not the same: 1 means identical."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How signals of one form of text become a score."""

    cosine: float
    tokens: float
    shares_word: float
    spelling: float
    bias: float
    """Weights of the sum."""
    knots: tuple[tuple[float, float], ...]
    """Sums, ascending, and the score each stands for; first 0, last 1."""

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
        at = bisect_right(self.knots, (total, float("inf")))
        if at == 0:
            return self.knots[0][1]
        if at == len(self.knots):
            return self.knots[-1][1]
        (low, below), (high, above) = self.knots[at - 1], self.knots[at]
        return below + (above - below) * (total - low) / (high - low)

    def least_cosine(self, score: float) -> float:
        """Return a cosine below which no two texts reach `score`, whatever else they share."""
        at = next(i for i, knot in enumerate(self.knots) if knot[1] >= score)
        (high, above) = self.knots[at]
        (low, below) = self.knots[max(at - 1, 0)]
        total = high if above == below else low + (high - low) * (score - below) / (above - below)
        most = max(0.0, self.tokens + self.shares_word) + max(0.0, self.spelling) + self.bias
        return (total - most) / self.cosine


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curves of one embedder; without any, a score is the raw cosine."""

    model: str
    curves: Mapping[Form, Curve]

    @property
    def is_known(self) -> bool:
        """False when this embedder was never calibrated: scores are raw cosines."""
        return bool(self.curves)

    def score(self, signals: Signals, form: Form) -> float:
        """Return the score of two texts that are not the same, 0..0.999."""
        known = self.curves.get(form)
        score = known.score(signals) if known else signals.cosine
        if form == "label" and signals.distinct and score > DISTINCT:
            score = DISTINCT + BELOW * (score - DISTINCT) / (1.0 - DISTINCT)
        return min(max(score, 0.0), NEARLY_ONE)

    def least_cosine(self, score: float) -> float:
        """Return a cosine below which no two texts reach `score`."""
        return min((curve.least_cosine(score) for curve in self.curves.values()), default=score)


def calibration_of(model: str) -> Calibration:
    """Return the calibration of an embedder by its name, without curves when it has none."""
    return Calibration(model, _tables().get(model, {}))


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[Form, Curve]]:
    raw = json.loads(TABLES.read_text(encoding="utf-8"))
    return {
        model: {
            form: Curve(**found["weights"], knots=tuple(map(tuple, found["knots"])))
            for form, found in forms.items()
        }
        for model, forms in raw["models"].items()
    }
