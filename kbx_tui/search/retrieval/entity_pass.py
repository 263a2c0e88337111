"""Pass 1: from a query to candidate entities with scores, 0..1, and the signals they come from.

    entity_score = best + (1 - best) * 0.25 * second

with the two strongest signals of an entity. A name or alias in the query scores 1.0. Weak signals
(team, facts, vector of the profile, some words of a role, a name that may be an ordinary word) stay
below the default threshold of .5 however many there are: a pure topic must not start the second
pass. Entities that share an ambiguous name score the same and are ordered by their other signals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.lexical.bm25 import K1, B
from kbx_tui.index.lexical.terms import term_of, words_in
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.stored_documents import key_hash
from kbx_tui.index.stored_entities import EntityColumn, StoredFacts
from kbx_tui.index.stored_names import StoredNames
from kbx_tui.index.text_columns import CodedColumn, TextColumn, numbers_with
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.knowledge.languages import stem
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import EntityCandidate, Signal, SignalKind
from kbx_tui.search.evidence.scores import Scores, highest
from kbx_tui.search.evidence.tuning import MAX_ENTITIES_LIMIT
from kbx_tui.search.query.english_words import ARTICLES, ASKING_WHO, FUNCTION_WORDS
from kbx_tui.search.query.name_matching import NameMatcher, TextsWith
from kbx_tui.search.query.named_query import NameMatch
from kbx_tui.search.query.query_terms import query_terms

SECOND_SIGNAL = 0.25
HINTS_AT_MOST = 0.49
"""Highest score without a strong signal. Chosen by the experiment "limit of weak entity signals" in
docs/quality.md."""
FACT_WEIGHT, FACT_HALF = 0.48, 5.0
MEANING_WEIGHT, MEANING_FLOOR = 0.5, 0.2
"""Weight of a cosine with a profile, and the lowest that counts. Chosen by the experiment "entity
cosines" in docs/quality.md."""

FoundSignal = tuple[int, Signal]
"""Index of an entity, and a reason why it fits the query."""

_STRENGTH = attrgetter("score")


class EntityPass:
    """Pass 1 over the entities of one generation. Pure: facts and cosines are arguments."""

    def __init__(self, snapshot: Snapshot, texts_with: TextsWith = lambda *_: 0) -> None:
        self._entities, names = snapshot.entities, snapshot.names
        self.names = NameMatcher(snapshot.entities, names, snapshot.name_uses, texts_with)
        self.roles = RoleIndex(snapshot.entities, snapshot.names)

    def find(
        self,
        query: str,
        matches: Sequence[NameMatch],
        facts: Sequence[FoundSignal],
        nearest: Callable[[], tuple[NDArray[np.int64], NDArray[np.float32]]] | None,
    ) -> tuple[EntityCandidate, ...]:
        """Return the entities that a query concerns, best first, at most 20.

        `matches` are those of `names`, `facts` what `FactIndex` found. `nearest`, None without
        vectors, returns the entities whose profiles are nearest to the query, at least 20 where
        there are as many, and their cosines; it is called last because the embedding may not be
        ready.
        """
        signals: dict[int, dict[SignalKind, Signal]] = defaultdict(dict)
        named = [(match.entity, match.signal) for match in matches]
        roles = self.roles.matching(query)
        others = list(facts)
        if nearest is not None:
            others += _meaning_signals(*nearest())
        found = [number for number, _ in (*named, *others)]
        for number, signal in (*named, *self.roles.signals(roles, found), *others):
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
        strongest_first = sorted(kinds.values(), key=_STRENGTH, reverse=True)
        support = strongest_first[1].score if len(strongest_first) > 1 else 0.0
        scored.append((-_merged(strongest_first[0], support), -support, number, strongest_first))
    scored.sort()  # by the first three, as numbers differ
    return scored[:MAX_ENTITIES_LIMIT]


def with_pinned(
    candidates: tuple[EntityCandidate, ...], pinned: Sequence[Entity]
) -> tuple[EntityCandidate, ...]:
    ids = {candidate.id for candidate in candidates}
    added = {entity.id: entity for entity in pinned if entity.id not in ids}
    return (*candidates, *map(_candidate, added.values()))


def _candidate(
    e: Entity, score: float = 0.0, named: bool = False, signals: Sequence[Signal] = ()
) -> EntityCandidate:
    return EntityCandidate(e.id, e.name, e.type, e.path, score, named, tuple(signals))


def _merged(strongest: Signal, support: float) -> float:
    """Return the entity score by the formula of this module; `support` is the second score."""
    best = strongest.score
    if strongest.ambiguous:
        return best
    merged = best + (1.0 - best) * SECOND_SIGNAL * support
    return merged if best > HINTS_AT_MOST else min(merged, HINTS_AT_MOST)


def _meaning_signals(
    entities: NDArray[np.int64], cosines: NDArray[np.float32]
) -> list[FoundSignal]:
    best = np.argsort(-cosines, kind="stable")[:MAX_ENTITIES_LIMIT]
    return [
        (number, Signal("meaning", MEANING_WEIGHT * cosine, f"cosine {cosine:.2f}"))
        for number, cosine in zip(entities[best].tolist(), cosines[best].tolist(), strict=True)
        if cosine >= MEANING_FLOOR
    ]


ASKED_ROLE, WHOLE_ROLE, PART_OF_ROLE = 0.7, 0.45, 0.4
"""Score of the role in `who is the beekeeper?`, of a role whose words are all in another query, and
the highest of one with some of its words. Only the first opens the second pass: documents about the
prime minister are not those that this person attended."""
MOST_HOLDERS = 1000
"""Entities with a role that is asked for whose pages are listed, the first by id."""


class RoleIndex:
    def __init__(self, entities: EntityColumn, names: StoredNames) -> None:
        self._names = names
        self._roles, self._teams = entities.stored.roles, entities.stored.teams
        self._words: dict[int, int] = {}

    def holders_asked_for(self, query: str) -> list[int]:
        """Return the entities, by index, whose role is asked for: `who is the beekeeper?`"""
        holders = map(self._holders, self._asked_for(query))
        return sorted(chain.from_iterable(each[:MOST_HOLDERS].tolist() for each in holders))

    def matching(self, query: str) -> Mapping[int, float]:
        """Return the roles and teams that share words with a query, by number, and their scores."""
        counts: Counter[int] = Counter()
        stems = {*map(stem, folded_words(query))} - FUNCTION_WORDS
        for each in stems:
            counts.update(
                numbers_with(self._names.stem_hashes, self._names.stem_texts, key_hash(each))
            )
        if not counts:
            return {}
        asked = self._asked_for(query)
        return {text: self._score(text, matched, asked) for text, matched in sorted(counts.items())}

    def _score(self, text: int, matched: int, asked: Sequence[int]) -> float:
        if text in asked:
            return ASKED_ROLE
        if (total := self._words.get(text)) is None:
            total = self._words[text] = self._word_count(text)
        is_whole_role = matched == total > 1 and text < len(self._roles.values)
        return WHOLE_ROLE if is_whole_role else PART_OF_ROLE * matched / total

    def signals(self, scores: Mapping[int, float], found: Iterable[int]) -> Iterator[FoundSignal]:
        """Yield entities with the signals of their role and team, given their `scores`.

        These are all entities `found` by other signals, and those that can become candidates.
        """
        if not scores:
            return
        roles, teams = len(self._roles.values), len(self._teams.values)
        by_text = np.zeros(roles + teams)
        by_text[list(scores)] = list(scores.values())
        of_roles, of_teams = by_text[:roles], by_text[roles:]
        numbers = sorted({*found, *self._first(scores), *self._with_both(of_roles, of_teams)})
        kinds: tuple[tuple[SignalKind, CodedColumn, Scores], ...] = (
            ("role", self._roles, of_roles),
            ("team", self._teams, of_teams),
        )
        for kind, column, of_each in kinds:
            signals: dict[int, Signal] = {}  # many entities have the same
            codes = column.codes[numbers]
            for number, code, score in zip(
                numbers, codes.tolist(), of_each[codes].tolist(), strict=True
            ):
                if score and code not in signals:
                    signals[code] = Signal(kind, score, column.values[code])
                if score:
                    yield number, signals[code]

    def _first(self, scores: Mapping[int, float]) -> set[int]:
        """Return the first entities with a role of each score, and with a team of each.

        Only the highest scores are looked at, as many as are enough for all candidates: an entity
        with none of these can be a candidate only by another signal.
        """
        groups: dict[tuple[float, bool], list[int]] = {}
        for text, score in scores.items():
            groups.setdefault((score, text < len(self._roles.values)), []).append(text)
        first: set[int] = set()
        lowest = 0.0
        for score, is_role in sorted(groups, reverse=True):
            if len(first) >= MAX_ENTITIES_LIMIT and score < lowest:
                break
            holders = [self._holders(text)[:MAX_ENTITIES_LIMIT] for text in groups[score, is_role]]
            first.update(np.sort(np.concatenate(holders))[:MAX_ENTITIES_LIMIT].tolist())
            lowest = score
        return first

    def _with_both(self, of_roles: Scores, of_teams: Scores) -> Iterator[int]:
        """Yield the first entities of each combination of scores of a role and a team."""
        if not (of_roles.any() and of_teams.any()):
            return
        holders = [self._holders(text) for text in np.flatnonzero(of_roles).tolist()]
        numbers = np.sort(np.concatenate(holders))
        team_scores = of_teams[self._teams.codes[numbers]]
        numbers, team_scores = numbers[team_scores > 0.0], team_scores[team_scores > 0.0]
        role_scores = of_roles[self._roles.codes[numbers]]
        for pair in {*zip(role_scores.tolist(), team_scores.tolist(), strict=True)}:
            alike = (role_scores == pair[0]) & (team_scores == pair[1])
            yield from numbers[alike][:MAX_ENTITIES_LIMIT].tolist()

    def _asked_for(self, query: str) -> list[int]:
        asked = _who_is_asked_for(folded_words(query))
        hashes, texts = self._names.role_hashes, self._names.role_texts
        return [
            text
            for role in {asked, asked.removesuffix("s")} - {""}
            for text in numbers_with(hashes, texts, key_hash(role))
        ]

    def _holders(self, text: int) -> NDArray[np.int32]:
        start, end = self._names.holder_starts[text : text + 2].tolist()
        return self._names.holders[start:end]

    def _word_count(self, text: int) -> int:
        roles = self._roles.values
        words = roles[text] if text < len(roles) else self._teams.values[text - len(roles)]
        return len({*map(stem, folded_words(words))} - FUNCTION_WORDS)


def _who_is_asked_for(words: Sequence[str]) -> str:
    """Return the folded words after `who is the`, empty for another query."""
    if tuple(words[:2]) not in ASKING_WHO:
        return ""
    rest = words[2:]
    return " ".join(rest[1:] if rest and rest[0] in ARTICLES else rest)


FACTS_LIMIT = 50


class FactIndex:
    """The facts of one generation. Inactive ones only contribute to term statistics."""

    def __init__(self, facts: StoredFacts) -> None:
        self._facts, self._texts = facts, TextColumn([facts.texts])
        self._languages = facts.languages()
        total = int(facts.lengths.sum(dtype=np.int64))
        self._mean_length = total / len(facts) if total else 1.0

    def find(self, query: str) -> list[FoundSignal]:
        """Return the best of the active facts of each entity that hold a term of the query.

        They come from the 50 best facts by the formula of `index/lexical/bm25`, best first.
        """
        words = words_in(" ".join(query_terms(query)))
        terms = dict.fromkeys(
            term
            for language in self._languages
            for word in words
            if (term := term_of(word, language))
        )
        ids, parts = [np.empty(0, np.int32)], [np.empty(0)]
        for term in terms:
            doc_ids, frequencies = self._facts.postings_of(self._facts.term_id(term))
            idf = np.log1p((len(self._facts) - len(doc_ids) + 0.5) / (len(doc_ids) + 0.5))
            lengths = self._facts.lengths[doc_ids]
            norms = K1 * (1.0 - B + B * lengths / self._mean_length)
            counts = frequencies.astype(np.float64)
            ids.append(doc_ids)
            parts.append(float(idf) * (K1 + 1.0) * counts / (counts + norms))
        rows, places = np.unique(np.concatenate(ids), return_inverse=True)
        scores: Scores = np.bincount(places, np.concatenate(parts), len(rows)).astype(np.float64)
        found = np.flatnonzero((scores > 0.0) & (self._facts.active[rows] > 0))
        best = highest(scores, found, FACTS_LIMIT)
        numbers = self._facts.entities[rows[best]].tolist()
        signals: dict[int, FoundSignal] = {}
        for number, row, score in zip(
            numbers, rows[best].tolist(), scores[best].tolist(), strict=True
        ):
            if number >= 0 and number not in signals:  # reading a text takes a while
                strength = FACT_WEIGHT * score / (score + FACT_HALF)
                signals[number] = number, Signal("fact", strength, self._texts[row])
        return list(signals.values())
