"""Expert rankings without redacted content."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.experts.expert_ranking import Expert, ExpertRanking, Receipt, rank_experts
from kbx_tui.knowledge.records import Entity
from kbx_tui.tools.redaction.visible_pages import NO_LIMIT, VisiblePages


def public_experts(
    kb: KnowledgeBase,
    pages: VisiblePages,
    topic: str,
    *,
    limit: int,
    min_claims: int,
    weight: Any,
    people: bool,
) -> ExpertRanking:
    """Rank as `KnowledgeBase.experts` does, without hidden entities and redacted claims.

    A claim counts only if its page still states it openly. Only the claims of the experts that are
    returned are looked at. Raises as `KnowledgeBase.experts`.
    """
    ranking = kb.experts(topic, limit, min_claims=min_claims, weight=weight, people=people)
    if all(_is_unchanged(expert, pages) for expert in ranking.experts):
        return ranking
    everyone = kb.experts(topic, NO_LIMIT, min_claims=1, weight=weight, people=people).experts
    experts = {expert.entity_id: expert for expert in everyone}
    entities = {
        expert.entity_id: Entity(expert.entity_id, expert.name, expert.type, "")
        for expert in everyone
    }
    claims = {expert.entity_id: [*expert.receipts, *expert.excluded] for expert in everyone}
    found = ranking
    while True:
        ranking = rank_experts(
            found.topic, ranking.weight, claims, entities, limit=limit, min_claims=min_claims
        )
        changed = [expert for expert in ranking.experts if not _is_unchanged(expert, pages)]
        if not changed:
            return replace(ranking, in_scope=found.in_scope, notes=found.notes)
        for expert in changed:
            claims[expert.entity_id] = _public_claims(experts[expert.entity_id], pages)


def _is_unchanged(expert: Expert, pages: VisiblePages) -> bool:
    return len(_public_claims(expert, pages)) == len(expert.receipts)


def _public_claims(expert: Expert, pages: VisiblePages) -> list[Receipt]:
    """Return the claims that count and are public; none of a hidden entity."""
    if not pages.is_visible_id(expert.entity_id):
        return []
    return [receipt for receipt in expert.receipts if _is_public(receipt, pages)]


def _is_public(receipt: Receipt, pages: VisiblePages) -> bool:
    page = pages.page(receipt.path)
    if page is None:
        return False
    if pages.is_open(page) or not receipt.line:  # a whole document counts by its relevance
        return True
    return any(fact.text == receipt.text and fact.status == "active" for fact in page.facts)
