"""Ranking of entities by their claims on a topic. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kbx_tui.errors import OutOfRange
from kbx_tui.experts.weights import Weight
from kbx_tui.knowledge.records import Entity, FactStatus

TOP_CLAIMS = 3
DIGITS = 6
"""Decimal places of a score."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One claim of an expert and its contribution to the score."""

    claim_id: int | str
    """The id of a fact, or for the weight `relevance` that of a document, as text."""
    text: str
    date: str
    path: str
    line: int
    """1-based; 0 for a whole document."""
    status: FactStatus
    sources: tuple[str, ...]
    contribution: float
    """0 for a claim that is superseded, archived or redacted."""
    has_file_date: bool = False
    """Whether `date` is only the day the file was changed, because nothing states one."""
    share: float = 1.0
    """Share of the topic's words that it holds, above 0 and at most 1; 1 for a document."""

    @property
    def is_partial(self) -> bool:
        """Whether it holds only some of the topic's words."""
        return self.share < 1.0


@dataclass(frozen=True, slots=True)
class Expert:
    """An entity ranked by its claims on a topic."""

    entity_id: str
    name: str
    type: str
    claim_count: int
    citation_count: int
    """Distinct sources of its claims."""
    score: float
    """Sum of the contributions, rounded to 6 places."""
    top_claim_ids: tuple[int | str, ...]
    """At most three, largest contribution first."""
    receipts: tuple[Receipt, ...]
    """All claims that count, largest contribution first."""
    excluded: tuple[Receipt, ...]
    """Claims on the topic that do not count because of their status."""

    @property
    def full_claim_count(self) -> int:
        """Number of claims that hold every word of the topic."""
        return sum(not receipt.is_partial for receipt in self.receipts)


@dataclass(frozen=True, slots=True)
class ExpertRanking:
    """Experts on a topic, best first."""

    topic: str
    weight: Weight
    """The weight used: `count` in place of an unknown one."""
    experts: tuple[Expert, ...]
    total_matched: int
    """Number of experts without the limit."""
    total_below_minimum: int = 0
    """Number of entities that have claims on the topic, but fewer than the minimum."""
    is_relative: bool = False
    """Whether ages were counted from the newest day in the base, because that is not today."""
    in_scope: int = 0
    """Number of claims that were looked through, whatever their status."""
    notes: tuple[str, ...] = ()
    """Sentences for the user: an unknown weight, missing dates, why nobody was found."""


def rank_experts(
    topic: str,
    weight: Weight,
    receipts: Mapping[str, Iterable[Receipt]],
    entities: Mapping[str, Entity],
    *,
    limit: int,
    min_claims: int,
) -> ExpertRanking:
    """Rank entities by the sum of their contributions; ties by id.

    Entities with a claim that holds the whole topic precede those known for parts of it, except for
    the weight `relevance`, where documents add to claims.
    Scores are computed before the limit applies, so they do not depend on it.
    Raises OutOfRange for a limit or min_claims below 1.
    """
    for name, number in (("limit", limit), ("min_claims", min_claims)):
        if number < 1:
            raise OutOfRange(f"{name} must be 1 or more, got {number}")
    experts, below = [], 0
    for entity_id, claims in receipts.items():
        if (entity := entities.get(entity_id)) is None:
            continue
        ordered = sorted(claims, key=lambda claim: (-claim.contribution, str(claim.claim_id)))
        counted = tuple(receipt for receipt in ordered if receipt.status == "active")
        if len(counted) >= min_claims:
            excluded = tuple(receipt for receipt in ordered if receipt.status != "active")
            experts.append(_expert(entity, counted, excluded))
        else:
            below += bool(counted)
    by_share = weight == "relevance"
    experts.sort(
        key=lambda expert: (
            not (by_share or expert.full_claim_count),
            -expert.score,
            expert.entity_id,
        )
    )
    return ExpertRanking(topic, weight, tuple(experts[:limit]), len(experts), below)


def _expert(entity: Entity, counted: tuple[Receipt, ...], excluded: tuple[Receipt, ...]) -> Expert:
    return Expert(
        entity_id=entity.id,
        name=entity.name,
        type=entity.type,
        claim_count=len(counted),
        citation_count=len({source for receipt in counted for source in receipt.sources}),
        score=round(math.fsum(receipt.contribution for receipt in counted), DIGITS),
        top_claim_ids=tuple(receipt.claim_id for receipt in counted[:TOP_CLAIMS]),
        receipts=counted,
        excluded=excluded,
    )
