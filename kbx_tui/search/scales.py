"""From raw scores to the one scale 0..1 that does not depend on the pool, and their fusion.

The constants of ranking stand here, each with the figure that chose it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence import Scores

LEXICAL_HALF = 5.0
"""BM25 at which the lexical score is .5: nDCG@10 .875 on tc39-none person+project with the
saturating blend against .785 with rank fusion."""

LEXICAL_WEIGHT = 0.7
"""Share of the lexical score in doc_relevance, chosen with LEXICAL_HALF."""

MENTION_FLOOR, MENTION_GAIN, MENTION_SCALE = 0.5, 0.4, 3.0
"""Strength of a link by mentions: .5 + .4 (1 - exp(-count / 3))."""


def scale_lexical(raw_lexical: Scores) -> Scores:
    """Return BM25 on 0..1: `b / (b + 5)`, a saturation as in BM25's own term frequency."""
    return raw_lexical / (raw_lexical + LEXICAL_HALF)


def scale_cosine(cosine: Scores) -> Scores:
    """Return the cosine on 0..1: negative and missing ones are 0."""
    return np.clip(np.nan_to_num(cosine, nan=0.0), 0.0, 1.0)


def fuse(lexical: Scores, vector: Scores, lexical_weight: float) -> Scores:
    """Return `w * lexical + (1 - w) * vector`, a convex combination.

    Source: Bruch, Gai & Ingber 2023, https://doi.org/10.1145/3596512.
    """
    return lexical_weight * lexical + (1.0 - lexical_weight) * vector


def mention_strength(counts: NDArray[np.int32]) -> Scores:
    """Return the strength of links by mentions, shape (n,), .5..0.9, growing with the count."""
    return MENTION_FLOOR + MENTION_GAIN * (1.0 - np.exp(-counts / MENTION_SCALE))
