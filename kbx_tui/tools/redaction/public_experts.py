"""Expert rankings without redacted content."""

from __future__ import annotations

from kbx_tui.api import KnowledgeBase
from kbx_tui.experts.expert_ranking import ExpertRanking, rank_experts
from kbx_tui.knowledge.records import Entity
from kbx_tui.tools.redaction.hidden_pages import NO_LIMIT, hidden_pages


def public_experts(
    kb: KnowledgeBase, topic: str, *, limit: int, min_claims: int, weight: str
) -> ExpertRanking:
    """Rank as `KnowledgeBase.experts` does, without hidden entities and documents.

    Facts on hidden pages never count. Raises as `KnowledgeBase.experts`.
    """
    ranking = kb.experts(topic, limit, min_claims=min_claims, weight=weight)
    hidden = hidden_pages(kb)
    if not hidden.ids:
        return ranking
    everyone = kb.experts(topic, NO_LIMIT, min_claims=min_claims, weight=weight).experts
    experts = [expert for expert in everyone if expert.entity_id not in hidden.ids]
    receipts = {
        expert.entity_id: [
            receipt for receipt in expert.receipts if receipt.path not in hidden.paths
        ]
        for expert in experts
    }
    entities = {
        expert.entity_id: Entity(expert.entity_id, expert.name, expert.type, "")
        for expert in experts
    }
    return rank_experts(
        topic, ranking.weight, receipts, entities, limit=limit, min_claims=min_claims
    )
