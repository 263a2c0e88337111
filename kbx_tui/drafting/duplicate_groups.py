"""Groups of duplicate facts in the base, as checks of the newest fact of each. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from kbx_tui.drafting.checks import DraftCheck, DraftMatch
from kbx_tui.drafting.guessing import entity_guess
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.knowledge.records import Entity
from kbx_tui.similarity.duplicate_scan import DuplicateScan
from kbx_tui.similarity.matches import DuplicateFact, SimilarityMatch
from kbx_tui.similarity.scoring.pair_score import PairSimilarity


def duplicate_groups(scan: DuplicateScan) -> list[tuple[DuplicateFact, ...]]:
    """Return clusters, then conflicting pairs, each newest first."""
    clusters = (cluster.facts for cluster in scan.clusters)
    return [*clusters, *(pair.facts for pair in scan.conflicting)]


def check_group(
    facts: Sequence[DuplicateFact],
    pairs: Sequence[PairSimilarity],
    thresholds: Sequence[float],
    *,
    owners: Mapping[int, str],
    entities: Mapping[str, Entity],
    scan: DuplicateScan,
) -> DraftCheck:
    """Return a check of a draft that represents the newest fact and matches the others.

    `pairs` and `thresholds` compare the newest fact with each of the others, in order; `owners` is
    entity id by fact id.
    """
    newest, *others = facts
    owner = owners.get(newest.fact_id, "")
    entity = entities.get(owner)
    guess = entity_guess(entity, "its fact") if entity else None
    ids = ",".join(str(fact.fact_id) for fact in facts)
    draft = Draft(
        id=blake2b(ids.encode(), digest_size=6).hexdigest(),  # a fact may be in several groups
        text=newest.text,
        kind=newest.match_type,
        entity_id=entity.id if entity else "",
        is_guessed=False,
        date=newest.date,
        stands_for=newest.fact_id,
    )
    matches = [
        DraftMatch(
            SimilarityMatch.of(fact, pair, threshold),
            is_own=owners.get(fact.fact_id, "") == owner,
        )
        for fact, pair, threshold in zip(others, pairs, thresholds, strict=True)
    ]
    return DraftCheck(
        draft=draft,
        text=newest.text,
        entity=guess,
        candidates=(guess,) if guess else (),
        matches=tuple(sorted(matches, key=lambda match: -match.known.score)),
        repeats=(),
        model=scan.model,
        is_calibrated=scan.is_calibrated,
    )
