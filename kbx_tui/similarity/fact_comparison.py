"""Compares a text with facts and open items: identical text first, then nearest by vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np

from kbx_tui.embedding.embedder import Vector
from kbx_tui.knowledge.records import Fact
from kbx_tui.similarity.fact_vectors import FactVectors, Flags
from kbx_tui.similarity.matches import DuplicateFact, Nearest, SimilarityMatch
from kbx_tui.similarity.scoring.calibration import Calibration
from kbx_tui.similarity.scoring.compared_words import normal_form
from kbx_tui.similarity.scoring.pair_score import PairScore, score_pair
from kbx_tui.similarity.scoring.thresholds import Thresholds

MIN_COMPARED = 48
"""Minimum number of facts compared word by word, those nearest by cosine. Words change a score
little compared with the cosine, so a match beyond these would have many better ones before it."""

NEAREST_REPORTED = 5
"""Nearest texts reported when nothing matches; redaction may hide some of them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of comparing one text with many."""

    matches: list[SimilarityMatch]
    """Best first."""
    nearest: tuple[Nearest, ...]
    """The best scores of all texts compared, best first, at most `NEAREST_REPORTED`."""
    has_similar: bool
    """Whether any text without a conflict reaches its threshold, listed in `matches` or not."""
    texts: frozenset[str] = frozenset()
    """All texts that reach their threshold, listed in `matches` or not."""


def find_identical_facts(
    text: str, facts: FactVectors, within: Flags | None = None
) -> Iterator[tuple[int, Fact]]:
    """Yield row and fact for each identical text, ignoring case, accents and spacing."""
    for row in facts.rows_by_text.get(normal_form(text), ()):
        if within is None or within[row]:
            yield row, facts.facts[row]


def find_similar_facts(
    text: str,
    vector: Vector,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    limit: int,
    within: Flags | None = None,
) -> Comparison:
    """Return the facts and open items similar to a text with this unit vector.

    The best `limit`, and all that tie with the last of them. `names` maps entity ids to names;
    `within`, shape (facts,), restricts the facts compared.
    """
    nearest, similar = _score_nearest(
        text, vector, facts, calibration, thresholds, limit=limit, within=within
    )
    lowest = similar[limit - 1].pair.score if len(similar) > limit else 0.0
    listed = [fact for fact in similar if fact.pair.score >= lowest]
    matches = [fact.as_match(names) for fact in listed]
    return Comparison(
        best_first(matches),
        nearest,
        any(match.is_similar for match in matches)
        or not all(fact.pair.is_conflict() for fact in similar[len(listed) :]),
        frozenset(scored.fact.text for scored in similar),
    )


def similar_rows(
    text: str,
    vector: Vector,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    names: dict[str, str],
    limit: int,
    within: Flags | None = None,
) -> list[tuple[int, SimilarityMatch]]:
    """Return the nearest facts that reach their threshold as (row, match), best first."""
    _, similar = _score_nearest(
        text, vector, facts, calibration, thresholds, limit=limit, within=within
    )
    matches = [(scored.row, scored.as_match(names)) for scored in similar]
    return sorted(matches, key=lambda pair: (-pair[1].score, bool(pair[1].conflicts), pair[0]))


@dataclass(frozen=True, slots=True)
class _ScoredFact:
    """A stored fact with its score and the threshold that applies to it."""

    row: int
    fact: Fact
    pair: PairScore
    threshold: float

    def as_nearest(self) -> Nearest:
        """Return this fact as one of the nearest texts, whether or not it conflicts."""
        fact = self.fact
        return Nearest(fact.text, self.pair.score, self.threshold, fact.kind, fact.path, fact.line)

    def as_match(self, names: dict[str, str]) -> SimilarityMatch:
        """Return this fact as a match, with the conflicts between the two texts."""
        fact, pair = DuplicateFact.of(self.fact, names), self.pair.with_conflicts()
        return SimilarityMatch.of(fact, pair, self.threshold, done=self.fact.done)


def _score_nearest(
    text: str,
    vector: Vector,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    limit: int,
    within: Flags | None,
) -> tuple[tuple[Nearest, ...], list[_ScoredFact]]:
    """Return the nearest facts, and those that reach their threshold, best first.

    Identical texts and the nearest by cosine are compared word by word. Conflicts, the slowest
    part, are left to the few that are listed.
    """
    compared = {row for row, _ in find_identical_facts(text, facts, within)}
    compared.update(facts.nearest(vector, max(MIN_COMPARED, 4 * limit), within).tolist())
    rows = sorted(compared)
    scored = []
    for row, cosine in zip(rows, facts.cosines(vector, np.array(rows, np.int64)), strict=True):
        fact = facts.facts[row]
        pair = score_pair(text, fact.text, float(cosine), calibration)
        scored.append(_ScoredFact(row, fact, pair, thresholds.of(fact.kind, fact.text)))
    scored.sort(key=lambda fact: -fact.pair.score)
    nearest = tuple(fact.as_nearest() for fact in scored[:NEAREST_REPORTED])
    return nearest, [fact for fact in scored if thresholds.reached(fact.pair, fact.threshold)]


def top_nearest(texts: Iterable[Nearest]) -> tuple[Nearest, ...]:
    """Return the texts with the best scores, best first."""
    return tuple(nlargest(NEAREST_REPORTED, texts, key=lambda text: text.score))


def best_first(matches: Sequence[SimilarityMatch]) -> list[SimilarityMatch]:
    """Return matches by score; on ties, those without a conflict first, then by path and line."""
    return sorted(
        matches,
        key=lambda match: (-match.score, bool(match.conflicts), match.source_path, match.line),
    )
