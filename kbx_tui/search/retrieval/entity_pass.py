"""Pass 1: from a query to entities with scores, each 0..1 and each with its reasons.

    entity_score = best + (1 - best) * 0.25 * second

with the two strongest signals of an entity. A name or alias in the query is 1.0; what only hints
(team, facts, meaning of the profile, some words of a role, a name that may be a word) stays below
the usual threshold of .5 however much of it there is: a pure topic must not open the second pass.
Those who share an ambiguous name have equal scores, in order of what else speaks for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import EntityCandidate, Signal, SignalKind
from kbx_tui.search.evidence.tuning import MAX_ENTITIES_LIMIT
from kbx_tui.search.query.english_words import ARTICLES, ASKING_WHO, FUNCTION_WORDS, stem, words_of
from kbx_tui.search.query.name_index import NameIndex, NameMatch
from kbx_tui.search.retrieval.fact_index import FoundFact

SECOND_SIGNAL = 0.25
HINTS_AT_MOST = 0.49
"""Cosine .88 and a fact of the same words came to .57: 8 % of the pure topics of cranfield-dev were
searched in two passes."""
WHOLE_ROLE, PART_OF_ROLE = 0.7, 0.4
"""Score when all words of a role of two words or more are in the query, or `who is the beekeeper`
asks for one of a single word, and the most otherwise."""
FACT_WEIGHT, FACT_HALF = 0.48, 5.0
MEANING_WEIGHT, MEANING_FLOOR = 0.5, 0.2
"""Cosines of whole questions with profiles: .15-.33 for topics, .38-.70 for entities."""


class EntityPass:
    """Pass 1 over the entities of one generation. Pure: what it needs of the index is given."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._entities = snapshot.entities
        self._names = NameIndex(snapshot.entities)
        self._number_of = {entity.id: i for i, entity in enumerate(snapshot.entities)}
        self._roles = _RoleIndex(snapshot.entities)

    def names(self, query: str) -> list[NameMatch]:
        """Return where in the query which entities are named."""
        return self._names.find(query)

    def whole_names(self, query: str) -> list[NameMatch]:
        """Return where in the query which entities are named in full: quickly."""
        return self._names.find_whole(query)

    def find(
        self,
        query: str,
        matches: Sequence[NameMatch],
        facts: Sequence[FoundFact],
        cosines: Callable[[], NDArray[np.float32]] | None,
    ) -> tuple[EntityCandidate, ...]:
        """Return the entities a query is about, best first, at most 20.

        `matches` is what `names` found, `facts` those that hold its words. `cosines`, None without
        vectors, returns the cosine of the query with every profile, shape (entities,); it is called
        last, as the model may still be at work.
        """
        signals: dict[int, dict[SignalKind, Signal]] = defaultdict(dict)
        for match in matches:
            _keep_best(signals[match.entity], match.signal)
        for number, signal in [*self._roles.find(query), *self._fact_signals(facts)]:
            _keep_best(signals[number], signal)
        for number, signal in _meaning_signals(cosines()) if cosines is not None else ():
            _keep_best(signals[number], signal)
        found = [(number, _strongest_first(kinds)) for number, kinds in signals.items()]
        found.sort(key=lambda one: (-merge_signals(one[1]), -_support(one[1]),
                                    self._entities[one[0]].id))  # fmt: skip
        named = {match.entity for match in matches if match.named}
        return tuple(
            self._candidate(number, merged, number in named)
            for number, merged in found[:MAX_ENTITIES_LIMIT]
        )

    def _candidate(self, number: int, signals: list[Signal], named: bool) -> EntityCandidate:
        entity = self._entities[number]
        return EntityCandidate(
            id=entity.id,
            name=entity.name,
            type=entity.type,
            path=entity.path,
            score=merge_signals(signals),
            named=named,
            signals=tuple(signals),
        )

    def _fact_signals(self, facts: Sequence[FoundFact]) -> list[tuple[int, Signal]]:
        return [
            (number, Signal("fact", FACT_WEIGHT * fact.bm25 / (fact.bm25 + FACT_HALF), fact.text))
            for fact in facts
            if (number := self._number_of.get(fact.entity_id)) is not None
        ]


def with_pinned(
    found: tuple[EntityCandidate, ...], pinned: Sequence[Entity]
) -> tuple[EntityCandidate, ...]:
    """Return the candidates and, after them, those of `pinned` that are not among them."""
    known = {candidate.id for candidate in found}
    added = {entity.id: entity for entity in pinned if entity.id not in known}
    return (
        *found,
        *(
            EntityCandidate(e.id, e.name, e.type, e.path, score=0.0, named=False, signals=())
            for e in added.values()
        ),
    )


class _RoleIndex:
    """Words of roles and team names, by stem."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._texts: list[tuple[int, SignalKind, str, int]] = []
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        for number, entity in enumerate(entities):
            roles: list[tuple[SignalKind, str]] = [("role", entity.role), ("team", entity.team)]
            for kind, text in roles:
                stems = {stem(w.folded) for w in words_of(text)} - FUNCTION_WORDS
                for one in stems:
                    self._by_stem[one].append(len(self._texts))
                if stems:
                    self._texts.append((number, kind, text, len(stems)))

    def find(self, query: str) -> list[tuple[int, Signal]]:
        counts: dict[int, int] = defaultdict(int)
        words = [word.folded for word in words_of(query)]
        asked = {stem(word) for word in words} - FUNCTION_WORDS
        for one in asked:
            for text in self._by_stem.get(one, []):
                counts[text] += 1
        *before, last = words or [""]
        asks_who = tuple(word for word in before if word not in ARTICLES) in ASKING_WHO
        signals = []
        for index, matched in counts.items():
            number, kind, role, total = self._texts[index]
            is_last = asks_who and fold(role) in (last, last.removesuffix("s"))
            whole = kind == "role" and matched == total and (total > 1 or is_last)
            score = WHOLE_ROLE if whole else PART_OF_ROLE * matched / total
            signals.append((number, Signal(kind, score, role)))
        return signals


def merge_signals(signals: Sequence[Signal]) -> float:
    """Return the entity score of signals given strongest first: the formula of this module."""
    best = signals[0].score
    if signals[0].ambiguous:
        return best
    second = signals[1].score if len(signals) > 1 else 0.0
    merged = best + (1.0 - best) * SECOND_SIGNAL * second
    return merged if best > HINTS_AT_MOST else min(merged, HINTS_AT_MOST)


def _strongest_first(signals: dict[SignalKind, Signal]) -> list[Signal]:
    return sorted(signals.values(), key=lambda signal: -signal.score)


def _support(signals: Sequence[Signal]) -> float:
    return signals[1].score if len(signals) > 1 else 0.0


def _meaning_signals(cosines: NDArray[np.float32]) -> list[tuple[int, Signal]]:
    if not len(cosines):
        return []
    count = min(MAX_ENTITIES_LIMIT, len(cosines))
    nearest = np.argpartition(-cosines, count - 1)[:count]
    return [
        (int(n), Signal("meaning", MEANING_WEIGHT * float(cosines[n]), f"cosine {cosines[n]:.2f}"))
        for n in nearest
        if cosines[n] >= MEANING_FLOOR
    ]


def _keep_best(signals: dict[SignalKind, Signal], signal: Signal) -> None:
    known = signals.get(signal.kind)
    if known is None or signal.score > known.score:
        signals[signal.kind] = signal
