"""Facts near a text, down to a floor below any threshold, so that a slider can move it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kbx_tui.config import DedupSettings
from kbx_tui.similarity.fact_comparison import similar_rows
from kbx_tui.similarity.fact_vectors import FactVectors
from kbx_tui.similarity.matches import SimilarityMatch
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.thresholds import Thresholds, is_near


@dataclass(frozen=True, slots=True)
class NearFact:
    """A fact near a text, and the entity it belongs to."""

    match: SimilarityMatch
    """Its threshold is the configured one for its type, whatever the floor."""
    entity_id: str


def near_facts(
    text: str,
    owner: str,
    vector: NDArray[np.float32],
    facts: FactVectors,
    calibration: Calibration,
    settings: DedupSettings,
    *,
    names: dict[str, str],
    floor: float,
    limit: int,
) -> tuple[NearFact, ...]:
    """Return the facts that score at least `floor`, best first; on ties those of `owner` first.

    At most `limit` of all, plus at most `limit` that belong to the entity `owner`.
    """
    configured, lowered = Thresholds(settings), Thresholds(settings, floor)
    matches: dict[int, SimilarityMatch] = {}
    for within in [None, facts.owned_by(owner)] if owner else [None]:
        similar = similar_rows(
            text, vector, facts, calibration, lowered, names=names, limit=limit, within=within
        )
        related = [
            (row, match) for row, match in similar if match.score == 1.0 or is_near(match.signals)
        ]
        matches |= dict(related[:limit])
    near = [
        NearFact(
            replace(match, threshold=configured.of(match.match_type, match.text)),
            facts.facts[row].entity_id,
        )
        for row, match in matches.items()
    ]
    return tuple(sorted(near, key=lambda fact: (-fact.match.score, fact.entity_id != owner)))
