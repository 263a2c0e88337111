"""The arrays of documents.bin: what a search needs of every document besides words and vectors."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.coded_column import CodeBuilder, CodedColumn
from kbx_tui.index.columns.item_keys import item_keys, key_hash
from kbx_tui.index.columns.text_column import Rows, TextArena, TextArenaBuilder, TextLists
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
    """Return the arrays of documents, given by rows with `COLUMNS`, ordered by path.

    Each row becomes bytes at once: as Python objects, all would take ten times the memory.
    """
    texts = {name: TextArenaBuilder() for name in _TEXTS}
    codes = {name: CodeBuilder() for name in ("date", "kind")}
    items, versions = _Items(), list[bytes]()
    for row in rows:
        folded = fold(separate_cjk(row["title"])).replace("\n", " ")
        values = {
            "path": row["path"],
            "id": row["id"],
            "title": row["title"],
            "attendee": row["attendees"],
            "tag": TextLists.joined(row["tags"]),
            "alias": TextLists.joined(row["aliases"]),
            "folded": f"{folded}\n",
        }
        for name, text in values.items():
            texts[name].append(text)
        for name, builder in codes.items():
            builder.append(row[name])
        items.append(len(versions), row)
        versions.append(row["version"].encode())
    arrays: dict[str, Any] = {}
    for name, plural in _TEXTS.items():
        arena = texts[name].arena()
        arrays |= {plural: arena.data, f"{name}_starts": arena.starts}
    for name, builder in codes.items():
        numbers, different = builder.codes_and_values()
        arena = TextArena.of(different)
        arrays |= {f"{name}s": arena.data, f"{name}_starts": arena.starts}
        arrays[f"{name}_codes"] = numbers
    return StoredDocuments(np.array(versions or [], dtype=np.bytes_), **arrays, **items.arrays())


_TEXTS = {
    "path": "paths",
    "id": "ids",
    "title": "titles",
    "attendee": "attendees",
    "tag": "tags",
    "alias": "aliases",
    "folded": "folded_titles",
}
"""Names of the arrays of bytes, by the first part of the names of their starts."""


class _Items:
    """The keys of the documents."""

    def __init__(self) -> None:
        self._hashes, self._documents, self._kinds = array("Q"), array("i"), array("B")

    def append(self, document: int, row: Mapping[str, Any]) -> None:
        """Add the keys of a document."""
        for kind, key in item_keys(row["path"], row["id"], row["title"], row["date"]):
            self._hashes.append(key_hash(key))
            self._documents.append(document)
            self._kinds.append(kind)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return hash, document and kind of each key, by ascending hash."""
        hashes = np.array(self._hashes, np.uint64)
        order = np.argsort(hashes, kind="stable")
        return {
            "item_hashes": hashes[order],
            "item_documents": np.array(self._documents, np.int32)[order],
            "item_kinds": np.array(self._kinds, np.uint8)[order],
        }
