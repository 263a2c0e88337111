"""The names that words of a query may be, and whether a base uses such words as names.

The names of all n-grams of a query are found by one lookup.

    P(name) = (documents that use it as a name + p) / (documents that use it + 1)

Counted at indexing (`knowledge/entity_names`); p is what English says of a word that no
document uses. Between the two limits the base does not decide, and the query alone does
(`name_matching`). Source: the posterior mean of a beta-binomial model with one pseudo-count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.formatting import format_percent
from kbx_tui.index.arrays import Hashes
from kbx_tui.index.snapshot import NameVotes
from kbx_tui.index.stored_names import StoredNames, Words, hash_after
from kbx_tui.index.text_columns import TextColumn
from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.search.evidence.evidence import SignalKind
from kbx_tui.search.query.english_words import NAMES_THAT_ARE_WORDS

MOST_NAMESAKES = 1000
"""Entities with the same name that are looked at, the first by id: 20 are shown at most."""

_KINDS: tuple[SignalKind, ...] = ("name", "alias")
"""By the number that a name is stored with."""


@dataclass(frozen=True, slots=True)
class IndexedName:
    """A full name or alias of an entity."""

    entity: int
    """Index into the entities."""
    kind: SignalKind
    """`name` or `alias`."""
    text: str


@dataclass(frozen=True, slots=True)
class FoundNames:
    """The names that words of one query may be, with the entities by index."""

    full: dict[Words, list[IndexedName]] = field(default_factory=dict)
    """Full names and aliases."""
    first_names: dict[str, list[int]] = field(default_factory=dict)
    """People by first name."""
    surnames: dict[Words, list[int]] = field(default_factory=dict)
    """People by surname."""
    initials: dict[int, str] = field(default_factory=dict)
    """First letters of the given names of `surnames`."""


class NameIndex:
    """All names of some entities, which are identified by index."""

    def __init__(self, stored: StoredNames) -> None:
        self._stored = stored
        self._texts = TextColumn([stored.full_texts])
        self._initials = TextColumn([stored.initials])
        self._longest = int(stored.most_words.max())

    def find(self, words: Sequence[str]) -> FoundNames:
        """Return all names in folded words, whether they overlap or not."""
        stored, found = self._stored, FoundNames()
        ranges, hashes = _n_grams(words, self._longest)
        for number, start, end in _places(stored.full.hashes, hashes):
            part = slice(start, min(end, start + MOST_NAMESAKES))
            entities, kinds = stored.full.numbers[part].tolist(), stored.full_kinds[part].tolist()
            texts = map(self._texts.__getitem__, range(part.start, part.stop))
            found.full[ranges[number]] = [
                IndexedName(entity, _KINDS[kind], text)
                for entity, kind, text in zip(entities, kinds, texts, strict=True)
            ]
        for number, start, end in _places(stored.surnames.hashes, hashes):
            people = stored.surnames.numbers[start:end].tolist()
            found.surnames[ranges[number]] = people
            found.initials.update(zip(people, self._initials[start:end], strict=True))
        for number, start, end in _places(stored.first_names.hashes, hashes):
            people = stored.first_names.numbers[start : min(end, start + MOST_NAMESAKES)].tolist()
            found.first_names[ranges[number][0]] = people
        return found


def lengths_of(names: Iterable[Words]) -> list[int]:
    """Return the different numbers of words of names, the largest first."""
    return sorted({*map(len, names)}, reverse=True)


def _n_grams(words: Sequence[str], longest: int) -> tuple[list[Words], Hashes]:
    """Return the different runs of at most `longest` words, and their hashes."""
    found: dict[Words, int] = {}
    for first in range(len(words)):
        so_far = 0
        for end in range(first + 1, min(first + longest, len(words)) + 1):
            so_far = hash_after(so_far, words[end - 1])
            found[tuple(words[first:end])] = so_far
    return list(found), np.array(list(found.values()), np.uint64)


def _places(hashes: Hashes, wanted: Hashes) -> Iterator[tuple[int, int, int]]:
    """Yield the wanted hashes that ascending ones hold, by number, with start and end of each."""
    if not len(hashes):
        return
    starts = hashes.searchsorted(wanted)
    is_there: NDArray[Any] = hashes[np.minimum(starts, len(hashes) - 1)] == wanted
    for number in np.flatnonzero(is_there).tolist():
        yield number, int(starts[number]), int(hashes.searchsorted(wanted[number], "right"))


NAME_FROM, WORD_UP_TO = 0.8, 0.3
"""P(name) from which a word is a name, and up to which it is not. Chosen by the experiment "names
and words" in docs/quality.md."""

SEVERAL = 2.0
"""Documents that show a word to be ordinary; a single one may write names in small letters."""
NAME_OF_WORD_FROM, LIKELIER = 0.9, 0.5
"""P(name) from which a word that several documents use as one is a name all the same, and below
which it is a word. Chosen by the same experiment."""

UNCOMMON, COMMON = 0.7, 0.3
"""P(name) of a word that no document uses, if it is not an ordinary English word and if it is. So
one document makes a name of the first (.85), and it takes three to make one of the second (.83)."""

_UNUSED = NameVotes(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class NamePriors:
    """P(name) for the words of one base that are also names, by folded word."""

    votes: Mapping[str, NameVotes]

    def probability(self, word: str) -> float:
        """Return P(name) of a folded word."""
        prior = COMMON if is_common_word(word) or word in NAMES_THAT_ARE_WORDS else UNCOMMON
        votes = self.votes.get(word, _UNUSED)
        return (votes.as_name + prior) / (votes.as_name + votes.as_word + 1.0)

    def _is_used_as_word(self, word: str) -> bool:
        return self.votes.get(word, _UNUSED).as_word >= SEVERAL

    def is_name(self, word: str) -> bool:
        """Return whether the base uses a word as a name."""
        limit = NAME_OF_WORD_FROM if self._is_used_as_word(word) else NAME_FROM
        return self.probability(word) >= limit

    def is_word(self, word: str) -> bool:
        """Return whether the base uses a word as an ordinary word."""
        probability = self.probability(word)
        is_likelier = probability < LIKELIER and self._is_used_as_word(word)
        return word in self.votes and (is_likelier or probability <= WORD_UP_TO)

    def is_hardly_name(self, word: str) -> bool:
        """Return whether a word is so rarely a name that one sign in the query is not enough."""
        return self.probability(word) <= WORD_UP_TO

    def is_likelier_word(self, word: str) -> bool:
        """Return whether a word is rather an ordinary one, by the base or else by English."""
        return self.probability(word) < LIKELIER if word in self.votes else is_common_word(word)

    def may_be_word(self, word: str) -> bool:
        """Return whether a word may be an ordinary one although it is likelier a name.

        Then the query must show that the name is meant: a wrong name costs a search more than a
        name that counts as a hint only.
        """
        is_used = self._is_used_as_word(word) and not self.is_name(word)
        return is_used or self.is_likelier_word(word)

    def explain(self, word: str) -> str:
        """Return what the base says of a word, for display: `a word here, 97 %`; or nothing."""
        probability = self.probability(word)
        if self.is_name(word):
            return f"a name here, {format_percent(probability)}"
        if self.is_word(word):
            return f"a word here, {format_percent(1.0 - probability)}"
        return ""
