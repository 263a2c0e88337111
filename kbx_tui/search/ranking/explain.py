"""Why a document stands where it stands: numbers that add up, also as rounded on screen. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kbx_tui.search.evidence.continuations import WORDS
from kbx_tui.search.ranking.rank import Ranked, Ranking


@dataclass(frozen=True, slots=True)
class EntityShare:
    """What one entity contributes to a document's parent score."""

    entity_id: str
    name: str
    entity_score: float
    """The score it counts with: 1.0 when pinned, whatever pass 1 gave it."""
    link_strength: float
    """0 when the document is not linked to it."""
    reason: str
    """`attendee`, `title, 4 mentions`, or `not linked`."""
    share: float
    """The shares of a document sum to its parent_entity_score."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole arithmetic of one result."""

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
    lexical_part: float
    """`lexical_part + vector_part + lent == doc_relevance`."""
    vector_part: float
    lent: float
    """What a part beside it lends."""
    lent_by: str
    """`part before`, `part after`, or empty."""
    entities: tuple[EntityShare, ...]
    """Entities the parent score is made of, largest share first."""


def explain(ranking: Ranking, ranked: Ranked) -> Explanation:
    """Return how the score of `ranked` came about."""
    parts, row = ranking.components, ranked.row
    lexical, vector = float(parts.lexical[row]), float(parts.vector[row])
    cosine = float(parts.cosine[row])
    weight = parts.lexical_weight
    return Explanation(
        ranked=ranked,
        alpha=ranking.tuning.alpha,
        two_pass=ranking.search_mode == "two_pass",
        raw_lexical=float(parts.raw_lexical[row]),
        lexical=lexical,
        lexical_weight=weight,
        cosine=None if np.isnan(cosine) else cosine,
        vector=vector,
        vector_weight=1.0 - weight,
        lexical_part=weight * lexical,
        vector_part=(1.0 - weight) * vector,
        lent=float(parts.doc_relevance[row] - parts.own_relevance[row]),
        lent_by=WORDS.get(int(parts.lenders[row]), ""),
        entities=_shares(ranking, row),
    )


def rounded_parts(total: float, parts: Sequence[float], digits: int = 2) -> list[float]:
    """Round `parts` so that they sum to `total` rounded, each off by less than one last digit.

    The largest-remainder method of apportionment (Hamilton): round down, then give the missing
    units to the parts that lost most.
    """
    unit = 10**digits
    units = [int(np.floor(part * unit + 1e-9)) for part in parts]
    shown = float(f"{total:.{digits}f}")  # as it is printed: halves go to the even digit
    missing = round(shown * unit) - sum(units)
    lost = sorted(range(len(parts)), key=lambda i: units[i] - parts[i] * unit)
    for index in lost[: max(missing, 0)]:
        units[index] += 1
    for index in reversed(lost[missing:] if missing < 0 else []):
        units[index] -= 1
    return [count / unit for count in units]


def _shares(ranking: Ranking, row: int) -> tuple[EntityShare, ...]:
    evidence, tuning, counted = ranking.evidence, ranking.tuning, ranking.counted
    coverage, shares = ranking.is_coverage, []
    for index in counted:
        entity, linked = evidence.entities[index], evidence.links[index]
        score, strengths = ranking.entity_score(index), linked.strengths_for(ranking.doc_relevance)
        at = int(np.searchsorted(linked.rows, row))
        is_linked = at < len(linked.rows) and linked.rows[at] == row
        strength = float(strengths[at]) if is_linked else 0.0
        if is_linked and tuning.uniform_links:
            strength = 1.0
        shares.append(
            EntityShare(
                entity_id=entity.id,
                name=entity.name,
                entity_score=score,
                link_strength=strength,
                reason=linked.reasons[at] if is_linked else "not linked",
                share=score * strength / (len(counted) if coverage else 1),
            )
        )
    shares.sort(key=lambda share: -share.share)
    if not coverage and shares:  # only the best counts, the others are shown with share 0
        best, *others = shares
        shares = [best, *(replace(other, share=0.0) for other in others)]
    return tuple(shares)
