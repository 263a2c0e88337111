"""Files derived from the tables (`removal.DERIVED_FILES`), memory-mapped for reading.

They lie in the folder of the index and only save time: whatever a file lacks is read from the
tables, and a missing, damaged or outdated file never changes a result.

This module alone knows how the files are named, versioned, mapped, judged stale, written and
deleted. Each is one dataclass of arrays (`array_files/`), whose field `versions` says which
documents it covers, or whose field `state` says which state of the tables it is right for
(`entities/table_state`). The inverted file of the vectors says which vectors.bin it was made from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import (
    ArrayWriter,
    Damaged,
    FileState,
    map_arrays,
    map_unverified,
    state_of,
)
from kbx_tui.index.lexical.postings import Postings
from kbx_tui.index.snapshot import StoredLinks
from kbx_tui.index.store import Store, translate_errors
from kbx_tui.index.stored_documents import Bodies, StoredDocuments
from kbx_tui.index.stored_entities import StoredEntities, StoredFacts
from kbx_tui.index.stored_names import StoredNames
from kbx_tui.index.vectors.vector_lists import VectorLists
from kbx_tui.index.vectors.vector_segment import StoredVectors
from kbx_tui.index.versions import VersionArray, count_differing
from kbx_tui.removal import DERIVED_FILES, remove_index_file, remove_temporary

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STALE_SHARE = 0.05
"""Share of the documents that may differ from a file before it is rewritten."""


T = TypeVar("T", bound="DataclassInstance")
OfDocuments = TypeVar("OfDocuments", Postings, Bodies, StoredDocuments, StoredVectors)
OfState = TypeVar("OfState", StoredEntities, StoredNames, StoredFacts, StoredLinks)


@dataclass(frozen=True, slots=True)
class DerivedFile(Generic[T]):
    """One kind of derived file.

    Fields of `layout` that are None by default may be missing, in files of a former version.
    """

    name: str
    format_tag: str
    """First line of the file. A change of layout or of what the arrays mean needs another tag."""
    layout: type[T]
    array_names: Mapping[str, str]
    """Names of the arrays in the file, for the fields of `layout` that are called otherwise."""

    def map(self, store: Store) -> T | None:
        """Memory-map the file, read-only.

        Returns None when it is missing, of another format or damaged. A damaged one is noted in
        `store.damaged_files`.
        """
        try:
            arrays = map_arrays(Path(store.uri), self.name, self.format_tag)
        except Damaged:
            store.damaged_files.add(self.name)
            return None
        return self._content(arrays)

    def write(self, store: Store, content: T) -> None:
        """Write the file atomically. Raises IndexFault."""
        with self.writer(store) as writer:
            self._add(writer, content)

    @contextmanager
    def writer(self, store: Store) -> Iterator[ArrayWriter]:
        """Write the file, array by array, in the order of the fields of `layout`.

        It takes its place at the end of the `with` block, or not at all after an error. Raises
        IndexFault.
        """
        file = Path(store.uri) / self.name
        with translate_errors(f"write {self.name}", store.uri), self._temporary(store) as temporary:
            with temporary.open("w+b") as out:
                writer = ArrayWriter(out, self.format_tag, self._names())
                yield writer
                writer.finish()
                os.fsync(out.fileno())
            temporary.replace(file)

    @contextmanager
    def spilled(self, store: Store, content: T) -> Iterator[T]:
        """Give the same content, memory-mapped from a temporary file. Raises IndexFault.

        The file is removed at the end of the `with` block, and by the next run of indexing if this
        process is killed before.
        """
        with translate_errors(f"write {self.name}", store.uri), self._temporary(store) as temporary:
            with temporary.open("w+b") as out:
                writer = ArrayWriter(out, self.format_tag, self._names())
                self._add(writer, content)
                writer.finish()
            del content  # in memory once, not twice
            mapped = self._content(map_unverified(temporary, self.format_tag))
            if mapped is None:
                raise Damaged
            yield mapped

    @contextmanager
    def _temporary(self, store: Store) -> Iterator[Path]:
        """Give the path of a new file beside this one, which is removed if it is still there."""
        temporary = Path(store.uri) / f"{self.name}.{uuid4().hex}"
        try:
            yield temporary
        finally:
            remove_temporary(temporary)

    def _add(self, writer: ArrayWriter, content: T) -> None:
        for field in self._names():
            if (array := getattr(content, field)) is not None:
                writer.add(field, array)

    def _content(self, arrays: dict[str, NDArray[Any]]) -> T | None:
        """Return arrays as `layout`, None if they are others."""
        names = self._names()
        mapped = {field: arrays.pop(name) for field, name in names.items() if name in arrays}
        is_of_this_format = not arrays and mapped.keys() >= names.keys() - self._optional()
        return self.layout(**mapped) if is_of_this_format else None

    def _optional(self) -> set[str]:
        return {field.name for field in fields(self.layout) if field.default is None}

    def _names(self) -> dict[str, str]:
        """Return the name in the file of each field, in the order of the fields."""
        names = [field.name for field in fields(self.layout)]
        return {name: self.array_names.get(name, name) for name in names}


@dataclass(frozen=True, slots=True)
class DocumentFile(DerivedFile[OfDocuments]):
    """A file of which each part is that of one document, so that few may be outdated."""

    def is_current(self, store: Store, document_versions: VersionArray) -> bool:
        """Return whether the file is whole and few documents differ from those in the index.

        `document_versions` are those in the index.
        """
        if (mapped := self.map(store)) is None:
            return False
        differing = count_differing(mapped.versions, document_versions)
        has_all = all(getattr(mapped, field) is not None for field in self._optional())
        return has_all and is_few(differing, len(document_versions))


@dataclass(frozen=True, slots=True)
class StateFile(DerivedFile[OfState]):
    """A file that follows from all documents together, and is right for one state of the tables."""

    def map_state(self, store: Store, state: NDArray[np.bytes_]) -> OfState | None:
        """Memory-map the file as `map` does; None as well when it is of another state.

        `state` is that of the tables (`table_state`), as in field `state` of the layout.
        """
        mapped = self.map(store)
        is_current = mapped is not None and np.array_equal(mapped.state, state)
        return mapped if is_current else None


WORDS = DocumentFile(
    "words.bin",
    "kbx words 3",
    Postings,
    {
        "versions": "names",
        "text_starts": "begins",
        "term_bytes": "spelling",
        "term_byte_starts": "spelling_starts",
        "posting_starts": "starts",
        "doc_ids": "slots",
        "term_frequencies": "counts",
        "position_starts": "place_starts",
        "positions": "places",
    },
)
BODIES = DocumentFile(
    "bodies.bin",
    "kbx bodies 3",
    Bodies,
    {"versions": "names", "first_lines": "lines"},
)
DOCUMENTS = DocumentFile("documents.bin", "kbx documents 1", StoredDocuments, {})
ENTITIES = StateFile("entities.bin", "kbx entities 1", StoredEntities, {})
NAMES = StateFile("names.bin", "kbx names 1", StoredNames, {})
FACTS = StateFile("facts.bin", "kbx facts 1", StoredFacts, {})
LINKS = StateFile("links.bin", "kbx links 1", StoredLinks, {})
LISTS = DerivedFile("vectors-ivf.bin", "kbx vectors-ivf 1", VectorLists, {})
VECTORS_NAME = "vectors.bin"


def vectors_file(model: str, dimension: int) -> DocumentFile[StoredVectors]:
    """Return the kind of file that holds the vectors of one embedding model."""
    tag = f"kbx vectors 3, {dimension} numbers each, {' '.join(model.split())}"
    return DocumentFile(
        VECTORS_NAME, tag, StoredVectors, {"versions": "names", "chunk_weights": "chunk_shares"}
    )


def delete_derived_files(store: Store) -> None:
    """Delete all derived files, when what they were derived from is rebuilt. Raises IndexFault."""
    for name in DERIVED_FILES:
        with translate_errors(f"delete {name}", store.uri):
            remove_index_file(Path(store.uri), name)


def file_states(store: Store) -> dict[str, FileState]:
    """Return the states of the derived files that exist."""
    states: dict[str, FileState] = {}
    for name in DERIVED_FILES:
        with suppress(OSError):
            states[name] = state_of(f"{store.uri}/{name}")  # each search asks: faster than Path
    return states


def changed_in_place(store: Store, before: Mapping[str, FileState]) -> bool:
    """Return whether a derived file was written in place, which no run does.

    A replaced one has another inode, and what was mapped stays as it is.
    """
    now = file_states(store)
    return any(
        state != before[name] and state[0] == before[name][0] and state[1:3] != before[name][1:3]
        for name, state in now.items()
        if name in before
    )


def is_few(count: int, documents: int) -> bool:
    """Return whether `count` of all documents are few enough to read them from the tables."""
    return count <= STALE_SHARE * documents
