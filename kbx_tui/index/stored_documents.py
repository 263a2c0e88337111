"""What a search needs of every document besides words and vectors: documents.bin and bodies.bin."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import ArrayPart, ArrayWriter
from kbx_tui.index.lexical.terms import separate_cjk
from kbx_tui.index.text_columns import (
    CodeBuilder,
    CodedColumn,
    TextArena,
    TextArenaBuilder,
    TextLists,
    TextRows,
)
from kbx_tui.knowledge.folding import fold, name_key

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
    rows: TextRows
    """Row in the generation of each document, -1 for one that is not part of it."""

    @classmethod
    def of(cls, documents: StoredDocuments) -> Self:
        """Return a segment of all documents of a generation."""
        return cls(documents, np.arange(len(documents)))


def places_by_row(segments: Sequence[DocumentSegment]) -> TextRows | None:
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


ItemKind = Literal["path", "id", "title", "date"]

KINDS: tuple[ItemKind, ...] = ("path", "id", "title", "date", "title", "title")
"""What a key of each number is: of the last two, the number before a title, `INC-0117: the
outage`, and the words of a title without punctuation."""

EXTRA = 4
"""Number from which keys are further ones of a title."""


def item_key(text: str) -> str:
    """Return the key of a path, id, title or date; empty for text that names nothing."""
    return " ".join(fold(text).split()).strip("/")


def item_keys(path: str, document_id: str, title: str, date: str) -> Iterator[tuple[int, str]]:
    """Yield the keys of a document, each with its number in `KINDS`."""
    of_title = item_key(title)
    keys = (item_key(path), item_key(document_id), of_title, item_key(date))
    yield from ((number, key) for number, key in enumerate(keys) if key)
    before, colon, _ = title.partition(": ")
    if colon and any(map(str.isdigit, before)):
        yield EXTRA, item_key(before)
    words = name_key(title)  # `Plan: an evening` is found by `plan an evening`
    if " " in words and words != of_title:
        yield EXTRA + 1, words


def key_hash(key: str) -> int:
    """Return a 64-bit hash of a key: five million keys collide with probability 1e-6."""
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "little")


BODY_COLUMNS = ["version", "body", "body_line"]
"""Columns of table documents that `write_bodies` needs."""

WRITTEN_AT_ONCE = 500
"""Bodies in memory at once."""

Body = tuple[str, int]
"""The text below the frontmatter, and the 1-based line of the file where it starts."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """All bodies, compressed and concatenated. Read-only."""

    versions: NDArray[np.bytes_]
    """Version of each document, shape (documents,)."""
    compressed: NDArray[np.uint8]
    """All bodies in UTF-8, each one block of LZ4."""
    starts: NDArray[np.int64]
    """Where each body starts in `compressed`, shape (documents + 1,)."""
    sizes: NDArray[np.int32]
    """Bytes of each body in UTF-8, shape (documents,)."""
    first_lines: NDArray[np.int32]
    """Line of its file where each body starts, shape (documents,)."""

    def __getitem__(self, doc_id: int) -> Body:
        starts = self.starts.data  # items and slices of arrays are slow
        block = self.compressed.data[starts[doc_id] : starts[doc_id + 1]]
        text = _lz4().decompress(block, int(self.sizes[doc_id]), asbytes=True)
        return text.decode(), int(self.first_lines[doc_id])


def write_bodies(
    file: ArrayWriter, versions: NDArray[np.bytes_], documents: Iterable[Mapping[str, Any]]
) -> None:
    """Write the bodies of documents, given by rows with `BODY_COLUMNS`. Raises OSError.

    `versions` are those of the documents, in any order. Bodies are written as they come; few are in
    memory at once.
    """
    of_documents = file.begin("versions", versions.dtype, len(versions))
    compressed = file.begin("compressed", np.uint8)
    names, lengths, sizes, lines, blocks = [], [], [], [], []
    for row in documents:
        text = row["body"].encode("utf-8", "replace")
        blocks.append(_lz4().compress(text, asbytes=True))
        names.append(row["version"].encode())
        lengths.append(len(blocks[-1]))
        sizes.append(len(text))
        lines.append(row["body_line"])
        if len(blocks) >= WRITTEN_AT_ONCE:
            _append(compressed, blocks)
    _append(compressed, blocks)
    of_documents.append(np.array(names or [], dtype=np.bytes_))
    file.add("starts", np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))
    file.add("sizes", np.array(sizes, np.int32))
    file.add("first_lines", np.array(lines, np.int32))


def _append(array: ArrayPart, blocks: list[bytes]) -> None:
    array.append(np.frombuffer(b"".join(blocks), np.uint8))
    blocks.clear()


@cache
def _lz4() -> Any:
    import pyarrow as pa  # slow to import; reading a snapshot has done so before

    return pa.Codec("lz4_raw")
