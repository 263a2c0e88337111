"""How a score adds up, why one document is before another, how two rankings differ. Pure.

Every part of a score is weighted as it counts, so that the parts sum to the score, and the
differences of the parts of two documents to that of their scores.

The two rankings of a comparison may be of different Evidence of one query, retrieved with other
filters, another preset or without vectors: documents are matched by path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kbx_tui.errors import OutOfRange
from kbx_tui.formatting import format_change, format_score, rounded_parts
from kbx_tui.search.evidence.scores import SIDE_NAMES
from kbx_tui.search.ranking.rank import Ranked, Ranking


@dataclass(frozen=True, slots=True)
class EntityShare:
    """A row of `entities` in the `explain` of a result."""

    id: str
    name: str
    score: float
    link_strength: float
    """0 when the document is not linked to it; to the fourth power if it is a named thing."""
    answered: float
    weight: float
    reason: str
    """`attendee`, `title, 4 mentions`, or `not linked`."""
    share: float
    """`weight * score * link_strength * answered`, or 0 if another entity counts.

    The shares of a document sum to its parent_entity_score."""


@dataclass(frozen=True, slots=True)
class Explanation:
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
    lowered_reason: str
    """What the document loses as one of another kind than asked for; empty if nothing."""
    propagated: float
    propagated_from: str
    """`part before`, `part after`, or empty."""
    entities: tuple[EntityShare, ...]
    """Entities that make up the parent score, largest share first."""


def explain(ranking: Ranking, ranked: Ranked) -> Explanation:
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
        lowered_reason=_lowered_reason(ranking, row),
        propagated=scale * float(components.doc_relevance[row] - components.own_relevance[row]),
        propagated_from=SIDE_NAMES.get(int(components.propagated_from[row]), ""),
        entities=_shares(ranking, row),
    )


def _lowered_reason(ranking: Ranking, row: int) -> str:
    """Return why the score of a document is lowered; empty if it is not."""
    reasons = [ranking.asked_kind.reason(row)] if ranking.asked_kind else []
    if ranking.unlinked_factor < 1.0 and not ranking.credit.belongs_to_people[row]:
        names = " or ".join(
            ranking.evidence.entities[index].name for index in ranking.credit.people
        )
        reasons.append(f"not of {names}: × {format_score(ranking.unlinked_factor)}")
    if ranking.age_factors is not None and (factor := float(ranking.age_factors[row])) < 1.0:
        dated = f"dated {date}" if (date := ranking.evidence.dates[row]) else "undated"
        reasons.append(f"age ({dated}): × {format_score(factor)}")
    return " · ".join(filter(None, reasons))


def _shares(ranking: Ranking, row: int) -> tuple[EntityShare, ...]:
    evidence, shares = ranking.evidence, []
    preference, factor = ranking.date_preference, 1.0
    if preference is not None:
        factor = float(preference.credit_factors(np.array([row]))[0])
    factor = float(ranking.lowered(np.array([factor]), np.array([row]))[0])
    dated = ranking.dated(ranking.doc_relevance[[row]], np.array([row]), alone=False)
    of_each = ranking.credit.credits(np.array([row]), dated)
    for index, credit in zip(ranking.counted, of_each, strict=True):
        entity, linked = evidence.entities[index], evidence.links[index]
        position = int(np.searchsorted(linked.rows, row))
        is_linked = position < len(linked.rows) and linked.rows[position] == row
        shares.append(
            EntityShare(
                id=entity.id,
                name=entity.name,
                score=credit.entity_score,
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


DIGITS = 3
"""Decimals of a difference: many are below .01."""

TieRule = Literal["", "known item", "relevance", "date", "path"]


@dataclass(frozen=True, slots=True)
class PartDifference:
    name: str
    """`words`, `meaning`, `adjacent part`, `time`, `entity`, `opened`, `reranker`, `known item`."""
    exact: float
    shown: float
    """Rounded to three decimals so that all parts sum to the difference as shown."""


@dataclass(frozen=True, slots=True)
class PairExplanation:
    ahead: Ranked
    behind: Ranked
    difference: float
    parts: tuple[PartDifference, ...]
    tie_rule: TieRule
    """What decides between equal scores; empty where the scores decide."""

    def text(self, ahead: str, behind: str) -> str:
        """Return it as a sentence: `A beats B by .041: entity +.060, words -.019`."""
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
    ranks = ranking.ranks
    for one in (row, other):
        if one not in ranks:
            raise OutOfRange(f"{ranking.evidence.paths[one]} is not a result: it has no rank")
    ahead, behind = (
        ranking.ranked(one, ranks[one]) for one in sorted((row, other), key=ranks.__getitem__)
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
    if bool(ahead.known_item) != bool(behind.known_item):
        return "known item"
    if ahead.doc_relevance != behind.doc_relevance:
        return "relevance"
    dates = ranking.evidence.dates
    return "path" if dates[ahead.row] == dates[behind.row] else "date"


TOP = 10
LEAST_CHANGE = 0.0005
"""Smallest change of a score or part that is shown with three decimals."""


@dataclass(frozen=True, slots=True)
class RankChange:
    path: str
    title: str
    before: int | None
    """Rank under the first setting, also below the top; None where it is not a result."""
    after: int | None
    reason: str

    @property
    def distance(self) -> int:
        """How many places it rose; negative if it fell. 0 without both ranks."""
        return 0 if self.before is None or self.after is None else self.before - self.after


@dataclass(frozen=True, slots=True)
class Comparison:
    before: tuple[Ranked, ...]
    after: tuple[Ranked, ...]
    kept: tuple[RankChange, ...]
    lost: tuple[RankChange, ...]
    gained: tuple[RankChange, ...]

    @property
    def moved(self) -> tuple[RankChange, ...]:
        return tuple(change for change in self.kept if change.distance)


def compare(before: Ranking, after: Ranking, limit: int = TOP) -> Comparison:
    one, other = _Standings(before, limit), _Standings(after, limit)

    def changes(paths: Iterable[str]) -> tuple[RankChange, ...]:
        return tuple(_change(one, other, path) for path in paths)

    return Comparison(
        before=one.top,
        after=other.top,
        kept=changes(path for path in other.paths if path in one.paths),
        lost=changes(path for path in one.paths if path not in other.paths),
        gained=changes(path for path in other.paths if path not in one.paths),
    )


class _Standings:
    def __init__(self, ranking: Ranking, limit: int) -> None:
        self.ranking, self.top, paths = ranking, ranking.top(limit), ranking.evidence.paths
        self.paths = [paths[ranked.row] for ranked in self.top]
        self.rows = {path: row for row, path in enumerate(paths)}

    def rank(self, path: str) -> int | None:
        return self.ranking.ranks.get(self.rows.get(path, -1))

    def title(self, path: str) -> str:
        row = self.rows.get(path)
        return "" if row is None else self.ranking.evidence.titles[row]

    def why_no_result(self, path: str) -> str:
        row = self.rows.get(path)
        return "left out by a filter" if row is None else self.ranking.why_no_result(row)


def _change(one: _Standings, other: _Standings, path: str) -> RankChange:
    before, after, reason = one.rank(path), other.rank(path), ""
    if path not in other.paths and after is None:
        reason = other.why_no_result(path)
    elif path not in one.paths and before is None:
        reason = f"was not a result: {one.why_no_result(path)}"
    elif path not in other.paths or path not in one.paths:
        reason = _score_words(one, other, path, falls=path in one.paths)
    return RankChange(path, other.title(path) or one.title(path) or path, before, after, reason)


def _score_words(one: _Standings, other: _Standings, path: str, *, falls: bool) -> str:
    """Return what changed the score of a document, or else that others passed or fell behind it."""
    row, new_row = one.rows[path], other.rows[path]
    before, after = float(one.ranking.final[row]), float(other.ranking.final[new_row])
    sign = -1.0 if falls else 1.0
    if sign * (after - before) < LEAST_CHANGE:
        if falls:
            last = float(other.ranking.final[other.top[-1].row])
            place = f"place {len(other.top)} needs {format_score(last)}"
            return f"others passed it: {place}, it has {format_score(after)}"
        return f"others fell behind it: it has {format_score(after)}"
    old, new = score_parts(one.ranking, row), score_parts(other.ranking, new_row)
    name = max(old, key=lambda part: sign * (new[part] - old[part]))
    change = format_change(new[name] - old[name])
    return f"score {format_score(before)} to {format_score(after)}: {name} {change}"
