"""How the score of a document adds up, in exact and in rounded numbers. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kbx_tui.search.evidence.continuations import SIDE_NAMES
from kbx_tui.search.ranking.rank import Ranked, Ranking


@dataclass(frozen=True, slots=True)
class EntityShare:
    """What one entity contributes to a document's parent score."""

    entity_id: str
    name: str
    entity_score: float
    """The score it counts with: 1.0 if pinned, whatever pass 1 found."""
    link_strength: float
    """0 when the document is not linked to it. Of a named thing to the fourth power."""
    answered: float
    """How fully the document answers the rest of the query, 0..1."""
    weight: float
    """Its weight in the mean over the named entities, 0..1; 1 where the best entity counts."""
    reason: str
    """`attendee`, `title, 4 mentions`, or `not linked`."""
    share: float
    """`weight * entity_score * link_strength * answered`, or 0 if another entity counts.

    The shares of a document sum to its parent_entity_score."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All numbers that make up the score of one result."""

    ranked: Ranked
    alpha: float
    two_pass: bool
    raw_lexical: float
    lexical: float
    lexical_weight: float
    cosine: float | None
    """None where the document has no vector (yet)."""
    vector: float
    vector_weight: float
    full_relevance: float | None
    """Relevance of a full answer; None where `ranked.answered` is the relevance itself."""
    lexical_part: float
    """`lexical_part + vector_part + propagated + date_part == ranked.answered`."""
    vector_part: float
    date_part: float
    """What the time that the query asks for adds, at least 0; 0 where it is all the query asks
    besides people, as it scales the other parts then."""
    date_reason: str
    """Whether the document is of that time; empty without a date preference."""
    propagated: float
    """What an adjacent part of a longer document adds to `ranked.answered` (`continuations`)."""
    propagated_from: str
    """`part before`, `part after`, or empty."""
    entities: tuple[EntityShare, ...]
    """Entities that make up the parent score, largest share first."""


def explain(ranking: Ranking, ranked: Ranked) -> Explanation:
    """Return how the score of `ranked` was computed."""
    components, row = ranking.components, ranked.row
    lexical, vector = float(components.lexical[row]), float(components.vector[row])
    cosine = float(components.cosine[row])
    weight, topic = components.lexical_weight, ranking.topic
    own = ranked.answered
    if (preference := ranking.date_preference) is not None:
        one, capped = np.array([row]), ranking.topic is not None
        own *= preference.own_share(ranking.doc_relevance[one], one, capped=capped)
    scale = own / ranked.doc_relevance if ranked.doc_relevance else 1.0
    return Explanation(
        ranked=ranked,
        alpha=ranking.tuning.alpha,
        two_pass=ranking.search_mode == "two_pass",
        raw_lexical=float(components.raw_lexical[row]),
        lexical=lexical,
        lexical_weight=weight,
        cosine=None if np.isnan(cosine) else cosine,
        vector=vector,
        vector_weight=1.0 - weight,
        full_relevance=None if topic is None else topic.full_relevance,
        lexical_part=scale * weight * lexical,
        vector_part=scale * (1.0 - weight) * vector,
        date_part=ranked.answered - own,
        date_reason=preference.reason(row, ranking.evidence.dates[row]) if preference else "",
        propagated=scale * float(components.doc_relevance[row] - components.own_relevance[row]),
        propagated_from=SIDE_NAMES.get(int(components.propagated_from[row]), ""),
        entities=_shares(ranking, row),
    )


def _shares(ranking: Ranking, row: int) -> tuple[EntityShare, ...]:
    evidence, shares = ranking.evidence, []
    preference, factor = ranking.date_preference, 1.0
    if preference is not None:
        factor = float(preference.credit_factors(np.array([row]))[0])
    dated = ranking.dated(ranking.doc_relevance[[row]], np.array([row]), alone=False)
    of_each = ranking.credit.credits(np.array([row]), dated)
    for index, credit in zip(ranking.counted, of_each, strict=True):
        entity, linked = evidence.entities[index], evidence.links[index]
        position = int(np.searchsorted(linked.rows, row))
        is_linked = position < len(linked.rows) and linked.rows[position] == row
        shares.append(
            EntityShare(
                entity_id=entity.id,
                name=entity.name,
                entity_score=credit.entity_score,
                link_strength=float(credit.link_strength[0]),
                answered=factor * float(credit.answered[0]),
                weight=credit.weight,
                reason=linked.reasons[position] if is_linked else "not linked",
                share=factor * float(credit.total[0]),
            )
        )
    shares.sort(key=lambda share: -share.share)
    if not ranking.is_coverage:  # only the best counts, the others are shown with share 0
        shares[1:] = [replace(other, share=0.0) for other in shares[1:]]
    return tuple(shares)
