"""The arrays of names.bin: all names of all entities by hash, for one lookup of a query's words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.item_keys import key_hash
from kbx_tui.index.entities.name_segments import Hashes
from kbx_tui.index.entities.stored_entities import numbers_with
from kbx_tui.knowledge.entities.entity_resolver import KeyKind

SHORTEST_TO_COMPARE = 6
"""Letters of a name below which misspellings are not looked for: too many texts differ by one."""

Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Starts = NDArray[np.int64]

Words = tuple[str, ...]
"""Folded words."""

_PRIME, _MODULUS = 0x9E3779B97F4A7C15, 1 << 64


@dataclass(frozen=True, slots=True)
class StoredNames:
    """The names of entities, in arrays of one dimension; entities are rows. Read-only.

    Names are found by the hash of their folded words (`words_hash`); those of each array are
    ascending, and entities with the same are in order.
    """

    state: NDArray[np.bytes_]
    """State of the tables that they were read from (`table_state`), shape (1,)."""
    full_hashes: Hashes
    """Full names, aliases and e-mail addresses."""
    full_entities: Ints
    full_kinds: NDArray[np.uint8]
    """0 for names, 1 for aliases and addresses."""
    full_texts: Bytes
    """As written."""
    full_text_starts: Starts
    first_hashes: Hashes
    """People by first name."""
    first_entities: Ints
    surname_hashes: Hashes
    """People by surname."""
    surname_entities: Ints
    initials: Bytes
    """First letters of their given names."""
    initial_starts: Starts
    most_words: NDArray[np.int64]
    """Number of words of the longest full name or surname, shape (1,)."""
    keys: Bytes
    """Different full names, folded and written as one word."""
    key_starts: Starts
    key_entities: Ints
    """The first entity with each name."""
    key_signatures: Hashes
    piece_hashes: Hashes
    """Pieces of `keys` (`name_segments`)."""
    piece_keys: Ints
    resolver_hashes: Hashes
    """Keys by which links, tags and attendees mean entities (`entity_resolver`)."""
    resolver_entities: Ints
    stem_hashes: Hashes
    """Stems of the words of roles and teams."""
    stem_texts: Ints
    """The role with each stem, by its code in the column of entities, or the team, by its code and
    the number of roles."""
    role_hashes: Hashes
    """Roles, folded."""
    role_texts: Ints
    holder_starts: Starts
    """Where the entities with each role start in `holders`, then those with each team, shape
    (roles + teams + 1,)."""
    holders: Ints
    """Those with one role or team ascending; an empty text has none."""

    def with_key(self, kind: KeyKind, key: str) -> list[int]:
        """Return the entities with a key, in order, as an EntityResolver looks them up."""
        return numbers_with(self.resolver_hashes, self.resolver_entities, resolver_hash(kind, key))


_word_hash = lru_cache(maxsize=1 << 16)(key_hash)


def hash_after(before: int, word: str) -> int:
    """Return the hash of folded words, given that of those before the last; of none it is 0."""
    return (before * _PRIME + _word_hash(word)) % _MODULUS


def words_hash(words: Words) -> int:
    """Return a 64-bit hash of folded words: five million names collide with probability 1e-6."""
    return reduce(hash_after, words, 0)


def resolver_hash(kind: KeyKind, key: str) -> int:
    """Return the hash of a key by which an EntityResolver looks entities up."""
    return key_hash(f"{kind}\0{key}")
