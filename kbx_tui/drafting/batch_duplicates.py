"""Drafts of one batch that repeat or contradict an earlier one. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from kbx_tui.drafting.checks import BatchMatch
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.similarity.scoring.pair_score import score_pair
from kbx_tui.similarity.scoring.thresholds import FLOOR, Thresholds, is_near

MIN_COSINE = 0.35
"""Pairs below it are compared only when their texts are equal: no other pair reaches the floor."""
MAX_COMPARED = 50
"""Earlier drafts that one is compared with."""


def find_batch_duplicates(
    drafts: Sequence[Draft],
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    calibration: Calibration,
    thresholds: Thresholds,
) -> list[tuple[BatchMatch, ...]]:
    """Return for each draft the similar earlier ones of its entity, best first.

    `texts` are the compared texts and `vectors` their unit vectors, shape (drafts, dimension).
    Drafts without an entity are compared with each other. Drafts to be skipped are not matched,
    since they are not written. In a long batch, a draft is compared with the nearest earlier ones.
    """
    normal_forms = [normal_form(text) for text in texts]
    earlier_of = defaultdict[str, list[int]](list)
    duplicates = []
    for later, draft in enumerate(drafts):
        rows = earlier_of[draft.entity_id]
        cosines = (vectors[rows] @ vectors[later]).tolist()
        candidates = [
            (cosine, earlier)
            for cosine, earlier in zip(cosines, rows, strict=True)
            if cosine >= MIN_COSINE or normal_forms[later] == normal_forms[earlier]
        ]
        nearest = nlargest(MAX_COMPARED, candidates, key=itemgetter(0))
        matches = []
        for cosine, earlier in sorted(nearest, key=itemgetter(1)):
            other = drafts[earlier]
            pair = score_pair(texts[later], texts[earlier], cosine, calibration)
            if pair.score >= FLOOR and is_near(pair):
                threshold = thresholds.of(other.kind, texts[earlier])
                similarity = pair.with_conflicts()
                matches.append(BatchMatch(other.id, other.text, similarity, threshold))
        if draft.choice is None or draft.choice.action != "skip":
            rows.append(later)
        duplicates.append(tuple(sorted(matches, key=lambda match: -match.pair.score)))
    return duplicates
