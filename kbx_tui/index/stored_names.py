"""All names of all entities by hash, to look up the words of a query at once: names.bin.

Misspelt names are found by their letters. A text and a name have a similarity of at least
`SIMILAR` if at most d insertions and deletions of letters turn one into the other, where d follows
from their lengths. Each changes how often one letter occurs by one. So the names of similar lengths
are compared by their letters, one number each, and only the few that are left by their spelling.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.arrays import Hashes, Ints, Starts, Versions
from kbx_tui.index.derived_files import StateFile
from kbx_tui.index.stored_records import EntityColumn, key_hash
from kbx_tui.index.text_columns import ByHash, TextArena, TextArenaBuilder, TextColumn
from kbx_tui.knowledge.entity_names import (
    HONORIFICS,
    PARTICLES,
    KeyKind,
    is_common_word,
    keys_of,
    other_spellings,
)
from kbx_tui.knowledge.folding import fold, folded_words, singular, stem
from kbx_tui.knowledge.records import Entity

SHORTEST_TO_COMPARE = 6
"""Shortest name, in letters, whose misspellings are found: too many short words differ by one."""


Words = tuple[str, ...]

_PRIME, _MODULUS = 0x9E3779B97F4A7C15, 1 << 64


@dataclass(frozen=True, slots=True)
class StoredNames:
    """The names of entities by the hash of their folded words; an entity is given as its row."""

    state: Versions
    full: ByHash
    """Entities by full name, alias and e-mail address."""
    full_kinds: NDArray[np.uint8]
    """0 for a name, 1 for an alias or address; parallel to the numbers of `full`."""
    full_texts: TextArena
    first_names: ByHash
    """People by first name."""
    surnames: ByHash
    """People by surname."""
    initials: TextArena
    """Initials of the given names; parallel to the numbers of `surnames`."""
    most_words: NDArray[np.int64]
    """Number of words of the longest full name or surname, shape (1,)."""
    keys: TextArena
    """Distinct full names, folded and without spaces, the shortest first."""
    key_starts: Starts
    """Where the keys of each length in letters start, shape (longest + 2,)."""
    key_entities: Ints
    """The first entity with each of `keys`."""
    key_signatures: Hashes
    resolver: ByHash
    """Entities by the keys with which links, tags and attendees name them (`EntityResolver`)."""
    stems: ByHash
    """Roles and teams by the stems of their words: a role as its code in the column of entities, a
    team as its code plus the number of roles."""
    roles: ByHash
    """Codes of roles by their folded text."""
    holder_starts: Starts
    """Where the entities with each role, then those with each team, start in `holders`; shape
    (roles + teams + 1,)."""
    holders: Ints
    """The entities with a role or team, ascending within each; the empty text has none."""

    def with_key(self, kind: KeyKind, key: str) -> list[int]:
        return self.resolver.find(resolver_hash(kind, key))


NAMES = StateFile("names", "5", StoredNames, ("entities",))

word_hash = lru_cache(maxsize=1 << 16)(key_hash)


def hash_after(before: int, word: int) -> int:
    """Return the hash of words, given that of all before the last, 0 for none, and of the last."""
    return (before * _PRIME + word) % _MODULUS


def words_hash(words: Words) -> int:
    """Return a 64-bit hash of words; among five million names, a collision has probability 1e-6."""
    return reduce(hash_after, map(word_hash, words), 0)


def resolver_hash(kind: KeyKind, key: str) -> int:
    return key_hash(f"{kind}\0{key}")


LONGEST_NAME = 12
"""Most words of a name; longer ones are not indexed."""
SHORTEST_SURNAME = 2
SUFFIXES = frozenset({("jr",), ("sr",), ("ii",), ("iii",), ("iv",)})
"""Words that may follow the surname: `J. P. Strong III`."""


class _Names:
    """Hashes of words, each with an entity and a text; equal hashes are found in this order.

    Held in arrays: as Python objects, the names of two million entities take gigabytes.
    """

    def __init__(self) -> None:
        self.hashes, self.entities, self._texts = array("Q"), array("i"), TextArenaBuilder()

    def add(self, found: int, number: int, text: str = "") -> None:
        self.hashes.append(found)
        self.entities.append(number)
        self._texts.append(text)

    def by_hash(self) -> ByHash:
        return ByHash.of(self.hashes, self.entities)

    def texts(self) -> TextArena:
        """Return the texts in the order of `by_hash`."""
        order = np.argsort(np.array(self.hashes, np.uint64), kind="stable")
        return TextArena.of(TextColumn([self._texts.arena()], order))


class _Builder:
    """Collects the names of entities, one entity after the other."""

    def __init__(self) -> None:
        self.full, self.kinds = _Names(), array("B")
        self.first_names, self.surnames = _Names(), _Names()
        self.most_words = 0
        self.halves: list[tuple[int, int, str]] = []
        """Hashes of the halves of double surnames, the entity, and the initials before it."""
        self._entity = -1
        self._known: set[int] = set()
        """Hashes of the names added for the current entity."""

    def add(self, number: int, kind: int, text: str) -> Words:
        words = folded_words(text)
        if words and len(words) <= LONGEST_NAME:
            found = words_hash(words)
            self.most_words = max(self.most_words, len(words))
            if number != self._entity:
                self._entity, self._known = number, set()
            if found not in self._known:
                self._known.add(found)
                self.full.add(found, number, text)
                self.kinds.append(kind)
        return words

    def add_parts(self, number: int, name: str, words: Words) -> None:
        tokens = [token for token in map(folded_words, name.split()) if token]
        if tokens[-1] in SUFFIXES:
            tokens.pop()
        parts = [word for token in tokens for word in token if word not in HONORIFICS]
        if len(parts) < 2 or _is_phrase(name):
            return
        self.first_names.add(words_hash((parts[0],)), number)
        surname = tokens[-1]
        if (
            len("".join(surname)) >= SHORTEST_SURNAME
            and len(surname) < len(words)
            and (len(surname) > 1 or surname[0] not in PARTICLES)
        ):
            initials = "".join(word[0] for word in parts[: -len(surname)])
            self.surnames.add(words_hash(surname), number, initials)
            self.most_words = max(self.most_words, len(surname))
            for half in surname if len(surname) > 1 else ():
                if len(half) >= SHORTEST_SURNAME and half not in PARTICLES:
                    self.halves.append((words_hash((half,)), number, initials))

    def add_spellings(self, number: int, entity: Entity, as_written: Hashes) -> None:
        """Add the singular and plural of multi-word names, unless an entity has it as a name.

        One-word names are left to typo matching: their plural is more often an ordinary word.
        """
        for name in (entity.name, *entity.aliases):
            for spelling in other_spellings(name) if " " in name else ():
                if not _holds(as_written, words_hash(folded_words(spelling))):
                    self.add(number, int(name != entity.name), spelling)


def make_names(entities: EntityColumn, state: Versions) -> StoredNames:
    names, keys = _Builder(), dict[str, int]()
    for number, entity in enumerate(entities):
        words = names.add(number, 0, entity.name)
        if entity.type == "person" and len(words) > 1:
            names.add_parts(number, entity.name, words)
        for alias in (*entity.aliases, *entity.emails):
            names.add(number, 1, alias)
        joined = "".join(words)
        if len(joined) >= SHORTEST_TO_COMPARE:
            keys.setdefault(joined, number)
    as_written = np.unique(np.array(names.full.hashes, np.uint64))
    for number, entity in enumerate(entities):
        if entity.type != "person":
            names.add_spellings(number, entity, as_written)
    taken = np.unique(np.array([*names.surnames.hashes, *names.first_names.hashes], np.uint64))
    for found, number, initials in names.halves:
        if not _holds(taken, found):  # by which nobody else is called
            names.surnames.add(found, number, initials)
    return StoredNames(
        state=state,
        full=names.full.by_hash(),
        full_kinds=ByHash.of(names.full.hashes, names.kinds).numbers.astype(np.uint8),
        full_texts=names.full.texts(),
        first_names=names.first_names.by_hash(),
        surnames=names.surnames.by_hash(),
        initials=names.surnames.texts(),
        most_words=np.array([names.most_words]),
        resolver=_resolver(entities),
        **_compared(keys),
        **_roles(entities),
    )


def _compared(keys: Mapping[str, int]) -> dict[str, Any]:
    """Return the columns for finding misspelt names."""
    ordered = sorted(keys, key=len)
    lengths = np.array(list(map(len, ordered)), np.int64)
    return {
        "keys": TextArena.of(ordered),
        "key_starts": lengths.searchsorted(np.arange(lengths.max(initial=0) + 2)),
        "key_entities": np.array([keys[key] for key in ordered], np.int32),
        "key_signatures": np.array(list(map(signature, ordered)), np.uint64),
    }


def _resolver(entities: Iterable[Entity]) -> ByHash:
    hashes, numbers = array("Q"), array("i")
    for number, entity in enumerate(entities):
        for key in dict.fromkeys(keys_of(entity)):
            if key[1]:
                hashes.append(resolver_hash(*key))
                numbers.append(number)
    return ByHash.of(hashes, numbers)


def _roles(entities: EntityColumn) -> dict[str, Any]:
    """Return the columns of roles and teams."""
    columns = [entities.stored.roles, entities.stored.teams]
    texts = [text for column in columns for text in column.values]
    stems = [
        (key_hash(each), number)
        for number, text in enumerate(texts)
        for each in sorted({*map(stem, folded_words(text))})
    ]
    roles = [(key_hash(fold(role)), n) for n, role in enumerate(columns[0].values) if role]
    holders, counts = [], []
    for column in columns:
        with_text = np.flatnonzero(column.flags(bool))
        codes = column.codes[with_text]
        holders.append(with_text[np.argsort(codes, kind="stable")].astype(np.int32))
        counts.append(np.bincount(codes, minlength=len(column.values)))
    return {
        "stems": ByHash.of([each for each, _ in stems], [number for _, number in stems]),
        "roles": ByHash.of([each for each, _ in roles], [number for _, number in roles]),
        "holder_starts": np.concatenate(([0], np.cumsum(np.concatenate(counts)))),
        "holders": np.concatenate(holders),
    }


def _holds(ascending: Hashes, found: int) -> bool:
    place = int(ascending.searchsorted(np.uint64(found)))
    return place < len(ascending) and int(ascending[place]) == found


def _is_phrase(name: str) -> bool:
    """Return whether a name, perhaps in a list of attendees, is a phrase: `Action items`."""
    last = name.split()[-1]
    return name[:1].isupper() and last.islower() and is_common_word(singular(fold(last)))


SIMILAR = 88.0
"""Lowest similarity of a misspelling to the name, 0..100: twice the number of letters they share in
order, as a percentage of the letters of both."""

_ROUNDING = 1e-9


def signature(text: str) -> int:
    """Return the letters of a text as bits; d insertions and deletions flip at most d.

    Of each of 32 classes of letters, one bit says that the text has it, another that it has two.
    """
    once = twice = 0
    for letter in text:
        bit = 1 << ord(letter) % 32
        twice |= once & bit
        once |= bit
    return once | twice << 32


def most_changes(length: int, other: int) -> int:
    """Return the most insertions and deletions between similar texts of two lengths.

    -1 if texts of these lengths cannot be similar.
    """
    most = int((1.0 - SIMILAR / 100.0) * (length + other) + _ROUNDING)
    most -= (most + length + other) % 2  # each change makes an odd length even, or the reverse
    return most if most >= abs(length - other) else -1


@lru_cache(maxsize=256)
def similar_lengths(length: int) -> tuple[int, int, int]:
    """Return the least and greatest length of names similar to a text, and the most changes."""
    changes = {other: most_changes(length, other) for other in range(length // 2, 2 * length + 1)}
    lengths = [other for other, most in changes.items() if most >= 0]
    return min(lengths), max(lengths), max(changes.values())
