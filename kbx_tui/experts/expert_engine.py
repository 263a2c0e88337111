"""Expert search over one open index; claims are read once per generation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from kbx_tui.experts.claims import Claim, ClaimMatcher, Topic, read_claims
from kbx_tui.experts.expert_ranking import (
    WEIGHTS,
    ExpertRanking,
    Receipt,
    Weight,
    contribution_function,
    contributions,
    most_relevant,
    newest_day,
    rank_experts,
)
from kbx_tui.formatting import format_count
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.results.answer import cut_query_notes, vector_notes, wide_scope_notes

Receipts = defaultdict[str, list[Receipt]]


class ExpertEngine:
    """Expert rankings from one index. Not safe for concurrent use."""

    def __init__(self, index: OpenIndex, root: Path, retrieve: Callable[[str], Evidence]) -> None:
        """Rank from `index`; `retrieve` finds documents, used only for the weight `relevance`."""
        self._index, self._root, self._retrieve = index, root, retrieve
        self._matcher: ClaimMatcher | None = None
        self._generation = -1
        self.evidence: Evidence | None = None
        """What the last ranking by relevance is based on; None for other weights."""

    def rank(
        self,
        text: str,
        weight: Weight,
        *,
        limit: int,
        min_claims: int,
        now: date | None,
        half_life_days: float,
        people: bool,
    ) -> ExpertRanking:
        """Return the experts on a topic, with `people` no others.

        Without `now`, ages are counted from the newest day in the base. Raises ConfigError (empty
        topic) and OutOfRange.
        """
        topic = Topic.of(text)
        generation = self._index.generation()
        if self._matcher is None or generation.number != self._generation:
            claims = read_claims(self._index, self._root)
            self._matcher = ClaimMatcher(claims, generation.snapshot.entities)
            self._generation = generation.number
        receipts: Receipts = defaultdict(list)
        today = datetime.now(UTC).date()
        counted_from = now or self._newest_day(today)
        contribution = contribution_function(weight, counted_from, half_life_days)
        for position, share in self._matcher.matches(topic).items():
            claim = self._matcher.claims[position]
            receipt = _claim_receipt(claim, contribution(claim) * share, share)
            for entity_id in claim.entity_ids:
                receipts[entity_id].append(receipt)
        self.evidence = self._retrieve(topic.query) if weight == "relevance" else None
        if self.evidence is not None:
            self._add_documents(receipts, self.evidence)
        entities = {
            entity_id: entity
            for entity_id, entity in generation.entities.items()
            if not people or entity.type == "person"
        }
        ranking = rank_experts(text, weight, receipts, entities, limit=limit, min_claims=min_claims)
        is_relative = weight == "recency" and now is None and counted_from < today
        return replace(ranking, in_scope=len(self._matcher.claims), is_relative=is_relative)

    def _newest_day(self, today: date) -> date:
        claims = self._matcher.claims if self._matcher is not None else ()
        stated = (claim.fact.date for claim in claims if not claim.has_file_date)
        return newest_day((*self._index.generation().snapshot.dates, *stated), today)

    def _add_documents(self, receipts: Receipts, evidence: Evidence) -> None:
        generation = self._index.generation()
        documents = most_relevant(evidence, generation.snapshot)
        for entity in generation.snapshot.entities:
            links = generation.entity_documents
            is_person = entity.type == "person"
            linked = links.about(entity.id) if is_person else links.linked(entity.id)
            for row, added in contributions(documents, linked).items():
                receipts[entity.id].append(_document_receipt(generation.snapshot, row, added))


def _claim_receipt(claim: Claim, added: float, share: float) -> Receipt:
    fact = claim.fact
    return Receipt(
        claim_id=fact.fact_id,
        text=fact.text,
        date=fact.date,
        path=fact.path,
        line=fact.line,
        status=fact.status,
        sources=fact.sources,
        contribution=added if fact.status == "active" else 0.0,
        has_file_date=claim.has_file_date,
        share=share,
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


NAME_SHOWN = 40


def with_notes(
    ranking: ExpertRanking,
    topic: str,
    weight: Any,
    evidence: Evidence | None,
    outdated: Sequence[str],
) -> ExpertRanking:
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
