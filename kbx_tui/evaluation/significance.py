"""Whether two runs over the same queries differ by more than chance. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

PERMUTATIONS = 10_000
EXACT_UP_TO = 12
"""With so many queries or fewer, all signs are tried: 4,096 of them."""
BATCH = 500
SEED = 20


def randomisation_p(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the two-sided p-value of the paired randomisation test on the mean difference.

    If the runs were alike, each query's two values could as well be swapped: p is the share of such
    swaps whose mean difference is at least as large as the one seen. Same input, same p.
    Source: Smucker, Allan & Carterette 2007, https://doi.org/10.1145/1321440.1321528.
    """
    if len(before) != len(after):
        raise ValueError(f"runs have {len(before)} and {len(after)} queries")
    differences = np.asarray(after, float) - np.asarray(before, float)
    differences = differences[differences != 0.0]  # swapping equals changes nothing
    if not len(differences):
        return 1.0
    seen = abs(differences.sum()) - 1e-12
    if len(differences) <= EXACT_UP_TO:
        bits = np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1
        return float(np.mean(np.abs((1.0 - 2.0 * bits) @ differences) >= seen))
    chance, extreme = np.random.default_rng(SEED), 0
    for _ in range(PERMUTATIONS // BATCH):
        signs = chance.choice((-1.0, 1.0), size=(BATCH, len(differences)))
        extreme += int(np.count_nonzero(np.abs(signs @ differences) >= seen))
    return (extreme + 1) / (PERMUTATIONS + 1)  # what was seen is one of the possible swaps
