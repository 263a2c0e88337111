"""Weight `relevance`: documents on a topic speak for whom they belong to. Pure.

    contribution of a document = (relevance / best relevance)^16 x link strength^2

over the ten documents most relevant to the topic. It is the document model of Balog, Azzopardi & de
Rijke 2006 (https://doi.org/10.1145/1148170.1148181) with our 0..1 relevance in place of a language
model. The powers make few documents count much: with both at 1, whoever takes part in everything
comes first. Chosen by `benchmarks/experts.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kbx_tui.experts.expert_ranking import Receipt
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.search.evidence.evidence import Evidence, LinkedDocuments

MOST_DOCUMENTS = 10
RELEVANCE_POWER = 16.0
STRENGTH_POWER = 2.0

Relevance = Mapping[int, float]
"""Row of the snapshot -> its relevance divided by the best one: above 0, at most 1."""


def most_relevant(evidence: Evidence, snapshot: Snapshot) -> Relevance:
    """Return the documents that fit a topic best; pages of entities speak through their facts."""
    pages = {entity.path for entity in snapshot.entities}
    relevance = evidence.as_typed.doc_relevance
    found: dict[int, float] = {}
    for at in np.argsort(-relevance, kind="stable").tolist():
        if len(found) == MOST_DOCUMENTS or relevance[at] <= 0.0:
            break
        path = evidence.paths[at]
        if path in snapshot.row_of and path not in pages:
            found[snapshot.row_of[path]] = float(relevance[at])
    best = max(found.values(), default=1.0)
    return {row: value / best for row, value in found.items()}


def contributions(relevance: Relevance, linked: LinkedDocuments) -> dict[int, float]:
    """Return row -> what each relevant document adds to the entity it is linked to."""
    return {
        row: relevance[row] ** RELEVANCE_POWER * strength**STRENGTH_POWER
        for row, strength in zip(linked.rows.tolist(), linked.strengths.tolist(), strict=True)
        if row in relevance and strength > 0.0
    }


def document_receipt(snapshot: Snapshot, row: int, contribution: float) -> Receipt:
    """Return the receipt of a document; it is its own source."""
    path = snapshot.paths[row]
    return Receipt(
        claim_id=snapshot.ids[row],
        text=snapshot.titles[row],
        date=snapshot.dates[row],
        path=path,
        line=0,
        status="active",
        sources=(path,),
        contribution=contribution,
    )
