from __future__ import annotations

import pytest

from kbx_tui.evaluation.significance import randomisation_p


def test_equal_runs_do_not_differ() -> None:
    assert randomisation_p([0.1, 0.5], [0.1, 0.5]) == 1.0
    assert randomisation_p([], []) == 1.0


def test_few_queries_are_tested_exactly() -> None:
    # Three queries better by the same: 2 of the 8 swaps are as extreme.
    assert randomisation_p([0.0, 0.0, 0.0], [0.2, 0.2, 0.2]) == pytest.approx(2 / 8)
    assert randomisation_p([0.0, 0.3], [0.3, 0.0]) == 1.0


def test_many_queries_are_sampled_the_same_way_each_time() -> None:
    before, after = [0.0] * 40, [0.1] * 40
    assert randomisation_p(before, after) == randomisation_p(after, before) < 0.001
    mixed = [0.1 if number % 2 else -0.1 for number in range(40)]
    assert randomisation_p(before, mixed) > 0.9


def test_runs_of_different_queries_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="2 and 1"):
        randomisation_p([0.1, 0.2], [0.1])
