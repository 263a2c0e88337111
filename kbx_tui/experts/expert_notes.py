"""Notes on an expert ranking: what was not counted, and why nobody was found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kbx_tui.experts.expert_ranking import ExpertRanking
from kbx_tui.experts.weights import WEIGHTS
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.results.notes import cut_query_notes, vector_notes, wide_scope_notes

NAME_SHOWN = 40
"""Characters of an unknown weight that are quoted."""


def with_notes(
    ranking: ExpertRanking,
    topic: str,
    weight: Any,
    evidence: Evidence | None,
    outdated: Sequence[str],
) -> ExpertRanking:
    """Return a ranking with its notes.

    `topic` and `weight` are those asked for, `evidence` what a ranking by relevance is based on,
    `outdated` what the index lacks.
    """
    notes = [*cut_query_notes(topic), *_unknown_weight(weight), *_dates_of_files(ranking)]
    if ranking.is_relative:
        notes.append("ages are counted from the newest date in the base, not from today")
    if evidence is not None and evidence.scope.total:
        notes += vector_notes(evidence.vector_share, evidence.without_vector)
        notes += wide_scope_notes(evidence, has_switch=False)
    notes += [*outdated, *_nobody(ranking)]
    return replace(ranking, notes=tuple(notes))


def _unknown_weight(weight: Any) -> Iterator[str]:
    if weight not in WEIGHTS:
        name = safe_line(str(weight))[:NAME_SHOWN]
        yield f"unknown weight {name!r}: claims are counted; weights are {', '.join(WEIGHTS)}"


def _dates_of_files(ranking: ExpertRanking) -> Iterator[str]:
    """Yield how many claims count as recent as their file, if dates matter."""
    if ranking.weight != "recency":
        return
    receipts = {
        (receipt.claim_id, receipt.path): receipt
        for expert in ranking.experts
        for receipt in expert.receipts
    }
    count = sum(receipt.has_file_date for receipt in receipts.values())
    if count:
        claims = format_count(len(receipts), "claim")
        have = "has" if count == 1 else "have"
        yield f"{count:,} of {claims} {have} no date; the day its file was changed is used"


def _nobody(ranking: ExpertRanking) -> Iterator[str]:
    if ranking.experts:
        return
    if not ranking.in_scope:
        yield "there are no claims: facts are list items below ## Facts or ## Recent Facts"
    elif ranking.total_below_minimum:
        entities = format_count(ranking.total_below_minimum, "entity")
        yield f"{entities} on this topic, but with fewer claims than min_claims"
    else:
        claims = format_count(ranking.in_scope, "claim")
        hint = (
            "" if ranking.weight == "relevance" else "; the weight relevance also reads documents"
        )
        yield f"none of the {claims} is on this topic{hint}"
