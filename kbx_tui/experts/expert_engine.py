"""Expert search over one open index; claims are read once per generation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import date
from pathlib import Path

from kbx_tui.experts.claims import Claim, read_claims
from kbx_tui.experts.expert_ranking import ExpertRanking, Receipt, rank_experts
from kbx_tui.experts.topic_matching import ClaimMatcher, Topic
from kbx_tui.experts.weights import Weight, contribution_function, contributions, most_relevant
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.open_index import OpenIndex

Receipts = defaultdict[str, list[Receipt]]
"""Receipts by entity id."""


class ExpertEngine:
    """Expert rankings from one index. Not safe for concurrent use."""

    def __init__(self, index: OpenIndex, root: Path, retrieve: Callable[[str], Evidence]) -> None:
        """Rank from `index`; `retrieve` finds documents, used only for the weight `relevance`."""
        self._index, self._root, self._retrieve = index, root, retrieve
        self._matcher: ClaimMatcher | None = None
        self._generation = -1

    def rank(
        self,
        text: str,
        weight: Weight,
        *,
        limit: int,
        min_claims: int,
        now: date,
        half_life_days: float,
    ) -> ExpertRanking:
        """Return the experts on a topic. Raises ConfigError (empty topic) and OutOfRange."""
        topic = Topic.of(text)
        generation = self._index.generation()
        if self._matcher is None or generation.number != self._generation:
            claims = read_claims(self._index, self._root)
            self._matcher = ClaimMatcher(claims, generation.snapshot.entities)
            self._generation = generation.number
        receipts: Receipts = defaultdict(list)
        contribution = contribution_function(weight, now, half_life_days)
        for position, share in self._matcher.matches(topic).items():
            claim = self._matcher.claims[position]
            factor = share if weight == "relevance" else 1.0
            receipt = _claim_receipt(claim, contribution(claim) * factor)
            for entity_id in claim.entity_ids:
                receipts[entity_id].append(receipt)
        if weight == "relevance":
            self._add_documents(receipts, topic.query)
        return rank_experts(
            text, weight, receipts, generation.entities, limit=limit, min_claims=min_claims
        )

    def _add_documents(self, receipts: Receipts, query: str) -> None:
        evidence = self._retrieve(query)
        generation = self._index.generation()
        documents = most_relevant(evidence, generation.snapshot)
        for entity in generation.snapshot.entities:
            links = generation.entity_documents
            is_person = entity.type == "person"
            linked = links.about(entity.id) if is_person else links.linked(entity.id)
            for row, added in contributions(documents, linked).items():
                receipts[entity.id].append(_document_receipt(generation.snapshot, row, added))


def _claim_receipt(claim: Claim, added: float) -> Receipt:
    return Receipt(
        claim_id=claim.fact_id,
        text=claim.text,
        date=claim.date,
        path=claim.path,
        line=claim.line,
        status=claim.status,
        sources=claim.sources,
        contribution=added if claim.status == "active" else 0.0,
    )


def _document_receipt(snapshot: Snapshot, row: int, contribution: float) -> Receipt:
    path = snapshot.paths[row]
    return Receipt(
        claim_id=snapshot.ids[row],
        text=snapshot.titles[row],
        date=snapshot.dates[row],
        path=path,
        line=0,
        status="active",
        sources=(path,),  # its own source
        contribution=contribution,
    )
