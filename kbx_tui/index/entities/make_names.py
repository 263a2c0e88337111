"""Collecting the names of entities for names.bin."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.item_keys import key_hash
from kbx_tui.index.columns.text_column import TextArena, TextArenaBuilder, TextColumn
from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.index.entities.name_segments import (
    Hashes,
    letters_of,
    partitions,
    piece_hashes,
    piece_salt,
    pieces,
    signatures,
)
from kbx_tui.index.entities.stored_names import (
    SHORTEST_TO_COMPARE,
    Ints,
    StoredNames,
    Words,
    resolver_hash,
    words_hash,
)
from kbx_tui.knowledge.entities.common_words import HONORIFICS, PARTICLES, is_common_word
from kbx_tui.knowledge.entities.entity_resolver import keys_of
from kbx_tui.knowledge.entities.spellings import other_spellings
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.stemming import singular, stem

LONGEST_NAME = 12
"""Names of more words are not indexed."""
SHORTEST_SURNAME = 2
SUFFIXES = frozenset({("jr",), ("sr",), ("ii",), ("iii",), ("iv",)})
"""Ends of a name after the surname: `J. P. Strong III`."""


class _Entries:
    """Hashes of words, each with an entity and a text, in the order in which they are to be found.

    In arrays: as Python objects, those of two million entities take gigabytes.
    """

    def __init__(self) -> None:
        self.hashes, self._entities, self._texts = array("Q"), array("i"), TextArenaBuilder()

    def add(self, found: int, number: int, text: str = "") -> None:
        self.hashes.append(found)
        self._entities.append(number)
        self._texts.append(text)

    def by_hash(self) -> tuple[Hashes, Ints, TextArena, NDArray[np.int64]]:
        """Return hashes in ascending order, their entities and texts, and where each was."""
        hashes, order = _by_hash(self.hashes)
        texts = TextArena.of(TextColumn([self._texts.arena()], order))
        return hashes, np.array(self._entities, np.int32)[order], texts, order


class _Builder:
    """Collects the names of entities, all of one entity before those of the next."""

    def __init__(self) -> None:
        self.full, self.kinds = _Entries(), array("B")
        self.first_names, self.surnames = _Entries(), _Entries()
        self.most_words = 0
        """Number of words of the longest name."""
        self._entity = -1
        self._known: set[int] = set()
        """Hashes of the names of the entity added last."""

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
        """Add the singular and plural of names of several words, unless it is another's name.

        Names of one word are left to typo matching: their plural is more often an ordinary word.
        """
        for name in (entity.name, *entity.aliases):
            for spelling in other_spellings(name) if " " in name else ():
                if not _holds(as_written, words_hash(folded_words(spelling))):
                    self.add(number, int(name != entity.name), spelling)


def make_names(entities: EntityColumn, state: NDArray[np.bytes_]) -> StoredNames:
    """Return the names of entities by row."""
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
    full, full_entities, full_texts, order = names.full.by_hash()
    first, first_entities, _, _ = names.first_names.by_hash()
    surnames, surname_entities, initials, _ = names.surnames.by_hash()
    return StoredNames(
        state=state,
        full_hashes=full,
        full_entities=full_entities,
        full_kinds=np.array(names.kinds, np.uint8)[order],
        full_texts=full_texts.data,
        full_text_starts=full_texts.starts,
        first_hashes=first,
        first_entities=first_entities,
        surname_hashes=surnames,
        surname_entities=surname_entities,
        initials=initials.data,
        initial_starts=initials.starts,
        most_words=np.array([names.most_words]),
        key_entities=np.array(key_entities, np.int32),
        **_compared(list(keys)),
        **_resolved(entities),
        **_roles(entities),
    )


def _compared(keys: Sequence[str]) -> dict[str, Any]:
    """Return the arrays of names that misspellings are compared with."""
    arena, letters = TextArena.of(keys), letters_of(keys)
    lengths = np.array(list(map(len, keys)), np.int64)
    starts = np.cumsum(lengths) - lengths
    hashes, of_keys = [], []
    for length in np.unique(lengths).tolist():
        numbers = np.flatnonzero(lengths == length)
        for changes in partitions(length):
            for number, (start, size) in enumerate(pieces(length, changes)):
                salts = np.full(len(numbers), piece_salt(length, changes, number), np.uint64)
                sizes = np.full(len(numbers), size)
                hashes.append(piece_hashes(letters, starts[numbers] + start, sizes, salts))
                of_keys.append(numbers.astype(np.int32))
    all_hashes = np.concatenate([np.empty(0, np.uint64), *hashes])
    order = np.argsort(all_hashes, kind="stable")
    return {
        "keys": arena.data,
        "key_starts": arena.starts,
        "key_signatures": signatures(letters, lengths),
        "piece_hashes": all_hashes[order],
        "piece_keys": np.concatenate([np.empty(0, np.int32), *of_keys])[order],
    }


def _resolved(entities: Iterable[Entity]) -> dict[str, Any]:
    """Return the arrays of the keys of entities."""
    hashes, numbers = array("Q"), array("i")
    for number, entity in enumerate(entities):
        for key in dict.fromkeys(keys_of(entity)):
            if key[1]:
                hashes.append(resolver_hash(*key))
                numbers.append(number)
    ascending, order = _by_hash(np.frombuffer(hashes, np.uint64))
    return {
        "resolver_hashes": ascending,
        "resolver_entities": np.frombuffer(numbers, np.int32)[order],
    }


def _roles(entities: EntityColumn) -> dict[str, Any]:
    """Return the arrays of roles and teams."""
    columns = [entities.stored.coded(name) for name in ("role", "team")]
    texts = [text for column in columns for text in column.values]
    stems = [
        (key_hash(each), number)
        for number, text in enumerate(texts)
        for each in sorted({*map(stem, folded_words(text))})
    ]
    stem_hashes, stem_order = _by_hash([found for found, _ in stems])
    roles = [(number, role) for number, role in enumerate(columns[0].values) if role]
    role_hashes, role_order = _by_hash([key_hash(fold(role)) for _, role in roles])
    holders, counts = [], []
    for column in columns:
        with_text = np.flatnonzero(column.flags(bool))
        codes = column.codes[with_text]
        holders.append(with_text[np.argsort(codes, kind="stable")].astype(np.int32))
        counts.append(np.bincount(codes, minlength=len(column.values)))
    return {
        "stem_hashes": stem_hashes,
        "stem_texts": _ints(number for _, number in stems)[stem_order],
        "role_hashes": role_hashes,
        "role_texts": _ints(number for number, _ in roles)[role_order],
        "holder_starts": np.concatenate(([0], np.cumsum(np.concatenate(counts)))),
        "holders": np.concatenate(holders),
    }


def _by_hash(hashes: Sequence[int] | array[int] | Hashes) -> tuple[Hashes, NDArray[np.int64]]:
    """Return hashes in ascending order, and where each of them was."""
    array = np.array(hashes, np.uint64)
    order = np.argsort(array, kind="stable")
    return array[order], order


def _holds(ascending: Hashes, found: int) -> bool:
    place = int(ascending.searchsorted(np.uint64(found)))
    return place < len(ascending) and int(ascending[place]) == found


def _ints(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, np.int32)


def _is_phrase(name: str) -> bool:
    """Return whether a name is written as a phrase, not as that of a person: `Action items`.

    Lists of attendees hold such words too.
    """
    last = name.split()[-1]
    return name[:1].isupper() and last.islower() and is_common_word(singular(fold(last)))
