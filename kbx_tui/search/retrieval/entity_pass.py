"""Pass 1: from a query to candidate entities with scores, 0..1, and the signals they come from.

    entity_score = best + (1 - best) * 0.25 * second

with the two strongest signals of an entity. A name or alias in the query scores 1.0. Weak signals
(team, facts, vector of the profile, some words of a role, a name that may be an ordinary word) stay
below the default threshold of .5 however many there are: a pure topic must not start the second
pass. Entities that share an ambiguous name score the same and are ordered by their other signals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import EntityCandidate, Signal, SignalKind
from kbx_tui.search.evidence.tuning import MAX_ENTITIES_LIMIT
from kbx_tui.search.query.names.name_match import NameMatch, TextsWith, no_texts
from kbx_tui.search.query.names.name_matching import NameMatcher
from kbx_tui.search.retrieval.fact_index import FoundFact
from kbx_tui.search.retrieval.role_index import RoleIndex

SECOND_SIGNAL = 0.25
HINTS_AT_MOST = 0.49
"""Highest score without a strong signal. Chosen by the experiment "limit of weak entity signals" in
docs/quality.md."""
FACT_WEIGHT, FACT_HALF = 0.48, 5.0
MEANING_WEIGHT, MEANING_FLOOR = 0.5, 0.2
"""Weight of a cosine with a profile, and the lowest that counts. Chosen by the experiment "entity
cosines" in docs/quality.md."""

_STRENGTH = attrgetter("score")


class EntityPass:
    """Pass 1 over the entities of one generation. Pure: facts and cosines are arguments."""

    def __init__(self, snapshot: Snapshot, texts_with: TextsWith = no_texts) -> None:
        self._entities, names = snapshot.entities, snapshot.names
        self.names = NameMatcher(snapshot.entities, names, snapshot.name_uses, texts_with)
        self._roles = RoleIndex(snapshot.entities, snapshot.names)

    def holders_asked_for(self, query: str) -> list[int]:
        """Return the entities, by index, whose role is asked for: `who is the beekeeper?`"""
        return self._roles.holders_asked_for(query)

    def find(
        self,
        query: str,
        matches: Sequence[NameMatch],
        facts: Sequence[FoundFact],
        nearest: Callable[[], tuple[NDArray[np.int64], NDArray[np.float32]]] | None,
    ) -> tuple[EntityCandidate, ...]:
        """Return the entities that a query concerns, best first, at most 20.

        `matches` are those of `names`, `facts` those that hold terms of the query. `nearest`,
        None without vectors, returns the entities whose profiles are nearest to the query, at least
        20 where there are as many, and their cosines; it is called last because the embedding may
        not be ready.
        """
        signals: dict[int, dict[SignalKind, Signal]] = defaultdict(dict)
        named = [(match.entity, match.signal) for match in matches]
        roles = self._roles.matching(query)
        others = [
            (
                fact.entity,
                Signal("fact", FACT_WEIGHT * fact.bm25 / (fact.bm25 + FACT_HALF), fact.text),
            )
            for fact in facts
        ]
        if nearest is not None:
            others += _meaning_signals(*nearest())
        found = [number for number, _ in (*named, *others)]
        for number, signal in (*named, *self._roles.signals(roles, found), *others):
            best = signals[number].setdefault(signal.kind, signal)
            if signal.score > best.score:
                signals[number][signal.kind] = signal
        outright = {match.entity for match in matches if match.named}
        return tuple(
            _candidate(self._entities[number], -score, number in outright, strongest_first)
            for score, _, number, strongest_first in _best(signals)
        )


def _best(
    signals: Mapping[int, Mapping[SignalKind, Signal]],
) -> list[tuple[float, float, int, list[Signal]]]:
    """Return the best 20 entities: minus score and support, number, strongest signals.

    Numbers are in the order of ids.
    """
    scored = []
    for number, kinds in signals.items():
        strongest_first = list(kinds.values())
        if len(strongest_first) == 1:  # as most: what follows makes the same of one signal
            score, support = strongest_first[0].score, 0.0
        else:
            strongest_first.sort(key=_STRENGTH, reverse=True)
            score, support = merge_signals(strongest_first), _support(strongest_first)
        scored.append((-score, -support, number, strongest_first))
    scored.sort()  # by the first three, as numbers differ
    return scored[:MAX_ENTITIES_LIMIT]


def with_pinned(
    candidates: tuple[EntityCandidate, ...], pinned: Sequence[Entity]
) -> tuple[EntityCandidate, ...]:
    """Return the candidates, followed by the pinned entities that are not among them."""
    ids = {candidate.id for candidate in candidates}
    added = {entity.id: entity for entity in pinned if entity.id not in ids}
    return (*candidates, *map(_candidate, added.values()))


def _candidate(
    e: Entity, score: float = 0.0, named: bool = False, signals: Sequence[Signal] = ()
) -> EntityCandidate:
    return EntityCandidate(e.id, e.name, e.type, e.path, score, named, tuple(signals))


def merge_signals(signals: Sequence[Signal]) -> float:
    """Return the entity score by the formula of this module; `signals` are strongest first."""
    best = signals[0].score
    if signals[0].ambiguous:
        return best
    merged = best + (1.0 - best) * SECOND_SIGNAL * _support(signals)
    return merged if best > HINTS_AT_MOST else min(merged, HINTS_AT_MOST)


def _support(signals: Sequence[Signal]) -> float:
    return signals[1].score if len(signals) > 1 else 0.0


def _meaning_signals(
    entities: NDArray[np.int64], cosines: NDArray[np.float32]
) -> list[tuple[int, Signal]]:
    best = np.argsort(-cosines, kind="stable")[:MAX_ENTITIES_LIMIT]
    return [
        (number, Signal("meaning", MEANING_WEIGHT * cosine, f"cosine {cosine:.2f}"))
        for number, cosine in zip(entities[best].tolist(), cosines[best].tolist(), strict=True)
        if cosine >= MEANING_FLOOR
    ]
