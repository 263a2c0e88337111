"""All names of all entities by hash, to look up the words of a query at once: names.bin.

Misspelled names are found by their intact pieces, so that a text is compared with few names. A text
and a name have a similarity of at least `SIMILAR` if at most d insertions and deletions of letters
turn one into the other, where d follows from their lengths. If the name is cut into d + 1 pieces,
one of them is then intact in the text, near the same place. So looking up pieces misses no name
that is similar enough. Source: Li, Deng, Wang & Feng 2011, "Pass-Join: A Partition-based Method for
Similarity Joins", here for insertions and deletions.

The number of runs of a text that may be a piece grows with the cube of its length. So long names,
of which there are few, are not cut into pieces: a text is compared with all of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate, pairwise
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
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.knowledge.languages import singular, stem
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
    """Distinct full names, folded and without spaces."""
    key_entities: Ints
    """The first entity with each of `keys`."""
    key_signatures: Hashes
    pieces: ByHash
    """Indices into `keys` by the hash of a piece."""
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


NAMES = StateFile("names", "2", StoredNames, ("entities",))

_word_hash = lru_cache(maxsize=1 << 16)(key_hash)


def hash_after(before: int, word: str) -> int:
    """Return the hash of folded words, given the hash of all before the last, 0 for none."""
    return (before * _PRIME + _word_hash(word)) % _MODULUS


def words_hash(words: Words) -> int:
    """Return a 64-bit hash of words; among five million names, a collision has probability 1e-6."""
    return reduce(hash_after, words, 0)


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

    def add_spellings(self, number: int, entity: Entity, as_written: Hashes) -> None:
        """Add the singular and plural of multi-word names, unless an entity has it as a name.

        One-word names are left to typo matching: their plural is more often an ordinary word.
        """
        for name in (entity.name, *entity.aliases):
            for spelling in other_spellings(name) if " " in name else ():
                if not _holds(as_written, words_hash(folded_words(spelling))):
                    self.add(number, int(name != entity.name), spelling)


def make_names(entities: EntityColumn, state: Versions) -> StoredNames:
    names, keys, key_entities = _Builder(), dict[str, int](), []
    for number, entity in enumerate(entities):
        words = names.add(number, 0, entity.name)
        if entity.type == "person" and len(words) > 1:
            names.add_parts(number, entity.name, words)
        for alias in (*entity.aliases, *entity.emails):
            names.add(number, 1, alias)
        joined = "".join(words)
        if len(joined) >= SHORTEST_TO_COMPARE and keys.setdefault(joined, number) == number:
            key_entities.append(number)
    as_written = np.unique(np.array(names.full.hashes, np.uint64))
    for number, entity in enumerate(entities):
        if entity.type != "person":
            names.add_spellings(number, entity, as_written)
    return StoredNames(
        state=state,
        full=names.full.by_hash(),
        full_kinds=ByHash.of(names.full.hashes, names.kinds).numbers.astype(np.uint8),
        full_texts=names.full.texts(),
        first_names=names.first_names.by_hash(),
        surnames=names.surnames.by_hash(),
        initials=names.surnames.texts(),
        most_words=np.array([names.most_words]),
        key_entities=np.array(key_entities, np.int32),
        resolver=_resolver(entities),
        **_compared(list(keys)),
        **_roles(entities),
    )


def _compared(keys: Sequence[str]) -> dict[str, Any]:
    """Return the columns for finding misspelled names."""
    letters, lengths = letters_of(keys), np.array(list(map(len, keys)), np.int64)
    starts = np.cumsum(lengths) - lengths
    hashes, of_keys = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for length in np.unique(lengths).tolist():
        numbers = np.flatnonzero(lengths == length)
        for changes in partitions(length):
            for number, (start, size) in enumerate(pieces(length, changes)):
                salts = np.full(len(numbers), piece_salt(length, changes, number), np.uint64)
                sizes = np.full(len(numbers), size)
                hashes.append(piece_hashes(letters, starts[numbers] + start, sizes, salts))
                of_keys.append(numbers)
    return {
        "keys": TextArena.of(keys),
        "key_signatures": signatures(letters, lengths),
        "pieces": ByHash.of(np.concatenate(hashes), np.concatenate(of_keys)),
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

LONGEST_IN_PIECES = 64
"""Length in letters up to which a name is cut into pieces."""

Letters = NDArray[np.uint32]
"""The code points of texts, concatenated."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_OF_LENGTH, _OF_PIECE = 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_ROUNDING = 1e-9


def letters_of(texts: Sequence[str]) -> Letters:
    return np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)


def signatures(letters: Letters, lengths: NDArray[np.int64]) -> Hashes:
    """Return the set of letters of each text as bits; d insertions and deletions flip at most d."""
    bits = np.uint64(1) << (letters % np.uint32(64)).astype(np.uint64)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)
    if not len(lengths):
        return bits[:0]
    of_texts: Hashes = np.bitwise_or.reduceat(bits, starts)
    return of_texts


def most_changes(length: int, other: int) -> int:
    """Return the most insertions and deletions between similar texts of two lengths.

    -1 if texts of these lengths cannot be similar.
    """
    most = int((1.0 - SIMILAR / 100.0) * (length + other) + _ROUNDING)
    most -= (most + length + other) % 2  # the difference of the lengths, plus an even number
    return most if most >= abs(length - other) else -1


@lru_cache(maxsize=256)
def changes_at_most(length: int) -> int:
    return max(most_changes(length, other) for other in range(length // 2, 2 * length + 1))


@lru_cache(maxsize=256)
def partitions(length: int) -> tuple[int, ...]:
    """Return the numbers of changes for which a name of this length is cut into pieces.

    Empty for a name longer than `LONGEST_IN_PIECES`.
    """
    if length > LONGEST_IN_PIECES:
        return ()
    others = range(length // 2, 2 * length + 1)
    return tuple(sorted({most_changes(length, other) for other in others} - {-1}))


def pieces(length: int, changes: int) -> Iterator[tuple[int, int]]:
    size, longer = divmod(length, changes + 1)
    sizes = [size + (number > changes - longer) for number in range(changes + 1)]
    return ((start, end - start) for start, end in pairwise(accumulate(sizes, initial=0)))


def piece_salt(length: int, changes: int, number: int) -> int:
    """Return a 64-bit salt, so that equal pieces at different places get different hashes."""
    return (length * _OF_LENGTH + (changes << 8 | number) * _OF_PIECE) % (1 << 64)


def piece_hashes(
    letters: Letters, starts: NDArray[np.int64], sizes: NDArray[np.int64], salts: Hashes
) -> Hashes:
    """Return a hash of each run of letters; different runs may collide."""
    hashes = salts.copy()
    for number in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > number)
        hashes[longer] = hashes[longer] * _BASE + letters[starts[longer] + number]
    return hashes


@lru_cache(maxsize=256)
def runs_to_look_up(length: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Hashes]:
    """Return the start, size and salt of each run of a text of this length that may be a piece."""
    runs = []
    for other in range(length // 2, min(2 * length, LONGEST_IN_PIECES) + 1):
        changes, longer = most_changes(length, other), length - other
        if changes < 0:
            continue
        for number, (start, size) in enumerate(pieces(other, changes)):
            salt = piece_salt(other, changes, number)
            first = max(start + -((changes - longer) // 2), 0)
            last = min(start + (changes + longer) // 2, length - size)
            runs += [(place, size, salt) for place in range(first, last + 1)]
    starts, sizes, salts = zip(*runs, strict=True) if runs else ((), (), ())
    return np.array(starts, np.int64), np.array(sizes, np.int64), np.array(salts, np.uint64)
