from __future__ import annotations

import pytest

from kbx_tui.evaluation.metrics import randomisation_p


def test_equal_runs_have_p_value_one() -> None:
    assert randomisation_p([0.1, 0.5], [0.1, 0.5]) == 1.0
    assert randomisation_p([], []) == 1.0


def test_p_value_of_few_queries_is_exact() -> None:
    # Three equal improvements: 2 of the 8 sign assignments are as extreme.
    assert randomisation_p([0.0, 0.0, 0.0], [0.2, 0.2, 0.2]) == pytest.approx(2 / 8)
    assert randomisation_p([0.0, 0.3], [0.3, 0.0]) == 1.0


def test_p_value_of_many_queries_is_deterministic() -> None:
    before, after = [0.0] * 40, [0.1] * 40
    assert randomisation_p(before, after) == randomisation_p(after, before) < 0.001
    mixed = [0.1 if number % 2 else -0.1 for number in range(40)]
    assert randomisation_p(before, mixed) > 0.9


def test_runs_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 and 1"):
        randomisation_p([0.1, 0.2], [0.1])
