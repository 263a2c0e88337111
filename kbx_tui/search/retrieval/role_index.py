"""Roles and teams in a query, by the stems of their words, and the entities that have them.

Many entities may have the same role. Those with equal signals are ordered by id, and 20 entities
are candidates at most, so of each combination of scores the first 20 are enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.item_keys import key_hash
from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.index.entities.stored_entities import numbers_with
from kbx_tui.index.entities.stored_names import StoredNames
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.knowledge.stemming import stem
from kbx_tui.search.evidence.evidence import Signal
from kbx_tui.search.evidence.tuning import MAX_ENTITIES_LIMIT
from kbx_tui.search.query.english_words import ARTICLES, ASKING_WHO, FUNCTION_WORDS

ASKED_ROLE, WHOLE_ROLE, PART_OF_ROLE = 0.7, 0.45, 0.4
"""Score of the role in `who is the beekeeper?`, of a role whose words are all in another query, and
the highest of one with some of its words. Only the first opens the second pass: documents about the
prime minister are not those that this person attended."""
MOST_HOLDERS = 1000
"""Entities with a role that is asked for whose pages are listed, the first by id."""

Numbers = NDArray[np.int32]


class RoleIndex:
    """The roles and teams of the entities of one generation."""

    def __init__(self, entities: EntityColumn, names: StoredNames) -> None:
        self._names = names
        self._roles, self._teams = (entities.stored.coded(name) for name in ("role", "team"))
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

    def signals(
        self, scores: Mapping[int, float], found: Iterable[int]
    ) -> Iterator[tuple[int, Signal]]:
        """Yield entities, by index, with the signals of their role and team, given their `scores`.

        All of those `found` by other signals, and those that can be among the candidates.
        """
        if not scores:
            return
        roles, teams = len(self._roles.values), len(self._teams.values)
        by_text = np.zeros(roles + teams)
        by_text[list(scores)] = list(scores.values())
        of_roles, of_teams = by_text[:roles], by_text[roles:]
        numbers = sorted({*found, *self._first(scores), *self._with_both(of_roles, of_teams)})
        role_codes, team_codes = self._roles.codes[numbers], self._teams.codes[numbers]
        signals: dict[int, Signal] = {}  # many entities have the same
        for number, role, team, role_score, team_score in zip(
            numbers,
            role_codes.tolist(),
            team_codes.tolist(),
            of_roles[role_codes].tolist(),
            of_teams[team_codes].tolist(),
            strict=True,
        ):
            if role_score:
                if (signal := signals.get(role)) is None:
                    signal = signals[role] = Signal("role", role_score, self._roles.values[role])
                yield number, signal
            if team_score:
                if (signal := signals.get(roles + team)) is None:
                    name = self._teams.values[team]
                    signal = signals[roles + team] = Signal("team", team_score, name)
                yield number, signal

    def _first(self, scores: Mapping[int, float]) -> set[int]:
        """Return the first entities with a role of each score, and with a team of each.

        Only of the highest scores that are enough for all candidates: of the entities in none of
        these, only those with another signal can be among them.
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

    def _with_both(
        self, of_roles: NDArray[np.float64], of_teams: NDArray[np.float64]
    ) -> Iterator[int]:
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
        """Return the roles that a query asks for, by number."""
        asked = _who_is_asked_for(folded_words(query))
        hashes, texts = self._names.role_hashes, self._names.role_texts
        return [
            text
            for role in {asked, asked.removesuffix("s")} - {""}
            for text in numbers_with(hashes, texts, key_hash(role))
        ]

    def _holders(self, text: int) -> Numbers:
        start, end = self._names.holder_starts[text : text + 2].tolist()
        return self._names.holders[start:end]

    def _word_count(self, text: int) -> int:
        """Return the number of different words of a role or team that say something."""
        roles = self._roles.values
        words = roles[text] if text < len(roles) else self._teams.values[text - len(roles)]
        return len({*map(stem, folded_words(words))} - FUNCTION_WORDS)


def _who_is_asked_for(words: Sequence[str]) -> str:
    """Return the folded words after `who is the`, empty for another query."""
    if tuple(words[:2]) not in ASKING_WHO:
        return ""
    rest = words[2:]
    return " ".join(rest[1:] if rest and rest[0] in ARTICLES else rest)
