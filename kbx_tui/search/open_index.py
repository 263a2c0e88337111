"""An open index: its tables, and its newest generation in memory.

A generation is the snapshot, the vectors and everything derived from them.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kbx_tui.errors import NotFound
from kbx_tui.index.lexical.bm25 import Bm25Index
from kbx_tui.index.lexical.text_files import load_bm25, load_facts
from kbx_tui.index.noted_state import undamaged_versions
from kbx_tui.index.path_filter import PathFilter
from kbx_tui.index.snapshot import Snapshot, generation_of, read_snapshot
from kbx_tui.index.store import Store, is_one_of, translate_errors
from kbx_tui.index.stored_records import BODIES, PAGES_READ, Body, EntitiesById, item_key
from kbx_tui.index.vectors.vector_matrix import (
    ChunkLines,
    VectorMatrix,
    load_vectors,
    read_chunk_lines,
)
from kbx_tui.knowledge.fields import page_name
from kbx_tui.knowledge.records import Entity
from kbx_tui.removal import DERIVED_FILES
from kbx_tui.search.evidence.evidence import EntityCandidate, Scope, UnknownName
from kbx_tui.search.evidence.scores import Rows, ScoredDocuments
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.search.name_lookup import EntityNames, NameLookup
from kbx_tui.search.query.date_forms import DocumentDates
from kbx_tui.search.query.name_index import KnownItems
from kbx_tui.search.query.name_matching import QueryNames
from kbx_tui.search.query.query_terms import NameMatch
from kbx_tui.search.query.typed_filters import TypedFilter
from kbx_tui.search.request import Filters
from kbx_tui.search.retrieval.entity_pass import EntityDocuments, EntityPass, FactIndex
from kbx_tui.search.retrieval.scope import Properties, ScopedDocuments, find_scope
from kbx_tui.search.retrieval.speakers import Speakers

if TYPE_CHECKING:
    from kbx_tui.search.link_graph import Destinations

Made = TypeVar("Made")

_CITATION_KEY = re.compile(r"[^\W\d_][^\s/]*\d[^\s/]*\Z")


class OpenIndex:
    """Reads one store. Not thread-safe."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.in_memory: IndexGeneration | None = None
        self._build = store.build_id()

    def close(self) -> None:
        self.in_memory = None

    def was_damaged(self) -> bool:
        """Return whether files mapped into memory were changed in place."""
        return self.in_memory is not None and self.in_memory.was_damaged()

    def refresh(self, *, now: bool = True) -> bool:
        """Read the newest generation; return whether it changed.

        Without `now`, vectors may lag a few seconds behind while they are being computed.
        """
        build = self.store.build_id()
        if self.was_damaged():
            self.in_memory = None
        if self.in_memory is not None and build == self._build:
            versions = self.store.versions()
            if all(versions[name] == self.in_memory.versions[name] for name in TEXT_TABLES):
                return self.in_memory.refresh_vectors(versions, now=now)
            self.in_memory = self._read()
            return True
        if build != self._build:  # rebuilt in place: the open tables are the old ones
            self.store = self.store.again()
        self.in_memory = self._read()
        self._build = build
        return True

    def generation(self) -> IndexGeneration:
        if self.in_memory is None:
            self.in_memory = self._read()
        return self.in_memory

    def _read(self) -> IndexGeneration:
        with translate_errors("read the index", self.store.uri):
            versions = undamaged_versions(self.store)
            self.store.check_compatible()
            before = None if self.in_memory is None else self.in_memory.known_destinations
            return IndexGeneration(self.store, versions, before)


TEXT_TABLES = ("documents", "entities", "facts", "links", "name_uses", "meta")
SCOPES_KEPT = 8
PASS_ONE_KEPT, NAMES_KEPT = 256, 16
PATIENCE = 10.0
"""Pause before changed vectors are reread, as a multiple of the duration of the last read."""


class IndexGeneration:
    """One generation in memory. Everything derived from it is computed lazily and cached."""

    def __init__(
        self,
        store: Store,
        versions: Mapping[str, int],
        known_destinations: Destinations | None = None,
    ) -> None:
        """Read the texts of a compatible index, whose tables have these `versions`."""
        self._store, self.versions = store, versions
        self.known_destinations = known_destinations
        self._file_states = _states_of_files(store)
        self.snapshot = read_snapshot(store, versions)
        self.entities = EntitiesById(self.snapshot.entities)
        self.entity_documents = EntityDocuments(self.snapshot)
        self._scopes: LruCache[tuple[PathFilter, Filters], ScopedDocuments] = LruCache(SCOPES_KEPT)
        self._scored_documents: LruCache[Scope, ScoredDocuments] = LruCache(SCOPES_KEPT)
        self._vectors: VectorMatrix | None = None
        self._vectors_read = self._reading_took = 0.0
        self._names = LruCache[str, QueryNames](NAMES_KEPT)
        self._derived: dict[Callable[[Snapshot], Any], Any] = {}
        self._clear_pass_one()

    @property
    def number(self) -> int:
        return generation_of(self.versions)

    def derived(self, make: Callable[[Snapshot], Made]) -> Made:
        """Return what `make` makes of the snapshot, made once."""
        if make not in self._derived:
            self._derived[make] = make(self.snapshot)
        return cast(Made, self._derived[make])

    def was_damaged(self) -> bool:
        """Return whether a mapped file was changed in place, which no index run does."""
        for file, then in self._file_states.items():
            try:
                now = os.stat(file)  # noqa: PTH116 - faster than Path
            except OSError:  # replaced by another one, or removed
                continue
            is_same = now.st_size == then.st_size and now.st_mtime_ns == then.st_mtime_ns
            if not is_same and now.st_ino == then.st_ino:
                return True
        return False

    def refresh_vectors(self, versions: Mapping[str, int], *, now: bool) -> bool:
        """Drop the vectors if the tables have other `versions`; return whether they were dropped.

        Without `now`, changed vectors may be read later: a long indexing run changes them every few
        seconds, and reading all of them takes part of a second.
        """
        waited = time.monotonic() - self._vectors_read
        may_wait = self._vectors is not None and not now and waited < PATIENCE * self._reading_took
        if may_wait or versions == self.versions:
            return False
        self.versions, self._vectors = versions, None
        self._clear_pass_one()
        return True

    def _clear_pass_one(self) -> None:
        self.pass_one = LruCache[tuple[str, str], tuple[EntityCandidate, ...]](PASS_ONE_KEPT)

    def vectors(self, *, model: str, dimension: int) -> VectorMatrix:
        """Return the vectors of this generation. Raises IndexForeign if another model made them."""
        if self._vectors is None:
            self._store.check_compatible(model=model)
            began = time.monotonic()
            self._vectors = load_vectors(
                self._store, self.snapshot, model=model, dimension=dimension
            )
            self._vectors_read = time.monotonic()
            self._reading_took = self._vectors_read - began
        return self._vectors

    @cached_property
    def entity_pass(self) -> EntityPass:
        words = self.words
        return EntityPass(self.snapshot, words.texts_with, words.usual_language)

    def likely_names(self, query: str) -> Sequence[NameMatch]:
        """Return most of the names in a query, quickly; none if the index of names is not built."""
        return self.names(query).likely() if "entity_pass" in vars(self) else ()

    def names(self, query: str) -> QueryNames:
        if (names := self._names.get(query)) is None:
            names = self._names.put(query, QueryNames(self.entity_pass.names, query))
        return names

    @cached_property
    def words(self) -> Bm25Index:
        return load_bm25(self._store, self.snapshot)

    @cached_property
    def bodies(self) -> BodyReader:
        return BodyReader(self.snapshot, self._store)

    @cached_property
    def chunk_lines(self) -> ChunkLines:
        return read_chunk_lines(self._store, self.snapshot)

    @cached_property
    def facts(self) -> FactIndex:
        return FactIndex(load_facts(self._store, self.snapshot, self.words))

    def chunk_cosines(self, row: int, query: NDArray[np.float32]) -> tuple[list[int], list[float]]:
        return ([], []) if self._vectors is None else self._vectors.chunk_cosines(query, row)

    def scope(self, path: PathFilter, filters: Filters) -> ScopedDocuments:
        if scoped := self._scopes.get((path, filters)):
            return scoped
        named = {name: self._ids_of(name) for name in filters.values("@")}
        cited = {name: self._cited(name) for name, ids in named.items() if not ids}
        flags, scope = find_scope(self.snapshot, path, filters, named, self._rows_with, cited)
        said = filters.values("said")
        silent = (self._silent(name) for name in said if not self.speakers.labels(name))
        nobody = (name for name, ids in named.items() if not (ids or cited[name]))
        unknown = (*map(self._unknown, nobody), *silent)
        scoped = ScopedDocuments.of(self.snapshot, flags, replace(scope, unknown_names=unknown))
        return self._scopes.put((path, filters), scoped)

    def _rows_with(self, typed: TypedFilter) -> Rows:
        match typed.key:
            case "-" | '"':
                return np.concatenate([self.words.rows_with_phrase(each) for each in typed.values])
            case "said":
                return np.concatenate([self.speakers.rows(each) for each in typed.values])
        return self.properties.rows(typed)

    def _ids_of(self, name: str) -> list[str]:
        return [entity.id for entity in self.entity_names.named(name)]

    def _cited(self, key: str) -> list[int]:
        """Return the rows of the documents with a citation key: as an alias or the file's name."""
        rows = [row for row, _ in self.known_items.find(key)] if _CITATION_KEY.match(key) else []
        paths, aliases = self.snapshot.paths, self.snapshot.aliases
        named = ((row, name) for row in rows for name in (page_name(paths[row]), *aliases[row]))
        return [row for row, name in named if item_key(name.removeprefix("@")) == item_key(key)]

    def _unknown(self, name: str) -> UnknownName:
        for similar in self.entity_names.find(name, 1):
            return UnknownName(name, similar.name, pages=self.entities.pages_naming(similar))
        return UnknownName(name, "")

    def _silent(self, name: str) -> UnknownName:
        similar = NameLookup((at, each, False) for at, each in enumerate(self.speakers.names))
        for at in similar.find(name, 1):
            label = list(self.speakers.names)[at]
            pages = [self.snapshot.paths[row] for row in self.speakers.labelled(label)[:PAGES_READ]]
            return UnknownName(name, label, speaks=True, pages=tuple(pages))
        return UnknownName(name, "", speaks=True)

    def scored_documents(self, scoped: ScopedDocuments, share: float) -> ScoredDocuments:
        """Return the documents to score: those in scope and, if `share` > 0, adjacent parts."""
        if not share:
            return ScoredDocuments.without_continuations(scoped.flags, scoped.rows)
        continuations = self.entity_documents.continuations
        if not scoped.scope.complete:  # not cached: candidates depend on the query
            return ScoredDocuments.of(continuations, scoped.flags, scoped.rows)
        if documents := self._scored_documents.get(scoped.scope):
            return documents
        documents = ScoredDocuments.of(continuations, scoped.flags, scoped.rows)
        return self._scored_documents.put(scoped.scope, documents)

    def entity(self, entity_id: str) -> Entity:
        """Return the entity with this id. Raises NotFound."""
        entity = self.entities.get(entity_id)
        if entity is None:
            raise NotFound(
                f"no entity has the id {entity_id!r}; ids look like person:alice-chen, and pages "
                "below people, projects and teams have one"
            )
        return entity

    @cached_property
    def entity_names(self) -> EntityNames:
        counts = zip(self.snapshot.entities.ids, self.snapshot.links.counts().tolist(), strict=True)
        return EntityNames(self.snapshot.entities, dict(counts))

    @cached_property
    def speakers(self) -> Speakers:
        return Speakers(self.snapshot, self.entity_names)

    @cached_property
    def destinations(self) -> Destinations:
        from kbx_tui.search.link_graph import Destinations  # late: imports a markdown parser

        before = self.known_destinations
        if before is None or not before.hold_for(self.snapshot):
            self.known_destinations = before = Destinations(self.snapshot)
        return before

    @cached_property
    def known_items(self) -> KnownItems:
        return KnownItems(self.snapshot.segments, self.snapshot.entity_pages)

    @cached_property
    def properties(self) -> Properties:
        return Properties(self.snapshot.properties, self.snapshot.property_keys)

    @cached_property
    def document_dates(self) -> DocumentDates:
        return DocumentDates(self.snapshot.dates)


MISSING: Body = ("", 1)


class BodyReader:
    def __init__(self, snapshot: Snapshot, store: Store) -> None:
        self._snapshot, self._store = snapshot, store
        self._files, _ = BODIES.map_for(store, snapshot.versions)
        self._places = np.full((2, len(snapshot.versions) + 1), -1, np.int32)
        """For each row, the number of its file and of the body in that file; -1 for none.

        The last column is for row -1.
        """
        for number, (_, rows) in enumerate(self._files):
            kept = np.flatnonzero(rows >= 0)
            self._places[:, rows[kept]] = np.full(len(kept), number), kept

    def read(self, paths: Iterable[str]) -> list[Body]:
        return self.of_rows([self._snapshot.row_of.get(path, -1) for path in paths])

    def of_rows(self, rows: Sequence[int]) -> list[Body]:
        """Return the bodies in the order of `rows`, empty if deleted. Raises IndexFault."""
        bodies: dict[int, Body] = {-1: MISSING}
        for row, number, place in zip(rows, *self._places[:, rows].tolist(), strict=True):
            if place >= 0:
                bodies[row] = self._files[number][0][place]
        if missing := {self._snapshot.paths[row]: row for row in rows if row not in bodies}:
            where = is_one_of("path", missing)
            table = self._store.rows("documents", ["path", "body", "body_line"], where)
            for found in table.to_pylist():
                bodies[missing[found["path"]]] = found["body"], found["body_line"]
        return [bodies.get(row, MISSING) for row in rows]


def _states_of_files(store: Store) -> dict[str, os.stat_result]:
    states: dict[str, os.stat_result] = {}
    for file in (f"{store.uri}/{name}" for name in DERIVED_FILES):
        with suppress(OSError):
            states[file] = os.stat(file)  # noqa: PTH116 - faster than Path
    return states
