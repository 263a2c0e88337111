"""Drafts of one batch that repeat or contradict an earlier one. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.drafting.checks import FLOOR, BatchMatch
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.similarity.scoring.pair_score import score_pair
from kbx_tui.similarity.scoring.thresholds import Thresholds

MIN_COSINE = 0.35
"""Pairs below it are compared only when their texts are equal: no other pair reaches the floor."""


def find_batch_duplicates(
    drafts: Sequence[Draft],
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    calibration: Calibration,
    thresholds: Thresholds,
) -> list[tuple[BatchMatch, ...]]:
    """Return for each draft the similar earlier ones of its entity and kind, best first.

    `texts` are the compared texts and `vectors` their unit vectors, shape (drafts, dimension).
    Drafts without an entity are compared with each other. Drafts to be skipped are not matched,
    since they are not written.
    """
    cosines = vectors @ vectors.T
    normal_forms = [normal_form(text) for text in texts]
    duplicates = []
    for later, draft in enumerate(drafts):
        matches = []
        for earlier, other in enumerate(drafts[:later]):
            is_skipped = other.choice is not None and other.choice.action == "skip"
            if is_skipped or (draft.entity_id, draft.kind) != (other.entity_id, other.kind):
                continue
            cosine = float(cosines[later, earlier])
            if cosine < MIN_COSINE and normal_forms[later] != normal_forms[earlier]:
                continue
            pair = score_pair(texts[later], texts[earlier], cosine, calibration)
            if pair.score >= FLOOR:
                threshold = thresholds.of(other.kind, texts[earlier])
                similarity = pair.with_conflicts()
                matches.append(BatchMatch(other.id, texts[earlier], similarity, threshold))
        duplicates.append(tuple(sorted(matches, key=lambda match: -match.pair.score)))
    return duplicates
