"""The arrays of documents.bin: what a search needs of every document besides words and vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.coded_column import CodedColumn
from kbx_tui.index.columns.item_keys import item_keys, key_hash
from kbx_tui.index.columns.text_column import Rows, TextArena, TextLists
from kbx_tui.index.lexical.terms import separate_cjk
from kbx_tui.knowledge.folding import fold

COLUMNS = ["path", "id", "title", "date", "kind", "tags", "attendees", "aliases", "version"]
"""Columns of table documents that `make_documents` needs."""

Bytes = NDArray[np.uint8]
Starts = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class StoredDocuments:
    """Documents ordered by path, in arrays of one dimension. Read-only.

    `..._starts` say where the text of each document starts in the bytes before; `..._codes` number
    the different texts in the two arrays that follow.
    """

    versions: NDArray[np.bytes_]
    paths: Bytes
    path_starts: Starts
    ids: Bytes
    id_starts: Starts
    """Ids as the documents have them; the page of an entity has that of the entity instead."""
    titles: Bytes
    title_starts: Starts
    attendees: Bytes
    attendee_starts: Starts
    tags: Bytes
    tag_starts: Starts
    aliases: Bytes
    alias_starts: Starts
    date_codes: Codes
    dates: Bytes
    date_starts: Starts
    kind_codes: Codes
    kinds: Bytes
    kind_starts: Starts
    folded_titles: Bytes
    """Titles as they are searched, each followed by a line break."""
    folded_starts: Starts
    item_hashes: NDArray[np.uint64]
    """Hashes of the keys that name a document in full (`item_keys`), ascending."""
    item_documents: NDArray[np.int32]
    """The document that has each key, as an index into `versions`."""
    item_kinds: NDArray[np.uint8]
    """What each key is: its number in `item_keys.KINDS`."""

    def __len__(self) -> int:
        return len(self.versions)

    def arena(self, name: str) -> TextArena:
        """Return one of the columns of texts: `path`, `id`, `title`, `attendee`, `tag`, `alias`."""
        plural = "aliases" if name == "alias" else f"{name}s"
        return TextArena(getattr(self, plural), getattr(self, f"{name}_starts"))

    def coded(self, name: str) -> CodedColumn:
        """Return the column `date` or `kind`."""
        values = TextArena(getattr(self, f"{name}s"), getattr(self, f"{name}_starts"))
        return CodedColumn(getattr(self, f"{name}_codes"), tuple(values))

    def items(self, key: str) -> list[tuple[int, int]]:
        """Return number in `KINDS` and document of all that a key names, in any order."""
        wanted = np.uint64(key_hash(key))
        first = int(self.item_hashes.searchsorted(wanted))
        if first == len(self.item_hashes) or self.item_hashes[first] != wanted:
            return []
        end = int(self.item_hashes.searchsorted(wanted, "right"))
        kinds, documents = self.item_kinds[first:end], self.item_documents[first:end]
        return list(zip(kinds.tolist(), documents.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class DocumentSegment:
    """Some documents of a generation: those mapped from documents.bin, or those newer than it."""

    documents: StoredDocuments
    rows: Rows
    """Row in the generation of each document, -1 for one that is not part of it."""

    @classmethod
    def of(cls, documents: StoredDocuments) -> Self:
        """Return a segment of all documents of a generation."""
        return cls(documents, np.arange(len(documents)))


def places_of(segments: Sequence[DocumentSegment]) -> Rows | None:
    """Return which document each row has, counted through all segments; None: as they are."""
    if len(segments) == 1 and np.array_equal(segments[0].rows, np.arange(len(segments[0].rows))):
        return None
    rows = np.concatenate([segment.rows for segment in segments])
    kept = np.flatnonzero(rows >= 0)
    places = np.empty(len(kept), np.int64)
    places[rows[kept]] = kept
    return places


def make_documents(rows: Iterable[Mapping[str, Any]]) -> StoredDocuments:
    """Return the arrays of documents, given by rows with `COLUMNS`, ordered by path."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in rows:
        for name, values in columns.items():
            values.append(row[name])
    dates, kinds = CodedColumn.of(columns["date"]), CodedColumn.of(columns["kind"])
    folded = (fold(separate_cjk(title)).replace("\n", " ") for title in columns["title"])
    texts = {
        "path": columns["path"],
        "id": columns["id"],
        "title": columns["title"],
        "attendee": columns["attendees"],
        "tag": map(TextLists.joined, columns["tags"]),
        "alias": map(TextLists.joined, columns["aliases"]),
        "date": dates.values,
        "kind": kinds.values,
        "folded": (f"{title}\n" for title in folded),
    }
    arenas = {name: TextArena.of(values) for name, values in texts.items()}
    named = {"alias": "aliases", "folded": "folded_titles"}
    arrays: dict[str, Any] = {}
    for name, arena in arenas.items():
        arrays[named.get(name, f"{name}s")] = arena.data
        arrays[f"{name}_starts"] = arena.starts
    hashes, documents, item_kinds = _items(columns)
    return StoredDocuments(
        versions=np.array(columns["version"], dtype=np.bytes_),
        date_codes=dates.codes,
        kind_codes=kinds.codes,
        item_hashes=hashes,
        item_documents=documents,
        item_kinds=item_kinds,
        **arrays,
    )


def _items(
    columns: Mapping[str, list[Any]],
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]:
    """Return hash, document and kind of each key of the documents, by ascending hash."""
    keys = zip(*(columns[name] for name in ("path", "id", "title", "date")), strict=True)
    found = [
        (key_hash(key), document, kind)
        for document, texts in enumerate(keys)
        for kind, key in item_keys(*texts)
    ]
    hashes, documents, kinds = zip(*found, strict=True) if found else ((), (), ())
    hash_array = np.array(hashes, np.uint64)
    order = np.argsort(hash_array, kind="stable")
    of_documents, of_kinds = np.array(documents, np.int32), np.array(kinds, np.uint8)
    return hash_array[order], of_documents[order], of_kinds[order]
