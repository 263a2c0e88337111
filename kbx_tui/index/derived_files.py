"""Files derived from the tables (`removal.DERIVED_FILES`), memory-mapped for reading.

They lie in the folder of the index and only save time: whatever a file lacks is read from the
tables, and a missing, damaged or outdated file never changes a result.

Format: a line with the format tag; a line of JSON with the dtype, length, offset and digest of each
array; a line with the digest of the two; then the arrays, one-dimensional, aligned to 64 bytes.
This module alone knows how the files are named, versioned, checked, mapped, judged stale, written
and deleted. Each is one dataclass of arrays, whose field `versions` says which documents it covers,
or whose field `state` says which state of the tables it is right for (`entities/table_state`).
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.stored_documents import StoredDocuments
from kbx_tui.index.entities.stored_entities import StoredEntities
from kbx_tui.index.entities.stored_links import StoredLinks
from kbx_tui.index.entities.stored_names import StoredNames
from kbx_tui.index.integrity.verified_files import (
    FileState,
    digest_of,
    digest_of_part,
    state_of,
    verified_files,
)
from kbx_tui.index.lexical.bodies import Bodies
from kbx_tui.index.lexical.postings import Postings
from kbx_tui.index.store import Store
from kbx_tui.index.store_errors import translate_errors
from kbx_tui.index.vectors.stored_vectors import StoredVectors
from kbx_tui.removal import DERIVED_FILES, remove_index_file, remove_temporary

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ALIGNMENT = 64
"""Bytes that the offset of every array is a multiple of."""

LONGEST_LINE = 1 << 16
"""Bytes read at most in search of the end of a line of the header."""

OUTDATED = (b"kbx words 1\n", b"kbx bodies 1\n", b"kbx vectors 2,")
"""How files of former versions begin, which had no digests."""

STALE_SHARE = 0.05
"""Share of the documents that may differ from a file before it is rewritten."""


T = TypeVar("T", bound="DataclassInstance")
OfDocuments = TypeVar("OfDocuments", Postings, Bodies, StoredDocuments, StoredVectors)
OfState = TypeVar("OfState", StoredEntities, StoredNames, StoredLinks)


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
            arrays = _map_arrays(Path(store.uri), self.name, self.format_tag)
        except _Damaged:
            store.damaged_files.add(self.name)
            return None
        names = self._names()
        mapped = {field: arrays.pop(name) for field, name in names.items() if name in arrays}
        is_of_this_format = not arrays and mapped.keys() >= names.keys() - self._optional()
        return self.layout(**mapped) if is_of_this_format else None

    def write(self, store: Store, content: T) -> None:
        """Write the file atomically. Raises IndexFault."""
        arrays = {
            name: array
            for field, name in self._names().items()
            if (array := getattr(content, field)) is not None
        }
        with translate_errors(f"write {self.name}", store.uri):
            _write_arrays(Path(store.uri) / self.name, self.format_tag, arrays)

    def _optional(self) -> set[str]:
        return {field.name for field in fields(self.layout) if field.default is None}

    def _names(self) -> dict[str, str]:
        """Return the name in the file of each field, in the order of the fields."""
        names = [field.name for field in fields(self.layout)]
        return {name: self.array_names.get(name, name) for name in names}


@dataclass(frozen=True, slots=True)
class DocumentFile(DerivedFile[OfDocuments]):
    """A file of which each part is that of one document, so that few may be outdated."""

    def refresh(
        self, store: Store, document_versions: Sequence[str], make: Callable[[], OfDocuments | None]
    ) -> None:
        """Rewrite the file with what `make` returns, unless it is whole and few documents differ.

        `document_versions` are those in the index. Nothing is written when `make` returns None.
        Raises IndexFault.
        """
        if (mapped := self.map(store)) is not None:
            differing = set(mapped.versions.tolist()) ^ set(map(str.encode, document_versions))
            has_all = all(getattr(mapped, field) is not None for field in self._optional())
            if has_all and is_few(len(differing), len(document_versions)):
                return
        if (made := make()) is not None:
            self.write(store, made)


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
LINKS = StateFile("links.bin", "kbx links 1", StoredLinks, {})
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


class _Damaged(Exception):
    """A file does not have the bytes that were written."""


def _write_arrays(file: Path, format_tag: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a temporary file and move it into place. Raises OSError."""
    directory, offset = {}, 0
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in contiguous.items():
        digest = digest_of(array.reshape(-1).view(np.uint8).data)
        directory[name] = [array.dtype.str, len(array), offset, digest]
        offset += _aligned(array.nbytes)
    described = f"{format_tag}\n{json.dumps(directory)}\n".encode()
    header = described + f"{digest_of(described):08x}\n".encode()
    temporary = file.with_name(f"{file.name}.{uuid4().hex}")
    try:
        with temporary.open("wb") as out:
            out.write(header.ljust(_aligned(len(header)), b"\0"))
            for array in contiguous.values():
                out.write(array.data)
                out.write(b"\0" * (_aligned(array.nbytes) - array.nbytes))
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(file)
    finally:
        remove_temporary(temporary)


def _map_arrays(folder: Path, name: str, format_tag: str) -> dict[str, NDArray[Any]]:
    """Memory-map the arrays of a file; none when it is missing or of another format.

    Raises _Damaged unless header and arrays have their digests.
    """
    try:
        with (folder / name).open("rb") as source:
            described = [source.readline(LONGEST_LINE), source.readline(LONGEST_LINE)]
            header_digest = digest_of(b"".join(described))
            if described[0].startswith(OUTDATED):
                return {}
            if source.readline(LONGEST_LINE) != f"{header_digest:08x}\n".encode():
                raise _Damaged
            if described[0] != f"{format_tag}\n".encode():
                return {}
            directory: dict[str, tuple[str, int, int, int]] = json.loads(described[1])
            begin = _aligned(source.tell())
            _verify(folder, name, source, begin, directory, header_digest)
            mapped = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
        return {
            array: np.frombuffer(mapped, np.dtype(dtype), length, begin + offset)
            for array, (dtype, length, offset, _) in directory.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise _Damaged from error


def _verify(
    folder: Path,
    name: str,
    source: BufferedReader,
    begin: int,
    directory: Mapping[str, tuple[str, int, int, int]],
    header_digest: int,
) -> None:
    """Raise _Damaged unless every array has its digest, compared once per state of the file."""
    verified, state = verified_files(str(folder)), state_of(source.fileno())
    if verified.holds(name, state, header_digest):
        return
    for dtype, length, offset, digest in directory.values():
        size = np.dtype(dtype).itemsize * length
        if digest_of_part(source, begin + offset, size) != digest:
            raise _Damaged
    verified.add(name, state, header_digest)
    verified.keep()


def _aligned(size: int) -> int:
    """Return `size` rounded up to the alignment of the arrays."""
    return -(-size // ALIGNMENT) * ALIGNMENT
