"""What a claim or document contributes to the score of its entities, by weight. Pure.

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

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Literal, get_args

import numpy as np

from kbx_tui.experts.claims import Claim
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.search.evidence.evidence import Evidence, LinkedDocuments

Weight = Literal["count", "recency", "citation", "relevance"]
WEIGHTS: tuple[Weight, ...] = get_args(Weight)

MAX_DOCUMENTS = 10
RELEVANCE_POWER = 16.0
STRENGTH_POWER = 2.0

Relevance = Mapping[int, float]
"""Snapshot row -> relevance divided by the best relevance: above 0, at most 1."""


def parse_weight(name: object) -> Weight:
    """Return the weight with this name, `count` for anything else."""
    return next((weight for weight in WEIGHTS if weight == name), "count")


def contribution_function(
    weight: Weight, now: date, half_life_days: float
) -> Callable[[Claim], float]:
    """Return the function from a claim to its contribution on the day `now`, 0 or more."""
    if weight == "recency":
        return lambda claim: decay(claim.date, now, half_life_days)
    if weight == "citation":
        return lambda claim: len(set(claim.sources)) * claim.confidence
    return lambda claim: 1.0


def newest_day(days: Iterable[str], today: date) -> date:
    """Return the latest of some ISO dates that is not after `today`, or `today` without any."""
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
    """Return what each relevant document adds to the entity it is linked to, by row."""
    return {
        row: relevance[row] ** RELEVANCE_POWER * strength**STRENGTH_POWER
        for row, strength in zip(linked.rows.tolist(), linked.strengths.tolist(), strict=True)
        if row in relevance and strength > 0.0
    }
