from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.evaluation.metrics import (
    bootstrap_band,
    bootstrap_interval,
    holm,
    paired_difference,
    queries_needed,
    randomisation_p,
    sign_test_p,
)

unit = st.floats(0.0, 1.0)


def test_p_value_is_one_for_equal_runs_and_exact_for_few_queries() -> None:
    assert randomisation_p([0.1, 0.5], [0.1, 0.5]) == 1.0
    assert randomisation_p([], []) == 1.0

    assert randomisation_p([0.0, 0.0, 0.0], [0.2, 0.2, 0.2]) == pytest.approx(2 / 8)
    assert randomisation_p([0.0, 0.3], [0.3, 0.0]) == 1.0

    before, after = [0.0] * 40, [0.1] * 40
    assert randomisation_p(before, after) == randomisation_p(after, before) < 0.001
    mixed = [0.1 if number % 2 else -0.1 for number in range(40)]
    assert randomisation_p(before, mixed) > 0.9

    with pytest.raises(ValueError, match="2 and 1"):
        randomisation_p([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="no query"):
        paired_difference([], [])


def test_the_band_of_many_settings_agrees_with_the_interval_of_each() -> None:
    values = np.random.default_rng(1).random((3, 40))
    band = bootstrap_band(values)
    assert band.shape == (3, 2)
    for row, (low, high) in zip(values, band, strict=True):
        assert (low, high) == pytest.approx(bootstrap_interval(row.tolist()), abs=0.02)
    assert bootstrap_band(values[:, :1]).tolist() == [[value, value] for value in values[:, 0]]


@given(st.lists(unit, min_size=2, max_size=30))
def test_the_interval_is_within_the_values_and_holds_their_mean(values: list[float]) -> None:
    interval = bootstrap_interval(values)
    assert interval is not None
    low, high = interval
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert bootstrap_interval(values) == interval
    if len(set(values)) > 1 and len(values) > 5:
        assert low <= fmean(values) <= high or high - low < 1e-6


def test_the_interval_agrees_with_the_normal_one_for_many_values() -> None:
    values = [number / 400 for number in range(401)]  # deviation .2894, standard error .01447
    interval = bootstrap_interval(values)
    assert interval == pytest.approx((0.5 - 1.96 * 0.01447, 0.5 + 1.96 * 0.01447), abs=1e-3)
    assert bootstrap_interval([0.5]) is None
    assert bootstrap_interval([]) is None


def test_holm_adjusts_by_rank_and_never_decreases() -> None:
    # .01 x 3, .02 x 2 and .04, which may not be below the one before.
    assert holm([0.01, 0.04, 0.02]) == pytest.approx((0.03, 0.04, 0.04))
    assert holm([0.6, 0.7]) == (1.0, 1.0)
    assert holm([0.2]) == (0.2,)
    assert holm([]) == ()


@given(st.lists(unit, max_size=8))
def test_holm_keeps_the_order_and_is_between_the_p_value_and_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    for value, new in zip(p, adjusted, strict=True):
        assert value <= new <= 1.0
        assert new <= max(min(1.0, len(p) * other) for other in p if other <= value)
    order = sorted(range(len(p)), key=p.__getitem__)
    assert [adjusted[place] for place in order] == sorted(adjusted)


def test_queries_needed_follow_the_textbook_formula_where_some_differ() -> None:
    differences = [0.1 * sign for sign in (1, -1)] * 500
    assert queries_needed(differences) == 199
    # Four times the difference needs a sixteenth: 12.3 + 1.92 = 14.2.
    assert queries_needed(differences, 0.08) == 15

    assert queries_needed([0.0, 0.0, 0.0]) is None
    assert queries_needed([0.1]) is None


def test_a_difference_counts_wins_ties_and_losses() -> None:
    difference = paired_difference([0.5, 0.5, 0.5, 0.2], [0.7, 0.5 + 1e-15, 0.4, 0.4])
    assert (difference.wins, difference.ties, difference.losses) == (2, 1, 1)
    assert difference.mean == pytest.approx(0.075)
    assert difference.interval is not None
    assert difference.interval[0] < 0.075 < difference.interval[1]
    assert difference.p == pytest.approx(4 / 8)  # +.2 -.1 +.2: all + (2), one of each -.1 (2)
    assert difference.more_queries is not None
    assert difference.more_queries > 100


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (0, 6, 2 / 64), (3, 3, 1.0), (8, 2, 112 / 1024)],
)
def test_the_sign_test_is_a_two_sided_binomial_test(wins: int, losses: int, p: float) -> None:
    assert sign_test_p(wins, losses) == pytest.approx(p)
