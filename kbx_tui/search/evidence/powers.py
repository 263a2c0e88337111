"""Powers of scores. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Scores


def power(scores: Scores, exponent: float) -> Scores:
    """Return scores, 0 or more, to a power of 1 or more, shape (n,).

    That of a higher score is never lower. Multiples of one half take products and a square root,
    which is several times as fast as what numpy does for any power.
    """
    times, is_half = divmod(exponent, 1.0)
    if is_half not in (0.0, 0.5):
        return scores**exponent
    product = scores * np.sqrt(scores) if is_half else scores
    for _ in range(int(times) - 1):
        product = product * scores
    return product
