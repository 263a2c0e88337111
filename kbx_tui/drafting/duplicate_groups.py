"""Clusters of facts that are in the base more than once, as checks of their newest fact. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbx_tui.drafting.checks import DraftCheck, DraftMatch
from kbx_tui.drafting.draft_checking import guess_of
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.knowledge.records import Entity, FactKind
from kbx_tui.similarity.duplicate_scan import DuplicateFact, DuplicateScan
from kbx_tui.similarity.matches import SimilarityMatch
from kbx_tui.similarity.scoring.pair_score import PairSimilarity


def groups_of(scan: DuplicateScan) -> list[tuple[DuplicateFact, ...]]:
    """Return clusters and conflicting pairs, each newest first."""
    return [*(cluster.facts for cluster in scan.clusters), *(one.facts for one in scan.conflicting)]


def check_group(
    facts: Sequence[DuplicateFact],
    pairs: Sequence[PairSimilarity],
    thresholds: Sequence[float],
    *,
    owners: Mapping[int, str],
    entities: Mapping[str, Entity],
    scan: DuplicateScan,
) -> DraftCheck:
    """Return the newest fact of a group as a draft that stands for it, the others as its matches.

    `pairs` and `thresholds` belong to the newest with each of the others, in order; `owners` tells
    the entity of a fact by id.
    """
    newest, *others = facts
    entity = entities.get(owners.get(newest.fact_id, ""))
    guess = guess_of(entity, "its fact") if entity else None
    kind: FactKind = "open_item" if newest.match_type == "open_item" else "fact"
    draft = Draft(
        id=f"{newest.fact_id:012x}"[-12:],
        text=newest.text,
        kind=kind,
        entity_id=entity.id if entity else "",
        is_guessed=False,
        date=newest.date,
        stands_for=newest.fact_id,
    )
    matches = [
        DraftMatch(
            _match(fact, pair, least),
            is_own=owners.get(fact.fact_id) == owners.get(newest.fact_id),
        )
        for fact, pair, least in zip(others, pairs, thresholds, strict=True)
    ]
    return DraftCheck(
        draft=draft,
        text=newest.text,
        entity=guess,
        candidates=(guess,) if guess else (),
        matches=tuple(sorted(matches, key=lambda one: -one.known.score)),
        repeats=(),
        model=scan.model,
        is_calibrated=scan.is_calibrated,
    )


def _match(fact: DuplicateFact, pair: PairSimilarity, threshold: float) -> SimilarityMatch:
    return SimilarityMatch(
        text=fact.text,
        score=pair.score,
        fact_id=fact.fact_id,
        source_path=fact.source_path,
        date=fact.date,
        entity_name=fact.entity_name,
        match_type="open_item" if fact.match_type == "open_item" else "fact",
        threshold=threshold,
        relation=pair.relation,
        cosine=pair.cosine,
        signals=pair.signals,
        conflicts=pair.conflicts,
        line=fact.line,
        done=False,
    )
