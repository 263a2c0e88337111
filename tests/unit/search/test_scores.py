"""Powers of scores agree with those of numpy and keep the order of scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.scores import power, scale_cosine

EXPONENTS = (1, 1.25, 1.5, 2, 2.5, 3, 4)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_are_those_of_numpy(exponent: float) -> None:
    scores = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(power(scores, exponent), scores**exponent, rtol=1e-15)


@given(st.lists(st.floats(0.0, 1.0), max_size=20), st.sampled_from(EXPONENTS))
def test_the_power_of_a_higher_score_is_not_lower(values: list[float], exponent: float) -> None:
    powers = power(np.array(sorted(values)), exponent)
    assert (np.diff(powers) >= 0.0).all()


def test_missing_and_negative_cosines_become_0() -> None:
    cosine = np.array([np.nan, -np.inf, -0.2, 0.0, 0.4, 1.0001, np.inf])
    assert scale_cosine(cosine).tolist() == [0.0, 0.0, 0.0, 0.0, 0.4, 1.0, 1.0]
