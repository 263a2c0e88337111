"""The documents of each entity, with the strengths of their links."""

from __future__ import annotations

from functools import cached_property

from kbx_tui.index.rows import attendees_from
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.chunking.continuation_titles import continuation_pairs
from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.entities.topics import TAG
from kbx_tui.knowledge.records import Attendee
from kbx_tui.search.evidence.continuations import Continuations
from kbx_tui.search.evidence.evidence import LinkedDocuments
from kbx_tui.search.retrieval.link_strength import NO_ROWS, about_person, linked_documents


class EntityDocuments:
    """Computes and caches the documents of the entities of one generation."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._linked: dict[str, LinkedDocuments] = {}
        self._propagated: dict[str, tuple[float, LinkedDocuments]] = {}
        self._about: dict[str, LinkedDocuments] = {}
        self._attendees: dict[int, tuple[frozenset[str], ...]] = {}
        self._ids_of: dict[Attendee, frozenset[str]] = {}

    @cached_property
    def continuations(self) -> Continuations:
        """Which documents of the base are adjacent parts of a longer one."""
        base = self._snapshot
        return Continuations.of(continuation_pairs(base.titles, base.kinds, base.dates, base.paths))

    @cached_property
    def _resolver(self) -> EntityResolver:
        return EntityResolver.looking_up(self._snapshot.names.with_key)

    def linked(self, entity_id: str) -> LinkedDocuments:
        """Return all documents linked to an entity."""
        if entity_id not in self._linked:
            base = self._snapshot
            number = base.entities.row_of.get(entity_id, -1)
            is_tag = number >= 0 and base.entities.types[number] == TAG
            # A tag says what a page is about, whosever it is.
            pages = NO_ROWS if is_tag else base.entity_pages.own
            self._linked[entity_id] = linked_documents(base.links.get(entity_id), pages)
        return self._linked[entity_id]

    def propagated(self, entity_id: str, share: float) -> LinkedDocuments:
        """Return all documents linked to an entity, and the parts adjacent to them."""
        if not share:
            return self.linked(entity_id)
        known_share, linked = self._propagated.get(entity_id, (0.0, None))
        if linked is None or known_share != share:
            linked = self.continuations.propagate_links(self.linked(entity_id), share)
            self._propagated[entity_id] = share, linked
        return linked

    def about(self, entity_id: str) -> LinkedDocuments:
        """Return all documents linked to a person, by how much each concerns this person."""
        if entity_id not in self._about:
            linked = self.linked(entity_id)
            places = [self._place(row, entity_id) for row in linked.rows.tolist()]
            self._about[entity_id] = about_person(linked, places) if places else linked
        return self._about[entity_id]

    def _place(self, row: int, entity_id: str) -> tuple[int, int]:
        """Return a person's 1-based position among the attendees of a document, and their number.

        The position is 0 if the person is not among them.
        """
        if row not in self._attendees:
            attendees = attendees_from(self._snapshot.attendees[row])
            self._attendees[row] = tuple(map(self._resolve, attendees))
        ids_of_each = self._attendees[row]
        places = (place for place, ids in enumerate(ids_of_each, 1) if entity_id in ids)
        return next(places, 0), len(ids_of_each)

    def _resolve(self, attendee: Attendee) -> frozenset[str]:
        """Return the ids of the entities that an attendee may be, cached by attendee."""
        if attendee not in self._ids_of:
            numbers = self._resolver.by_attendee(attendee)
            entities = self._snapshot.entities
            self._ids_of[attendee] = frozenset(entities[number].id for number in numbers)
        return self._ids_of[attendee]
