"""Ranking of entities by their claims on a topic, and what each claim or document adds. Pure.

count      share
recency    share x 2^(-age in days / half-life)
citation   share x distinct sources x confidence
relevance  share; for a document (relevance / best relevance)^16 x link strength^2

The share is that of the topic's words in the claim. Ages are counted from the newest day in the
base: in a base that nobody adds to, all claims would otherwise become equally worthless.
`relevance` adds the ten documents most relevant to the topic: the document model of Balog,
Azzopardi & de Rijke 2006 (https://doi.org/10.1145/1148170.1148181) with relevance in 0..1 in place
of a language model. The powers let a few documents dominate, or people who take part in everything
would come first. Chosen by the experiment "expert document powers" in docs/quality.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

import numpy as np

from kbx_tui.errors import OutOfRange
from kbx_tui.formatting import format_count
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity, Fact, FactStatus
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import LinkedDocuments

TOP_CLAIMS = 3
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Claim:
    fact: Fact
    """Without its `confirmed:` note; its date is that of its last confirmation, else its own, its
    page's or its file's, and may be empty."""
    about: Mapping[str, str]
    """The ids of the entities it is about, and why: empty for the owner of its page, else `named
    as lead`, `attended` or `named as source`."""
    has_file_date: bool = False
    """Whether the date is that of the file, because neither the line nor the page has one."""


@dataclass(frozen=True, slots=True)
class Receipt:
    claim_id: int | str
    """The id of a fact, or for the weight `relevance` that of a document, as text."""
    text: str
    date: str
    path: str
    line: int
    status: FactStatus
    sources: tuple[str, ...]
    contribution: float
    """0 for a claim that is superseded, archived or redacted."""
    has_file_date: bool = False
    """Whether `date` is only the day the file was changed, because nothing states one."""
    share: float = 1.0
    """Share of the topic's words that it holds, above 0 and at most 1; 1 for a document."""
    why: str = ""
    """Why a fact on the page of another counts for the expert: `named as lead`."""

    @property
    def is_partial(self) -> bool:
        return self.share < 1.0

    @property
    def is_document(self) -> bool:
        return isinstance(self.claim_id, str)


@dataclass(frozen=True, slots=True)
class Expert:
    entity_id: str
    name: str
    type: str
    claim_count: int
    citation_count: int
    score: float
    top_claim_ids: tuple[int | str, ...]
    """At most three, largest contribution first."""
    receipts: tuple[Receipt, ...]
    excluded: tuple[Receipt, ...]

    @property
    def full_claim_count(self) -> int:
        return sum(not receipt.is_partial for receipt in self.receipts)

    @property
    def counted(self) -> str:
        """What counts, in words: `5 facts, 1 document`."""
        documents = sum(receipt.is_document for receipt in self.receipts)
        counts = ((self.claim_count - documents, "fact"), (documents, "document"))
        return ", ".join(format_count(number, noun) for number, noun in counts if number)


@dataclass(frozen=True, slots=True)
class ExpertRanking:
    topic: str
    weight: Weight
    """The weight used: `count` in place of an unknown one."""
    experts: tuple[Expert, ...]
    total_matched: int
    total_below_minimum: int = 0
    """Number of entities that have claims on the topic, but fewer than the minimum."""
    in_scope: int = 0
    """Number of claims that were looked through, whatever their status."""
    notes: tuple[str, ...] = ()


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
            sources = {source for receipt in counted for source in receipt.sources}
            experts.append(
                Expert(
                    entity_id=entity.id,
                    name=entity.name,
                    type=entity.type,
                    claim_count=len(counted),
                    citation_count=len(sources),
                    score=round(math.fsum(receipt.contribution for receipt in counted), DIGITS),
                    top_claim_ids=tuple(receipt.claim_id for receipt in counted[:TOP_CLAIMS]),
                    receipts=counted,
                    excluded=excluded,
                )
            )
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


Weight = Literal["count", "recency", "citation", "relevance"]
WEIGHTS: tuple[Weight, ...] = get_args(Weight)

MAX_DOCUMENTS = 10
RELEVANCE_POWER = 16.0
STRENGTH_POWER = 2.0

Relevance = Mapping[int, float]
"""Snapshot row -> relevance divided by the best relevance: above 0, at most 1."""


def parse_weight(name: object) -> Weight:
    return next((weight for weight in WEIGHTS if weight == name), "count")


def contribution_function(
    weight: Weight, now: date, half_life_days: float
) -> Callable[[Claim], float]:
    if weight == "recency":
        return lambda claim: decay(claim.fact.date, now, half_life_days)
    if weight == "citation":
        return lambda claim: len(set(claim.fact.sources)) * claim.fact.confidence
    return lambda claim: 1.0


def newest_day(days: Iterable[str], today: date) -> date:
    """Return the latest of some ISO dates that is not after `today`; `today` if there is none."""
    last = today.isoformat()
    return date.fromisoformat(max((day for day in days if day and day <= last), default=last))


def decay(day: str, now: date, half_life_days: float) -> float:
    """Return 2^(-age / half-life): 1 for today and later days, 0 without a date."""
    if not day:
        return 0.0
    age = max((now - date.fromisoformat(day)).days, 0)
    return float(2.0 ** (-age / half_life_days))


def most_relevant(evidence: Evidence, snapshot: Snapshot) -> Relevance:
    """Return the most relevant documents, except entity pages, which count through their facts."""
    pages = {entity.path for entity in snapshot.entities}
    relevance = evidence.as_typed.doc_relevance
    best_rows: dict[int, float] = {}
    for position in np.argsort(-relevance, kind="stable").tolist():
        if len(best_rows) == MAX_DOCUMENTS or relevance[position] <= 0.0:
            break
        path = evidence.paths[position]
        if path in snapshot.row_of and path not in pages:
            best_rows[snapshot.row_of[path]] = float(relevance[position])
    best = max(best_rows.values(), default=1.0)
    return {row: value / best for row, value in best_rows.items()}


def contributions(relevance: Relevance, linked: LinkedDocuments) -> dict[int, float]:
    return {
        row: relevance[row] ** RELEVANCE_POWER * strength**STRENGTH_POWER
        for row, strength in zip(linked.rows.tolist(), linked.strengths.tolist(), strict=True)
        if row in relevance and strength > 0.0
    }
