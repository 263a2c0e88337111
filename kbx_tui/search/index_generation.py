"""What of one generation of the index is held in memory, and when it is read again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kbx_tui.errors import NotFound
from kbx_tui.index.lexical.bm25 import WordIndex
from kbx_tui.index.lexical.text_cache import open_bodies, open_words
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.rows import attendees_from
from kbx_tui.index.snapshot import Snapshot, generation_of, read_snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.vector_file import open_vectors
from kbx_tui.index.vectors.vector_matrix import Vectors
from kbx_tui.knowledge.chunking.continuation_titles import pairs_of_parts
from kbx_tui.knowledge.entities.entity_resolver import Lookup
from kbx_tui.knowledge.records import Attendee, Entity
from kbx_tui.search.browsing.entity_lookup import EntityNames
from kbx_tui.search.evidence.continuations import Parts, Reach
from kbx_tui.search.evidence.evidence import EntityCandidate, LinkedDocuments, Scope
from kbx_tui.search.lru_cache import Recent
from kbx_tui.search.query.filters import Filters
from kbx_tui.search.query.known_item import ExactNames
from kbx_tui.search.query.name_index import NameMatch
from kbx_tui.search.results.document_bodies import BodyReader
from kbx_tui.search.retrieval.entity_pass import EntityPass
from kbx_tui.search.retrieval.fact_index import FactIndex
from kbx_tui.search.retrieval.link_strength import about_person, linked_documents
from kbx_tui.search.retrieval.scope import ScopedDocuments, find_scope

if TYPE_CHECKING:
    from kbx_tui.search.browsing.destination import Destinations

TEXT_TABLES = ("documents", "entities", "facts", "links", "meta")
SCOPES_KEPT = 8
PASS_ONE_KEPT, PASS_ONE_SECONDS = 256, 60.0
PATIENCE = 10.0
"""While vectors are being made they are read again after ten times as long as reading takes."""


PassOne = tuple[Sequence[NameMatch], tuple[EntityCandidate, ...]]
"""What pass 1 found for a query: where it names whom, and all entities it may be about."""


class Loaded:
    """One generation in memory. What is derived from it is made on first use and dies with it."""

    def __init__(self, store: Store) -> None:
        store.require()
        self._store = store
        self._read_text(store.versions())
        self._vectors: Vectors | None = None
        self._vectors_read = self._reading_took = 0.0

    def _read_text(self, versions: Mapping[str, int]) -> None:
        snapshot = read_snapshot(self._store)
        self._entity_pass: EntityPass | None = None
        self.snapshot: Snapshot = snapshot
        self.versions = dict(versions)  # last: when reading fails, the next refresh reads again
        self._exact: ExactNames | None = None
        self._linked: dict[str, LinkedDocuments] = {}
        self._about: dict[str, LinkedDocuments] = {}
        self._lent: dict[str, tuple[float, LinkedDocuments]] = {}
        self._parts: Parts | None = None
        self._lookup: Lookup | None = None
        self._attendees: dict[int, tuple[frozenset[str], ...]] = {}
        self._attending: dict[Attendee, frozenset[str]] = {}
        self._words: WordIndex | None = None
        self._facts: FactIndex | None = None
        self._bodies: BodyReader | None = None
        self._scopes: Recent[tuple[PathFilter, Filters, bool], ScopedDocuments] = Recent(
            SCOPES_KEPT
        )
        self._reaches: Recent[Scope, Reach] = Recent(SCOPES_KEPT)
        self._forget_pass_one()
        self.entities: Mapping[str, Entity] = {entity.id: entity for entity in snapshot.entities}
        self._entity_names: EntityNames | None = None
        self._destinations: Destinations | None = None

    @property
    def generation(self) -> int:
        return generation_of(self.versions)

    def refresh(self, versions: Mapping[str, int], *, now: bool) -> bool:
        """Read what changed when the tables are at `versions`; True when anything did.

        Without `now`, a change of vectors alone waits: during a long run of indexing there is one
        every few seconds, and reading them all takes part of a second.
        """
        if versions == self.versions:
            return False
        if any(versions[name] != self.versions[name] for name in TEXT_TABLES):
            self._read_text(versions)
            self._vectors = None
            return True
        waited = time.monotonic() - self._vectors_read
        if self._vectors is not None and not now and waited < PATIENCE * self._reading_took:
            return False
        self.versions, self._vectors = dict(versions), None
        self._forget_pass_one()
        return True

    def _forget_pass_one(self) -> None:
        self.pass_one: Recent[str, PassOne] = Recent(PASS_ONE_KEPT, seconds=PASS_ONE_SECONDS)

    def vectors(self, *, model: str, dimension: int) -> Vectors:
        """Return the vectors of this generation. Raises IndexForeign for another model's."""
        if self._vectors is None:
            self._store.require(model=model)
            began = time.monotonic()
            self._vectors = open_vectors(
                self._store, self.snapshot, model=model, dimension=dimension
            )
            self._vectors_read = time.monotonic()
            self._reading_took = self._vectors_read - began
        return self._vectors

    @property
    def entity_pass(self) -> EntityPass:
        """Pass 1 over the entities of this generation; a fast search needs none."""
        if self._entity_pass is None:
            self._entity_pass = EntityPass(self.snapshot)
        return self._entity_pass

    def names_at_once(self, query: str) -> Sequence[NameMatch]:
        """Return which names in a query can be told without looking long: nothing is made for it.

        All where the query was asked just now, else whole names, if there is what knows them.
        """
        if known := self.pass_one.get(query):
            return known[0]
        return self._entity_pass.whole_names(query) if self._entity_pass else ()

    def words(self) -> WordIndex:
        """Return the documents of this generation by their words."""
        if self._words is None:
            self._words = open_words(self._store, self.snapshot)
        return self._words

    def bodies(self) -> BodyReader:
        """Return what reads the texts of this generation."""
        if self._bodies is None:
            self._bodies = BodyReader(self.snapshot, open_bodies(self._store))
        return self._bodies

    def facts(self) -> FactIndex:
        """Return the facts of this generation by their words."""
        if self._facts is None:
            self._facts = FactIndex(self._store)
        return self._facts

    def best_line(self, path: str, query: NDArray[np.float32]) -> int:
        """Return the line where a document's best chunk begins, 0 where nothing is known."""
        row = self.snapshot.row_of.get(path)
        return 0 if self._vectors is None or row is None else self._vectors.best_line(query, row)

    def scope(self, path: PathFilter, filters: Filters, *, fast: bool) -> ScopedDocuments:
        """Return the documents in scope; the latest are known."""
        key = (path, filters, fast)
        known = self._scopes.get(key)
        if known is None:
            flags, scope = find_scope(self.snapshot, path, filters, fast=fast)
            known = self._scopes.put(key, ScopedDocuments.of(self.snapshot, flags, scope))
        return known

    def reach(self, scoped: ScopedDocuments, part_share: float) -> Reach:
        """Return documents in scope with the parts beside them, if these are to lend anything."""
        if not part_share:
            return Reach.alone(scoped.flags, scoped.rows)
        known = self._reaches.get(scoped.scope)
        if known is None:
            reach = Reach.of(self.parts(), scoped.flags, scoped.rows)
            known = self._reaches.put(scoped.scope, reach)
        return known

    def entity(self, entity_id: str) -> Entity:
        """Return the entity of this id. Raises NotFound."""
        known = self.entities.get(entity_id)
        if known is None:
            raise NotFound(
                f"no entity has the id {entity_id!r}; ids look like person:alice-chen, and pages "
                "below people, projects and teams have one"
            )
        return known

    def entity_names(self) -> EntityNames:
        """Return the names of all entities, ready to be looked through."""
        if self._entity_names is None:
            links = self.snapshot.links
            documents = {entity_id: len(found.rows) for entity_id, found in links.items()}
            self._entity_names = EntityNames(self.snapshot.entities, documents)
        return self._entity_names

    def destinations(self) -> Destinations:
        """Return what knows where links lead."""
        if self._destinations is None:
            from kbx_tui.search.browsing.destination import (
                Destinations,  # brings a reader of markdown
            )

            self._destinations = Destinations(self.snapshot)
        return self._destinations

    def linked(self, entity_id: str) -> LinkedDocuments:
        """Return all documents of an entity."""
        known = self._linked.get(entity_id)
        if known is None:
            known = linked_documents(self.snapshot.links.get(entity_id))
            self._linked[entity_id] = known
        return known

    def lent(self, entity_id: str, part_share: float) -> LinkedDocuments:
        """Return all documents of an entity, and those whose parts beside them are the entity's."""
        if not part_share:
            return self.linked(entity_id)
        share, known = self._lent.get(entity_id, (0.0, None))
        if known is None or share != part_share:
            known = self.parts().lend_links(self.linked(entity_id), part_share)
            self._lent[entity_id] = part_share, known
        return known

    def parts(self) -> Parts:
        """Return which documents of this generation are parts of a longer one."""
        if self._parts is None:
            of = self.snapshot
            self._parts = Parts.of(pairs_of_parts(of.titles, of.kinds, of.dates, of.paths))
        return self._parts

    def about(self, entity_id: str) -> LinkedDocuments:
        """Return all documents of a person, by how much each is about the person."""
        known = self._about.get(entity_id)
        if known is None:
            linked = self.linked(entity_id)
            places = [self._place(row, entity_id) for row in linked.rows.tolist()]
            known = about_person(linked, places) if places else linked
            self._about[entity_id] = known
        return known

    def _place(self, row: int, entity_id: str) -> tuple[int, int]:
        """Return as which attendee a document names a person, 0 for none, and how many it names."""
        attendees = self._attendees_of(row)
        places = (place for place, ids in enumerate(attendees, 1) if entity_id in ids)
        return next(places, 0), len(attendees)

    def _attendees_of(self, row: int) -> tuple[frozenset[str], ...]:
        """Return the ids of whom each attendee of a document may be."""
        known = self._attendees.get(row)
        if known is None:
            attendees = attendees_from(self.snapshot.attendees[row])
            known = self._attendees[row] = tuple(map(self._entities_of, attendees))
        return known

    def _entities_of(self, attendee: Attendee) -> frozenset[str]:
        """Return the ids of whom an attendee may be; the same few attend many meetings."""
        known = self._attending.get(attendee)
        if known is None:
            if self._lookup is None:
                self._lookup = Lookup(self.snapshot.entities)
            found = self._lookup.attendee(attendee)
            known = frozenset(self.snapshot.entities[at].id for at in found)
            self._attending[attendee] = known
        return known

    def exact(self, text: str) -> list[tuple[int, str]]:
        """Return the rows of the documents that are called so, and what of them is."""
        if self._exact is None:
            self._exact = ExactNames(self.snapshot)
        return self._exact.find(text)
