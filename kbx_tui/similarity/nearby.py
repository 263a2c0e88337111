"""What is near a text, far below any threshold: for somebody who will move the threshold. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kbx_tui.config import DedupSettings
from kbx_tui.similarity.fact_comparison import rows_alike
from kbx_tui.similarity.fact_vectors import Remembered
from kbx_tui.similarity.matches import SimilarityMatch
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.thresholds import Thresholds, is_near


@dataclass(frozen=True, slots=True)
class NearFact:
    """A fact like a text, and whose it is."""

    match: SimilarityMatch
    """Its threshold is that of its type, whatever the floor was."""
    entity_id: str


def near_facts(
    text: str,
    owner: str,
    vector: NDArray[np.float32],
    memory: Remembered,
    calibration: Calibration,
    settings: DedupSettings,
    *,
    names: dict[str, str],
    floor: float,
    limit: int,
) -> tuple[NearFact, ...]:
    """Return the facts that score `floor` or more, best first, those of `owner` before others.

    At most `limit` of all, and as many of those that belong to the entity `owner`.
    """
    usual, low = Thresholds(settings), Thresholds(settings, floor)
    alike: dict[int, SimilarityMatch] = {}
    for within in [None, memory.owned_by(owner)] if owner else [None]:
        found = rows_alike(
            text, vector, memory, calibration, low, names=names, limit=limit, within=within
        )
        related = [(row, one) for row, one in found if one.score == 1.0 or is_near(one.signals)]
        alike |= dict(related[:limit])
    near = [
        NearFact(
            replace(match, threshold=usual.of(match.match_type, match.text)),
            memory.facts[row].entity_id,
        )
        for row, match in alike.items()
    ]
    return tuple(sorted(near, key=lambda one: (-one.match.score, one.entity_id != owner)))
