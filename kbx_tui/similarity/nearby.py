"""Facts near a text, down to a floor below any threshold, so that a slider can move it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kbx_tui.similarity.candidate_text import CandidateText
from kbx_tui.similarity.fact_comparison import ScoredFact, score_facts
from kbx_tui.similarity.fact_vectors import FactVectors
from kbx_tui.similarity.field_values import ScoredField
from kbx_tui.similarity.matches import SimilarityMatch
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.thresholds import Thresholds, is_near


@dataclass(frozen=True, slots=True)
class NearFact:
    """A fact or field near a text, and the entity it belongs to."""

    match: SimilarityMatch
    """Its threshold is the configured one for its type, whatever the floor."""
    entity_id: str


def near_facts(
    candidate: CandidateText,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    floor: float,
    limit: int,
    fields: Sequence[ScoredField] = (),
    only_own: bool = False,
) -> tuple[NearFact, ...]:
    """Return the facts and `fields` that score at least `floor`, best first, the owner's on ties.

    At most `limit` facts of all, plus at most `limit` that belong to the candidate's owner, and as
    many that reach their threshold: those of a type that needs less may score below the others.
    `only_own` leaves out facts of other entities.
    """
    own = facts.owned_by(candidate.owner)
    scored: dict[int, ScoredFact] = {}
    for within in [own] if only_own else [None, own] if candidate.owner else [None]:
        nearest = score_facts(candidate, facts, calibration, thresholds, limit=limit, within=within)
        above = [fact for fact in nearest if _counts(fact, floor)]
        similar = [fact for fact in above if fact.pair.score >= fact.threshold]
        scored |= {fact.row: fact for fact in (*above[:limit], *similar[:limit])}
    near = [NearFact(fact.as_match(names), fact.fact.entity_id) for fact in scored.values()]
    near += [
        NearFact(field.as_match(names), field.value.entity.id)
        for field in fields
        if _counts(field, floor)
    ]
    return tuple(
        sorted(
            near,
            key=lambda fact: (
                -fact.match.score,
                fact.entity_id != candidate.owner,
                bool(fact.match.conflicts),
                fact.match.source_path,
                fact.match.line,
            ),
        )
    )


def _counts(known: ScoredFact | ScoredField, floor: float) -> bool:
    return known.pair.score >= floor and is_near(known.pair)
