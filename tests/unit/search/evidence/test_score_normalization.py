"""Raw scores are normalized to 0..1."""

from __future__ import annotations

import numpy as np

from kbx_tui.search.evidence.scores import scale_cosine


def test_missing_and_negative_cosines_become_0() -> None:
    cosine = np.array([np.nan, -np.inf, -0.2, 0.0, 0.4, 1.0001, np.inf])
    assert scale_cosine(cosine).tolist() == [0.0, 0.0, 0.0, 0.0, 0.4, 1.0, 1.0]
