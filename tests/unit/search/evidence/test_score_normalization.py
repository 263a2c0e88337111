"""From raw scores to 0..1."""

from __future__ import annotations

import numpy as np

from kbx_tui.search.evidence.score_normalization import scale_cosine


def test_a_cosine_that_is_missing_or_below_0_counts_nothing() -> None:
    cosine = np.array([np.nan, -np.inf, -0.2, 0.0, 0.4, 1.0001, np.inf])
    assert scale_cosine(cosine).tolist() == [0.0, 0.0, 0.0, 0.0, 0.4, 1.0, 1.0]
