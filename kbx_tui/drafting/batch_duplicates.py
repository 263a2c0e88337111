"""Drafts of one batch that say the same as an earlier one, or the contrary. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.drafting.checks import FLOOR, BatchMatch
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.similarity.scoring.pair_score import likeness
from kbx_tui.similarity.scoring.thresholds import Thresholds

LEAST_COSINE = 0.35
"""Below it two texts are compared only when they are the same: none reaches the floor."""


def find_repeats(
    drafts: Sequence[Draft],
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    calibration: Calibration,
    thresholds: Thresholds,
) -> list[tuple[BatchMatch, ...]]:
    """Return for each draft the earlier ones of its entity and kind that are like it, best first.

    `texts` are those compared, `vectors` theirs, shape (drafts, dimension), unit length. Drafts
    without an entity are compared with each other. A skipped draft repeats nothing and is repeated
    by nothing: nobody writes it.
    """
    cosines = vectors @ vectors.T
    normal = [normal_form(text) for text in texts]
    found = []
    for later, draft in enumerate(drafts):
        alike = []
        for earlier in range(later):
            other, cosine = drafts[earlier], float(cosines[later, earlier])
            if not _may_repeat(draft, other):
                continue
            if cosine < LEAST_COSINE and normal[later] != normal[earlier]:
                continue
            pair = likeness(texts[later], texts[earlier], cosine, calibration)
            if pair.score < FLOOR:
                continue
            least = thresholds.of(other.kind, texts[earlier])
            alike.append(BatchMatch(other.id, texts[earlier], pair.judged(), least))
        found.append(tuple(sorted(alike, key=lambda one: -one.pair.score)))
    return found


def _may_repeat(one: Draft, other: Draft) -> bool:
    if other.choice is not None and other.choice.action == "skip":
        return False
    return one.entity_id == other.entity_id and one.kind == other.kind
