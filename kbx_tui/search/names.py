"""Which entities a query names, deterministically: names, aliases, first names, typos."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from kbx_tui.knowledge.names import fold
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence import Signal, SignalKind
from kbx_tui.search.words import FUNCTION_WORDS, NAMES_THAT_ARE_WORDS, Word, words_of

LONGEST_NAME = 12
"""Words of the longest name looked for."""

AMBIGUOUS_FIRST_NAME = 0.8
"""Score of each bearer when several share the first name: kept, equal, none named outright."""

WEAK_ACRONYM = 0.4
"""Score of an alias of up to three letters that the query writes in another case."""

FUZZY_CUTOFF = 88.0
FUZZY_WEIGHT = 0.9
FUZZY_LENGTH = 6
"""Names and words this short are not compared for typos: too many words are one letter away."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A stretch of the query that names an entity."""

    entity: int
    """Index into the entities."""
    signal: Signal
    start: int
    end: int
    """Span in the query."""
    named: bool
    """True when the entity is named outright."""


@dataclass(frozen=True, slots=True)
class _Name:
    entity: int
    kind: SignalKind
    text: str


class NameIndex:
    """All names of all entities, ready to be found in queries."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._exact: dict[tuple[str, ...], list[_Name]] = defaultdict(list)
        self._first: dict[str, list[int]] = defaultdict(list)
        fuzzy: dict[str, _Name] = {}
        for number, entity in enumerate(entities):
            words = self._add(number, "name", entity.name)
            if entity.type == "person" and len(words) > 1:
                self._first[words[0]].append(number)
            if len(joined := "".join(words)) >= FUZZY_LENGTH:
                fuzzy.setdefault(joined, _Name(number, "fuzzy", entity.name))
            for alias in entity.aliases:
                self._add(number, "alias", alias)
        self._fuzzy_keys, self._fuzzy_names = list(fuzzy), list(fuzzy.values())

    def find(self, query: str) -> list[NameMatch]:
        """Return what the query names, each stretch of it used once, longest names first."""
        words = words_of(query)
        taken = [False] * len(words)
        matches = self._find_exact(query, words, taken)
        matches += self._find_first_names(words, taken)
        matches += self._find_typos(query, words, taken)
        return matches

    def _add(self, number: int, kind: SignalKind, text: str) -> tuple[str, ...]:
        words = tuple(word.folded for word in words_of(text))
        if words and len(words) <= LONGEST_NAME:
            known = self._exact[words]
            if all(name.entity != number for name in known):
                known.append(_Name(number, kind, text))
        return words

    def _find_exact(self, query: str, words: list[Word], taken: list[bool]) -> list[NameMatch]:
        matches = []
        for size in range(min(LONGEST_NAME, len(words)), 0, -1):
            for at in range(len(words) - size + 1):
                if any(taken[at : at + size]):
                    continue
                window = words[at : at + size]
                names = self._exact.get(tuple(word.folded for word in window), [])
                if size == 1 and window[0].folded in FUNCTION_WORDS and not _shouted(window[0]):
                    continue
                for name in names:
                    start, end = window[0].start, window[-1].end
                    outright = size > 1 or not _is_other_acronym(name.text, window[0].text)
                    score = 1.0 if outright else WEAK_ACRONYM
                    signal = Signal(name.kind, score, query[start:end])
                    matches.append(NameMatch(name.entity, signal, start, end, outright))
                if names:
                    taken[at : at + size] = [True] * size
        return matches

    def _find_first_names(self, words: list[Word], taken: list[bool]) -> list[NameMatch]:
        matches = []
        all_lower = not any(word.is_capitalised for word in words)
        for at, word in enumerate(words):
            bearers = self._first.get(word.folded, [])
            if not bearers or taken[at] or word.folded in FUNCTION_WORDS:
                continue
            doubtful = word.folded in NAMES_THAT_ARE_WORDS and (at == 0 or all_lower)
            if doubtful or not (word.is_capitalised or all_lower):
                continue
            taken[at] = True
            alone = len(bearers) == 1
            signal = Signal("first_name", 1.0 if alone else AMBIGUOUS_FIRST_NAME, word.text)
            matches += [NameMatch(b, signal, word.start, word.end, alone) for b in bearers]
        return matches

    def _find_typos(self, query: str, words: list[Word], taken: list[bool]) -> list[NameMatch]:
        windows = [
            (at, size)
            for size in (1, 2, 3)
            for at in range(len(words) - size + 1)
            if not any(taken[at : at + size])
            and all(w.folded not in FUNCTION_WORDS for w in words[at : at + size])
        ]
        joined = ["".join(w.folded for w in words[at : at + size]) for at, size in windows]
        long_enough = [i for i, text in enumerate(joined) if len(text) >= FUZZY_LENGTH]
        if not long_enough or not self._fuzzy_keys:
            return []
        scores = process.cdist(
            [joined[i] for i in long_enough],
            self._fuzzy_keys,
            scorer=fuzz.ratio,
            score_cutoff=FUZZY_CUTOFF,
            dtype=np.float32,
        )
        matches = []
        for number in np.argsort(-scores.max(axis=1)):
            at, size = windows[long_enough[number]]
            best = float(scores[number].max())
            if best < FUZZY_CUTOFF or any(taken[at : at + size]):
                continue
            taken[at : at + size] = [True] * size
            start, end = words[at].start, words[at + size - 1].end
            for key in np.flatnonzero(scores[number] == best):
                name = self._fuzzy_names[key]
                detail = f"{query[start:end]} ~ {name.text}"
                signal = Signal("fuzzy", FUZZY_WEIGHT * best / 100.0, detail)
                matches.append(NameMatch(name.entity, signal, start, end, named=False))
        return matches


def _shouted(word: Word) -> bool:
    return len(word.text) > 1 and word.text.isupper()


def _is_other_acronym(name: str, written: str) -> bool:
    short = len(name) <= 3 and name.isupper()
    return short and fold(name) == fold(written) and name != written
