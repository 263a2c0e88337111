"""Experts with what is redacted taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbx_tui.experts.expert_ranking import ExpertRanking, rank_experts
from kbx_tui.knowledge.records import Entity
from kbx_tui.tools.redaction.withheld import withheld

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

_ALL = 10**9
"""More than there are: no limit."""


def public_experts(
    kb: KnowledgeBase, topic: str, *, limit: int, min_claims: int, weight: str
) -> ExpertRanking:
    """Rank as `KnowledgeBase.experts` does, entities and documents that are withheld left out.

    Facts of pages withheld count nowhere in any case. Raises as that one.
    """
    ranking = kb.experts(topic, limit, min_claims=min_claims, weight=weight)
    hidden = withheld(kb)
    if not hidden.ids:
        return ranking
    every = kb.experts(topic, _ALL, min_claims=min_claims, weight=weight).experts
    known = [one for one in every if one.entity_id not in hidden.ids]
    receipts = {
        one.entity_id: [kept for kept in one.receipts if kept.path not in hidden.paths]
        for one in known
    }
    entities = {one.entity_id: Entity(one.entity_id, one.name, one.type, "") for one in known}
    return rank_experts(
        topic, ranking.weight, receipts, entities, limit=limit, min_claims=min_claims
    )
