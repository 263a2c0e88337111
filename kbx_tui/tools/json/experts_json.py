"""The JSON of experts; it is the same on every surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.experts.expert_ranking import ExpertRanking


def experts_json(ranking: ExpertRanking) -> dict[str, Any]:
    """Return what `kbx experts --json` prints: the seven fields first asked for, per row."""
    return {
        "experts": [
            {
                "entity_id": one.entity_id,
                "name": one.name,
                "type": one.type,
                "claim_count": one.claim_count,
                "citation_count": one.citation_count,
                "score": one.score,
                "top_claim_ids": list(one.top_claim_ids),
            }
            for one in ranking.experts
        ],
        "topic": ranking.topic,
        "weight": ranking.weight,
        "total_matched": ranking.total_matched,
    }
