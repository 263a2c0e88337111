"""From claims on a topic to experts. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kbx_tui.errors import OutOfRange
from kbx_tui.experts.weights import Weight
from kbx_tui.knowledge.records import Entity, FactStatus

TOP_CLAIMS = 3
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Receipt:
    """One claim of an expert, and what it adds to the score."""

    claim_id: int | str
    """A fact's id; of a document (weight `relevance`) its id as text."""
    text: str
    date: str
    path: str
    line: int
    """1-based; 0 for a whole document."""
    status: FactStatus
    sources: tuple[str, ...]
    contribution: float
    """0 for what does not count: superseded, archived, redacted."""


@dataclass(frozen=True, slots=True)
class Expert:
    """An entity, by what is known of it on a topic."""

    entity_id: str
    name: str
    type: str
    claim_count: int
    citation_count: int
    """Distinct sources of its claims."""
    score: float
    """Sum of the contributions, to 6 places."""
    top_claim_ids: tuple[int | str, ...]
    """At most three, those that add most first."""
    receipts: tuple[Receipt, ...]
    """All that counts, what adds most first."""
    excluded: tuple[Receipt, ...]
    """What is on the topic and does not count, with the status that says why."""


@dataclass(frozen=True, slots=True)
class ExpertRanking:
    """Experts on a topic, best first."""

    topic: str
    weight: Weight
    """The one that was used: `count` when an unknown one was asked for."""
    experts: tuple[Expert, ...]
    total_matched: int
    """Experts there are without the limit."""


def rank_experts(
    topic: str,
    weight: Weight,
    receipts: Mapping[str, Iterable[Receipt]],
    entities: Mapping[str, Entity],
    *,
    limit: int,
    min_claims: int,
    counts: frozenset[FactStatus] = frozenset({"active"}),
) -> ExpertRanking:
    """Rank entities by the sum of their receipts; equal scores by id.

    Scores are summed over everything before anything is cut, so they do not depend on `limit`.
    Raises OutOfRange for a limit or min_claims below 1.
    """
    for name, number in (("limit", limit), ("min_claims", min_claims)):
        if number < 1:
            raise OutOfRange(f"{name} must be 1 or more, got {number}")
    found = []
    for entity_id, all_of_it in receipts.items():
        entity = entities.get(entity_id)
        if entity is None:
            continue
        ordered = sorted(all_of_it, key=lambda one: (-one.contribution, str(one.claim_id)))
        counting = tuple(one for one in ordered if one.status in counts)
        if len(counting) >= min_claims:
            excluded = tuple(one for one in ordered if one.status not in counts)
            found.append(_expert(entity, counting, excluded))
    found.sort(key=lambda expert: (-expert.score, expert.entity_id))
    return ExpertRanking(topic, weight, tuple(found[:limit]), len(found))


def _expert(entity: Entity, counting: tuple[Receipt, ...], excluded: tuple[Receipt, ...]) -> Expert:
    return Expert(
        entity_id=entity.id,
        name=entity.name,
        type=entity.type,
        claim_count=len(counting),
        citation_count=len({source for one in counting for source in one.sources}),
        score=round(math.fsum(one.contribution for one in counting), DIGITS),
        top_claim_ids=tuple(one.claim_id for one in counting[:TOP_CLAIMS]),
        receipts=counting,
        excluded=excluded,
    )
