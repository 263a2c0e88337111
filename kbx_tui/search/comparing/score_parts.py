"""What the score of a document consists of, and why one document is before another. Pure.

Every part is one that the explanation of the score shows, weighted as it counts, so that the parts
of a score sum to it, and the differences of the parts of two documents to that of their scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kbx_tui.errors import OutOfRange
from kbx_tui.formatting import format_change, format_score, rounded_parts
from kbx_tui.search.ranking.explain import explain
from kbx_tui.search.ranking.rank import Ranked, Ranking

DIGITS = 3
"""Decimals of a difference: many are below .01."""

TieRule = Literal["", "known item", "relevance", "date", "path"]


@dataclass(frozen=True, slots=True)
class PartDifference:
    """How much more of one part the document ahead has."""

    name: str
    """`words`, `meaning`, `adjacent part`, `time`, `entity`, `opened`, `reranker`, `known item`."""
    exact: float
    shown: float
    """Rounded to three decimals so that all parts sum to the difference as shown."""


@dataclass(frozen=True, slots=True)
class PairExplanation:
    """Why one document of a ranking is before another."""

    ahead: Ranked
    behind: Ranked
    difference: float
    """Score of the document ahead minus that of the one behind, 0 or more."""
    parts: tuple[PartDifference, ...]
    """Parts with a difference as shown, largest first."""
    tie_rule: TieRule
    """What decides between equal scores; empty where the scores decide."""

    def text(self, ahead: str, behind: str) -> str:
        """Return it as a sentence: `A beats B by .041: entity +.060, words -.019`.

        `ahead` and `behind` are the names to show.
        """
        if self.tie_rule:
            return f"{ahead} ties with {behind} and comes first by {_TIE_WORDS[self.tie_rule]}"
        parts = ", ".join(f"{part.name} {format_change(part.shown, DIGITS)}" for part in self.parts)
        reasons = f": {parts}" if parts else ""
        return f"{ahead} beats {behind} by {format_score(self.difference, DIGITS)}{reasons}"


_TIE_WORDS: Mapping[str, str] = {
    "known item": "being named in full",
    "relevance": "its relevance",
    "date": "its date",
    "path": "its path",
}


def score_parts(ranking: Ranking, row: int) -> Mapping[str, float]:
    """Return the parts of the score of one row by name; they sum to the score."""
    explanation = explain(ranking, ranking.ranked(row, rank=0))
    ranked = explanation.ranked
    weight = ranked.document_part / ranked.answered if ranked.answered else 0.0
    parts = {
        "words": weight * explanation.lexical_part,
        "meaning": weight * explanation.vector_part,
        "adjacent part": weight * explanation.propagated,
        "time": weight * explanation.date_part,
        "entity": ranked.entity_part,
        "opened": ranked.frecency_part,
        "reranker": ranked.reranker_part,
    }
    parts["known item"] = ranked.score - sum(parts.values()) if ranked.known_item else 0.0
    return parts


def explain_pair(ranking: Ranking, row: int, other: int) -> PairExplanation:
    """Return why one of two rows is before the other. Raises OutOfRange if one is not a result."""
    places = {place: rank for rank, place in enumerate(ranking.order.tolist(), 1)}
    for one in (row, other):
        if one not in places:
            raise OutOfRange(f"{ranking.evidence.paths[one]} is not a result: it has no rank")
    ahead, behind = (
        ranking.ranked(one, places[one]) for one in sorted((row, other), key=places.__getitem__)
    )
    more, less = score_parts(ranking, ahead.row), score_parts(ranking, behind.row)
    exact = {name: more[name] - less[name] for name in more}
    difference = ahead.score - behind.score
    shown = rounded_parts(difference, list(exact.values()), DIGITS)
    parts = [
        PartDifference(name, value, rounded)
        for (name, value), rounded in zip(exact.items(), shown, strict=True)
        if rounded
    ]
    parts.sort(key=lambda part: -abs(part.shown))
    tie_rule = _tie_rule(ranking, ahead, behind) if difference == 0.0 else ""
    return PairExplanation(ahead, behind, difference, tuple(parts), tie_rule)


def _tie_rule(ranking: Ranking, ahead: Ranked, behind: Ranked) -> TieRule:
    """Return what decides between equal scores, in the order in which `Ranking` asks."""
    if bool(ahead.known_item) != bool(behind.known_item):
        return "known item"
    if ahead.doc_relevance != behind.doc_relevance:
        return "relevance"
    dates = ranking.evidence.dates
    return "path" if dates[ahead.row] == dates[behind.row] else "date"
