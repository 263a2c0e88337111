"""Experts from one open index: claims read once per generation, ranked per question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from kbx_tui.experts.claim_matcher import Matcher
from kbx_tui.experts.claims import Claim, read_claims
from kbx_tui.experts.document_evidence import contributions, document_receipt, most_relevant
from kbx_tui.experts.expert_ranking import ExpertRanking, Receipt, rank_experts
from kbx_tui.experts.topic import Topic
from kbx_tui.experts.weights import Weight, contribution
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.open_index import OpenIndex

Receipts = dict[str, list[Receipt]]


class ExpertEngine:
    """Answers from one index. For one thread at a time."""

    def __init__(self, index: OpenIndex, root: Path, retrieve: Callable[[str], Evidence]) -> None:
        """`retrieve` finds the documents for a topic; only the weight `relevance` asks it."""
        self._index, self._root, self._retrieve = index, root, retrieve
        self._matcher: Matcher | None = None
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
        loaded = self._index.loaded()
        receipts: Receipts = {}
        worth = contribution(weight, now, half_life_days)
        matcher = self._ready()
        for at, share in matcher.matches(topic).items():
            claim = matcher.claims[at]
            adds = worth(claim) * (share if weight == "relevance" else 1.0)
            _credit(receipts, claim.entity_ids, _receipt(claim, adds))
        if weight == "relevance":
            self._add_documents(receipts, topic.query)
        return rank_experts(
            text, weight, receipts, loaded.entities, limit=limit, min_claims=min_claims
        )

    def _ready(self) -> Matcher:
        loaded = self._index.loaded()
        if self._matcher is None or loaded.generation != self._generation:
            claims = read_claims(self._index, self._root)
            self._matcher = Matcher(claims, loaded.snapshot.entities)
            self._generation = loaded.generation
        return self._matcher

    def _add_documents(self, receipts: Receipts, query: str) -> None:
        evidence = self._retrieve(query)
        loaded = self._index.loaded()
        documents = most_relevant(evidence, loaded.snapshot)
        for entity in loaded.snapshot.entities:
            is_person = entity.type == "person"
            linked = loaded.about(entity.id) if is_person else loaded.linked(entity.id)
            for row, adds in contributions(documents, linked).items():
                _credit(receipts, (entity.id,), document_receipt(loaded.snapshot, row, adds))


def _credit(receipts: Receipts, entity_ids: Iterable[str], receipt: Receipt) -> None:
    for entity_id in entity_ids:
        receipts.setdefault(entity_id, []).append(receipt)


def _receipt(claim: Claim, adds: float) -> Receipt:
    return Receipt(
        claim_id=claim.fact_id,
        text=claim.text,
        date=claim.date,
        path=claim.path,
        line=claim.line,
        status=claim.status,
        sources=claim.sources,
        contribution=adds if claim.is_live else 0.0,
    )
