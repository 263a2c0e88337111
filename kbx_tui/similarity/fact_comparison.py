"""Compares a text with facts and open items: identical text first, then nearest by vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

import numpy as np

from kbx_tui.search.evidence.scores import Flags
from kbx_tui.similarity.compared_words import normal_form
from kbx_tui.similarity.fact_vectors import CandidateText, FactVectors
from kbx_tui.similarity.matches import SimilarityMatch, Thresholds, is_near
from kbx_tui.similarity.pair_score import Calibration, similarity

MIN_COMPARED = 48
"""Minimum number of facts compared word by word, those nearest by cosine. Words change a score
little compared with the cosine, so a match beyond these would have many better ones before it."""

NEAREST_REPORTED = 5
"""Redaction may hide some of them."""


@dataclass(frozen=True, slots=True)
class Comparison:
    matches: list[SimilarityMatch]
    """Best first. If anything compared is similar, one of them is."""
    nearest: tuple[SimilarityMatch, ...]
    """The best scores of all texts compared, best first, at most `NEAREST_REPORTED`."""
    texts: frozenset[str] = frozenset()
    """All texts similar enough to be listed, in `matches` or not."""

    def joined_with(self, other: Comparison) -> Comparison:
        return Comparison(
            best_first([*self.matches, *other.matches]),
            top_nearest((*self.nearest, *other.nearest)),
        )


def find_identical_facts(
    text: str, facts: FactVectors, within: Flags | None = None
) -> Iterator[int]:
    for row in facts.rows_by_text.get(normal_form(text), ()):
        if within is None or within[row]:
            yield row


def find_similar_facts(
    candidate: CandidateText,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    limit: int,
    within: Flags | None = None,
    fields: Sequence[SimilarityMatch] = (),
) -> Comparison:
    """Return the facts, open items and `fields` similar to a text.

    The best `limit`, all that tie with the last of them, and the best one without a conflict.
    `within`, shape (facts,), restricts the facts compared.
    """
    near = score_facts(candidate, facts, calibration, thresholds, limit=limit, within=within)
    scored = sorted([*near, *fields], key=lambda known: -known.score)
    listed = [known for known in scored if thresholds.listed(known.pair, known.threshold)]
    lowest = listed[limit - 1].score if len(listed) > limit else 0.0
    matches = [known for known in listed if known.score >= lowest]
    if not any(match.is_similar for match in matches):
        matches += islice((known for known in listed[len(matches) :] if known.is_similar), 1)
    clear = [known for known in scored if not thresholds.is_misleading(known.pair, known.threshold)]
    texts = frozenset(known.text for known in listed)
    return Comparison(best_first(matches), tuple(clear[:NEAREST_REPORTED]), texts)


def near_facts(
    candidate: CandidateText,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    floor: float,
    limit: int,
    fields: Sequence[SimilarityMatch] = (),
    only_own: bool = False,
) -> tuple[SimilarityMatch, ...]:
    """Return the facts and `fields` that score at least `floor`, best first, the owner's on ties.

    At most `limit` facts of all, plus at most `limit` that belong to the candidate's owner, and as
    many that reach their threshold: those of a type that needs less may score below the others.
    `only_own` leaves out facts of other entities.
    """

    def counts(known: SimilarityMatch) -> bool:
        return known.score >= floor and is_near(known.pair)

    own = facts.owned_by(candidate.owner)
    near: dict[tuple[str, int], SimilarityMatch] = {}
    for within in [own] if only_own else [None, own] if candidate.owner else [None]:
        scored = score_facts(candidate, facts, calibration, thresholds, limit=limit, within=within)
        above = list(filter(counts, scored))
        similar = [known for known in above if known.score >= known.threshold]
        near |= {(fact.source_path, fact.line): fact for fact in (*above[:limit], *similar[:limit])}
    return tuple(
        sorted(
            (*near.values(), *filter(counts, fields)),
            key=lambda known: (
                -known.score,
                known.entity_id != candidate.owner,
                bool(known.conflicts),
                known.source_path,
                known.line,
            ),
        )
    )


def score_facts(
    candidate: CandidateText,
    facts: FactVectors,
    calibration: Calibration,
    thresholds: Thresholds,
    *,
    limit: int,
    within: Flags | None,
) -> list[SimilarityMatch]:
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
            fact = facts.facts[row]
            match = SimilarityMatch(
                text=fact.text,
                pair=similarity(text, facts.texts[row], float(cosine), calibration),
                threshold=thresholds.of(fact.kind, fact.text),
                match_type=fact.kind,
                source_path=fact.path,
                line=fact.line,
                entity_id=fact.entity_id,
                entity_name=facts.entity_name(fact),
                fact_id=fact.fact_id,
                date=fact.date,
                done=fact.done,
            )
            scored.append(match)
    return sorted(scored, key=lambda match: (-match.score, match.source_path, match.line))


def top_nearest(texts: Iterable[SimilarityMatch]) -> tuple[SimilarityMatch, ...]:
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
