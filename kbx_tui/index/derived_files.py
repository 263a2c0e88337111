"""Files derived from the tables (`removal.DERIVED_FILES`), memory-mapped for reading.

They are in the index folder and only save time: whatever a file lacks is read from the tables, and
a missing, damaged or outdated file never changes a result.

The layout of each is a dataclass of arrays, with a `DerivedFile` declared beside it. Its field
`versions` lists the documents that it covers, or its field `state` is the state of the tables that
it is valid for (`versions.table_state`). An index run rewrites a file of documents once many
documents differ; until then, the few that it lacks are in a small file beside it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_file import Arrays, ArrayWriter, Damaged, map_arrays, map_unverified
from kbx_tui.index.arrays import Rows, Versions
from kbx_tui.index.ownership import digest_seed
from kbx_tui.index.store import Store, translate_errors
from kbx_tui.index.text_columns import ByHash, CodedColumn, TextArena
from kbx_tui.index.versions import (
    are_among,
    count_differing,
    have_same_versions,
    rows_of_versions,
    table_state,
)
from kbx_tui.removal import DERIVED_FILES, remove_index_file, remove_temporary

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STALE_SHARE = 0.05
"""Largest share of documents that may differ before a file is rewritten."""

T = TypeVar("T", bound="DataclassInstance")


class OfDocuments(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def versions(self) -> Versions:
        """Version of each document that the file covers."""


class OfState(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def state(self) -> NDArray[np.bytes_]:
        """State of the tables that the file is valid for (`versions.table_state`), shape (1,)."""


D = TypeVar("D", bound=OfDocuments)
S = TypeVar("S", bound=OfState)


@dataclass(frozen=True, slots=True)
class DerivedFile(Generic[T]):
    kind: str
    version: str
    """Must be changed whenever the layout or the meaning of the arrays changes."""
    layout: type[T]

    @property
    def name(self) -> str:
        return f"{self.kind}.bin"

    @property
    def format_tag(self) -> str:
        return f"kbx {self.kind} {self.version}"

    def map(self, store: Store) -> T | None:
        """Memory-map the file; None if it is missing, damaged or has another format."""
        if not store.is_own:
            return None
        try:
            arrays = map_arrays(Path(store.uri), self.name, self.format_tag)
            return None if arrays is None else self._content(arrays)
        except (Damaged, LookupError, TypeError, ValueError):
            store.damaged_files.add(self.name)
            return None

    def write(self, store: Store, content: T) -> None:
        with self.writer(store) as writer:
            self._add(writer, content)

    def remove(self, store: Store) -> None:
        with translate_errors(f"delete {self.name}", store.uri):
            remove_index_file(Path(store.uri), self.name)

    @contextmanager
    def writer(self, store: Store) -> Iterator[ArrayWriter]:
        """Write arrays named like the fields; the file is replaced at the end of the block."""
        file = Path(store.uri) / self.name
        with translate_errors(f"write {self.name}", store.uri), self._temporary(store) as temporary:
            with temporary.open("w+b") as out:
                writer = ArrayWriter(out, self.format_tag, digest_seed(file.parent))
                yield writer
                writer.finish()
                os.fsync(out.fileno())
            temporary.replace(file)

    @contextmanager
    def spilled(self, store: Store, content: T) -> Iterator[T]:
        with translate_errors(f"write {self.name}", store.uri), self._temporary(store) as temporary:
            with temporary.open("w+b") as out:
                writer = ArrayWriter(out, self.format_tag)
                self._add(writer, content)
                writer.finish()
                del content  # free it before mapping: one copy in memory, not two
                mapped = map_unverified(out, self.format_tag)
            yield self._content(mapped or {})

    @contextmanager
    def _temporary(self, store: Store) -> Iterator[Path]:
        temporary = Path(store.uri) / f"{self.name}.{uuid4().hex}"
        try:
            yield temporary
        finally:
            remove_temporary(temporary)

    def _add(self, writer: ArrayWriter, content: T) -> None:
        for field in fields(content):
            for name, array in _parts(field.name, getattr(content, field.name)):
                writer.add(name, array)

    def _content(self, arrays: Arrays) -> T:
        whole: dict[str, Any] = {}
        of_columns: dict[str, Arrays] = defaultdict(dict)
        for name, array in arrays.items():
            column, dot, part = name.partition(".")
            if dot:
                of_columns[column][part] = array
            else:
                whole[name] = array
        return self.layout(**whole, **{name: _column(of_columns[name]) for name in of_columns})


@dataclass(frozen=True, slots=True)
class DocumentFile(DerivedFile[D]):
    """A file whose parts each belong to one document, so that only some may be outdated."""

    @property
    def of_newer(self) -> DocumentFile[D]:
        return replace(self, kind=f"{self.kind}-new")

    def map_for(self, store: Store, current: Versions) -> tuple[list[tuple[D, Rows]], Rows]:
        """Memory-map this file and the one of newer documents.

        Returns each file with the rows of its documents in `current`, -1 for a document that is not
        in it; and the rows of documents that are in neither file.
        """
        found, missing = [], np.arange(len(current))
        for file in (self, self.of_newer):
            if (mapped := file.map(store)) is None:
                break
            places = rows_of_versions(mapped.versions, current[missing])
            is_current = places >= 0
            rows = np.full(len(places), -1, np.int64)
            rows[is_current] = missing[places[is_current]]
            found.append((mapped, rows))
            missing = np.delete(missing, places[is_current])
        return found, missing

    def is_current(self, store: Store, current: Versions) -> bool:
        mapped = self.map(store)
        return mapped is not None and is_few(
            count_differing(mapped.versions, current), len(current)
        )

    def refresh(
        self,
        store: Store,
        current: Versions,
        write: Callable[[DocumentFile[D], Versions | None], None],
    ) -> None:
        """Bring this file, or the one of newer documents, up to date with the index.

        `write` writes one of the two files, for documents of the given versions or, for None, all.
        Raises IndexFault. The caller holds the writer lock.
        """
        if not self.is_current(store, current):
            write(self, None)
        if (mapped := self.map(store)) is None:
            return
        missing = current[~are_among(current, mapped.versions)]
        newer = self.of_newer.map(store)
        if not len(missing):
            self.of_newer.remove(store)
        elif newer is None or not have_same_versions(newer.versions, missing):
            write(self.of_newer, missing)


@dataclass(frozen=True, slots=True)
class StateFile(DerivedFile[S]):
    """A file derived from all documents together, valid for one state of `tables`."""

    tables: tuple[str, ...]

    def state(
        self,
        versions: Mapping[str, int],
        meta: Mapping[str, Any],
        documents: Versions | None = None,
    ) -> Versions:
        return table_state(self.tables, versions, meta, documents)

    def map_state(self, store: Store, state: NDArray[np.bytes_]) -> S | None:
        mapped = self.map(store)
        is_current = mapped is not None and np.array_equal(mapped.state, state)
        return mapped if is_current else None


def _parts(name: str, value: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, CodedColumn):
        yield f"{name}.codes", value.codes
        yield from _parts(name, value.arena)
    else:
        for field in fields(value):
            yield f"{name}.{field.name}", getattr(value, field.name)


def _column(parts: Arrays) -> TextArena | CodedColumn | ByHash:
    if "hashes" in parts:
        return ByHash(**parts)
    arena = TextArena(parts["data"], parts["starts"])
    return CodedColumn(parts["codes"], arena) if "codes" in parts else arena


def delete_derived_files(store: Store) -> None:
    for name in DERIVED_FILES:
        with translate_errors(f"delete {name}", store.uri):
            remove_index_file(Path(store.uri), name)


def is_few(count: int, documents: int) -> bool:
    """Return whether `count` of the documents are few enough to be read from the tables."""
    return count <= STALE_SHARE * documents
