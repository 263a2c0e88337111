"""Compares a text with facts and open items: identical text first, then nearest by vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

import numpy as np

from kbx_tui.knowledge.records import Fact
from kbx_tui.similarity.compared_words import normal_form
from kbx_tui.similarity.fact_vectors import CandidateText, FactVectors, Flags
from kbx_tui.similarity.field_values import ScoredField
from kbx_tui.similarity.matches import DuplicateFact, Nearest, SimilarityMatch, Thresholds, is_near
from kbx_tui.similarity.pair_score import Calibration, PairScore, score_pair

MIN_COMPARED = 48
"""Minimum number of facts compared word by word, those nearest by cosine. Words change a score
little compared with the cosine, so a match beyond these would have many better ones before it."""

NEAREST_REPORTED = 5
"""Nearest texts reported when nothing matches; redaction may hide some of them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of comparing one text with many."""

    matches: list[SimilarityMatch]
    """Best first. If anything compared is similar, one of them is."""
    nearest: tuple[Nearest, ...]
    """The best scores of all texts compared, best first, at most `NEAREST_REPORTED`."""
    texts: frozenset[str] = frozenset()
    """All texts similar enough to be listed, in `matches` or not."""

    def joined_with(self, other: Comparison) -> Comparison:
        """Return the outcome of comparing with what both compared."""
        return Comparison(
            best_first([*self.matches, *other.matches]),
            top_nearest((*self.nearest, *other.nearest)),
        )


def find_identical_facts(
    text: str, facts: FactVectors, within: Flags | None = None
) -> Iterator[int]:
    """Yield the row of each identical text, ignoring case, accents and spacing."""
    for row in facts.rows_by_text.get(normal_form(text), ()):
        if within is None or within[row]:
            yield row


def find_similar_facts(
    candidate: CandidateText,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    limit: int,
    within: Flags | None = None,
    fields: Sequence[ScoredField] = (),
) -> Comparison:
    """Return the facts, open items and `fields` similar to a text.

    The best `limit`, all that tie with the last of them, and the best one without a conflict.
    `names` maps entity ids to names; `within`, shape (facts,), restricts the facts compared.
    """
    near = score_facts(candidate, facts, calibration, thresholds, limit=limit, within=within)
    scored: list[ScoredFact | ScoredField] = [*near, *fields]
    scored.sort(key=lambda known: -known.pair.score)
    listed = [known for known in scored if thresholds.listed(known.pair, known.threshold)]
    lowest = listed[limit - 1].pair.score if len(listed) > limit else 0.0
    matches = [known.as_match(names) for known in listed if known.pair.score >= lowest]
    if not any(match.is_similar for match in matches):
        rest = (known for known in listed[len(matches) :] if known.pair.score >= known.threshold)
        similar = next((known for known in rest if not known.pair.is_conflict()), None)
        matches += [similar.as_match(names)] if similar else []
    clear = (known for known in scored if not thresholds.is_misleading(known.pair, known.threshold))
    nearest = tuple(known.as_nearest() for known in islice(clear, NEAREST_REPORTED))
    texts = frozenset(known.text for known in listed)
    return Comparison(best_first(matches), nearest, texts)


@dataclass(frozen=True, slots=True)
class ScoredFact:
    """A stored fact with its score and the threshold that applies to it."""

    row: int
    fact: Fact
    pair: PairScore
    threshold: float

    @property
    def text(self) -> str:
        """The text as written on its page."""
        return self.fact.text

    def as_nearest(self) -> Nearest:
        """Return this fact as one of the nearest texts, whether or not it conflicts."""
        fact = self.fact
        return Nearest(fact.text, self.pair.score, self.threshold, fact.kind, fact.path, fact.line)

    def as_match(self, names: dict[str, str]) -> SimilarityMatch:
        """Return this fact as a match, with the conflicts between the two texts."""
        fact, pair = DuplicateFact.of(self.fact, names), self.pair.with_conflicts()
        return SimilarityMatch.of(fact, pair, self.threshold, done=self.fact.done)


def score_facts(
    candidate: CandidateText,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    limit: int,
    within: Flags | None,
) -> list[ScoredFact]:
    """Return the nearest facts with their scores, best first; every comparison begins here.

    Identical texts and the nearest by cosine are compared word by word. Conflicts, the slowest
    part, are left to the few that are listed.
    """
    scored = []
    for text, vector, mask in candidate.variants(facts, within):
        compared = set(find_identical_facts(text, facts, mask))
        compared.update(facts.nearest(vector, max(MIN_COMPARED, 4 * limit), mask).tolist())
        rows = sorted(compared)
        for row, cosine in zip(rows, facts.cosines(vector, np.array(rows, np.int64)), strict=True):
            pair = score_pair(text, facts.texts[row], float(cosine), calibration)
            fact = facts.facts[row]
            scored.append(ScoredFact(row, fact, pair, thresholds.of(fact.kind, fact.text)))
    return sorted(scored, key=lambda fact: (-fact.pair.score, fact.row))


def top_nearest(texts: Iterable[Nearest]) -> tuple[Nearest, ...]:
    """Return the texts with the best scores, best first."""
    return tuple(nlargest(NEAREST_REPORTED, texts, key=lambda text: text.score))


def best_first(matches: Sequence[SimilarityMatch]) -> list[SimilarityMatch]:
    """Return matches by score; on ties, those without a conflict first, then by path and line."""
    return sorted(
        matches,
        key=lambda match: (-match.score, bool(match.conflicts), match.source_path, match.line),
    )


def shown_matches(matches: Sequence[SimilarityMatch], limit: int) -> tuple[SimilarityMatch, ...]:
    """Return the best `limit` matches; the last is one that is similar if no other is."""
    ordered = best_first(matches)
    shown = ordered[:limit]
    if not any(match.is_similar for match in shown):
        shown[-1:] = [match for match in ordered[limit:] if match.is_similar][:1] or shown[-1:]
    return tuple(shown)


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
