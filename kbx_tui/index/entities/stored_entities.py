"""The arrays of entities.bin: what a search needs of every entity besides links and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.coded_column import CodedColumn
from kbx_tui.index.columns.item_keys import item_key, key_hash
from kbx_tui.index.columns.text_column import TextArena, TextLists

Bytes = NDArray[np.uint8]
Starts = NDArray[np.int64]
Codes = NDArray[np.int32]

CODED = ("type", "role", "team")
"""Fields of which many entities have the same value."""
LISTS = ("aliases", "members", "emails")


@dataclass(frozen=True, slots=True)
class StoredEntities:
    """Entities ordered by id, in arrays of one dimension. Read-only.

    `..._starts` say where the text of each entity starts in the bytes before; `..._codes` number
    the different texts in the two arrays that follow.
    """

    state: NDArray[np.bytes_]
    """State of the tables that they were read from (`table_state`), shape (1,)."""
    ids: Bytes
    id_starts: Starts
    names: Bytes
    name_starts: Starts
    paths: Bytes
    path_starts: Starts
    aliases: Bytes
    alias_starts: Starts
    members: Bytes
    member_starts: Starts
    emails: Bytes
    email_starts: Starts
    type_codes: Codes
    types: Bytes
    type_starts: Starts
    role_codes: Codes
    roles: Bytes
    role_starts: Starts
    team_codes: Codes
    teams: Bytes
    team_starts: Starts
    profiles: NDArray[np.bytes_]
    """Hash of the profile of each entity, by which its vector is found."""
    id_hashes: NDArray[np.uint64]
    """Hashes of the ids as queries name them (`item_keys`), ascending."""
    id_entities: NDArray[np.int32]
    """The entity that has each of `id_hashes`."""

    def __len__(self) -> int:
        return len(self.id_starts) - 1

    def arena(self, name: str) -> TextArena:
        """Return a column of texts: `id`, `name`, `path`, `alias`, `member`, `email`."""
        plural = "aliases" if name == "alias" else f"{name}s"
        return TextArena(getattr(self, plural), getattr(self, f"{name}_starts"))

    def with_id_key(self, key: str) -> list[int]:
        """Return the entities whose id is a query's, as `item_key` writes it."""
        return numbers_with(self.id_hashes, self.id_entities, key_hash(key))

    def coded(self, name: str) -> CodedColumn:
        """Return the column `type`, `role` or `team`."""
        values = TextArena(getattr(self, f"{name}s"), getattr(self, f"{name}_starts"))
        return CodedColumn(getattr(self, f"{name}_codes"), tuple(values))


def make_entities(rows: Iterable[Mapping[str, Any]], state: NDArray[np.bytes_]) -> StoredEntities:
    """Return the arrays of entities, given by rows of their table ordered by id."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("id", "name", "path", "text_hash", *CODED, *LISTS)
    }
    for row in rows:
        for name, values in columns.items():
            values.append(row[name])
    arrays: dict[str, Any] = {}
    for name in ("id", "name", "path"):
        arena = TextArena.of(columns[name])
        arrays |= {f"{name}s": arena.data, f"{name}_starts": arena.starts}
    for plural, name in zip(LISTS, ("alias", "member", "email"), strict=True):
        arena = TextArena.of(map(TextLists.joined, columns[plural]))
        arrays |= {plural: arena.data, f"{name}_starts": arena.starts}
    for name in CODED:
        column = CodedColumn.of(columns[name])
        arena = TextArena.of(column.values)
        arrays |= {
            f"{name}_codes": column.codes,
            f"{name}s": arena.data,
            f"{name}_starts": arena.starts,
        }
    hashes = np.array([key_hash(item_key(each)) for each in columns["id"]], np.uint64)
    order = np.argsort(hashes, kind="stable")
    return StoredEntities(
        state=state,
        profiles=np.array(columns["text_hash"], dtype=np.bytes_),
        id_hashes=hashes[order],
        id_entities=order.astype(np.int32),
        **arrays,
    )


def numbers_with(hashes: NDArray[np.uint64], numbers: Codes, wanted: int) -> list[int]:
    """Return the numbers beside a hash among ascending ones."""
    sought = np.uint64(wanted)
    start = int(hashes.searchsorted(sought))
    if start == len(hashes) or hashes[start] != sought:
        return []
    return list(numbers[start : int(hashes.searchsorted(sought, "right"))].tolist())
