"""The bundled calibration tables, and scoring with a curve."""

from __future__ import annotations

import pytest

from kbx_tui.embedding.model_files import BUNDLED
from kbx_tui.similarity.compared_words import Signals
from kbx_tui.similarity.pair_score import Curve, calibration_of

NOTHING = Signals(0.0, 0.0, False, 0.0, False, False)


def with_cosine(cosine: float) -> Signals:
    return Signals(cosine, 0.0, False, 0.0, False, False)


CURVE = Curve(10.0, 0.0, 0.0, 0.0, -5.0, ((-5.0, 0.0), (0.0, 0.85), (5.0, 1.0)))


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [(-1.0, 0.0), (0.0, 0.0), (0.25, 0.425), (0.5, 0.85), (0.75, 0.925), (1.0, 1.0)],
)
def test_scores_are_linear_between_knots(cosine: float, expected: float) -> None:
    assert CURVE.score(with_cosine(cosine)) == pytest.approx(expected)


@pytest.mark.parametrize("form", ["label", "sentence"])
def test_the_bundled_model_is_calibrated_for_both_forms(form: str) -> None:
    curve = {str(name): found for name, found in calibration_of(BUNDLED.name).curves.items()}[form]
    sums = [total for total, _ in curve.knots]
    scores = [score for _, score in curve.knots]
    assert sums == sorted(set(sums))
    assert scores == [0.0, 0.8, 0.85, 0.9, 1.0]
    assert curve.cosine > 0.0


def test_an_unknown_model_has_no_calibration() -> None:
    assert not calibration_of("no-such-model").is_known
