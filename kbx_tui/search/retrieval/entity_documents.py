"""The documents of each entity: how strongly each is linked, 0..1, and why, for display."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import LINK_KINDS, EntityLinks, Snapshot
from kbx_tui.index.tables import attendees_from
from kbx_tui.knowledge.continuation_titles import continuation_pairs
from kbx_tui.knowledge.entity_names import EntityResolver
from kbx_tui.knowledge.fields import TAG
from kbx_tui.knowledge.records import Attendee
from kbx_tui.search.evidence import scores as normalization
from kbx_tui.search.evidence.evidence import LinkedDocuments
from kbx_tui.search.evidence.scores import frozen
from kbx_tui.search.evidence.scoring import Continuations


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


_OWN_PAGE, _FRONTMATTER = LINK_KINDS.index("own_page"), LINK_KINDS.index("frontmatter")
_WIKILINK, _MEMBER = LINK_KINDS.index("wikilink"), LINK_KINDS.index("member")
"""Kinds before `wikilink` are explicit links, with strength 1; that of the others grows with their
number."""

NO_ROWS = np.empty(0, np.int32)
NOTHING_LINKED = LinkedDocuments(frozen(np.empty(0, np.int64)), frozen(np.empty(0)), ())


def linked_documents(
    links: EntityLinks | None, entity_pages: NDArray[np.integer[Any]] = NO_ROWS
) -> LinkedDocuments:
    """Return the documents that belong to an entity, each once, by their rows in the base.

    `entity_pages` are the rows, ascending, of the pages of this entity and of others.
    """
    if links is None:
        return NOTHING_LINKED
    codes, counts = links.kinds, links.counts
    as_members = normalization.counted_strength(counts, *normalization.MEMBER_STRENGTH)
    as_mentions = normalization.counted_strength(counts, *normalization.MENTION_STRENGTH)
    by_count = np.where(codes == _MEMBER, as_members, as_mentions)
    strengths = np.where(codes < _WIKILINK, 1.0, by_count)
    documents, starts = np.unique(links.rows, return_index=True)
    links_in_order = list(zip(codes.tolist(), counts.tolist(), strict=True))
    ranges = pairwise([*starts.tolist(), len(links.rows)])
    reasons = tuple(_reason(*links_in_order[start:end]) for start, end in ranges)
    strongest = np.maximum.reduceat(strengths, starts)
    own = np.minimum.reduceat(codes, starts) == _OWN_PAGE
    others = _are_among(documents, entity_pages) & ~own
    in_text = np.maximum.reduceat(codes, starts) != _FRONTMATTER
    related = np.where(
        in_text, normalization.RELATED_PAGE_STRENGTH, normalization.RELATED_FIELD_STRENGTH
    )
    strongest[others] = np.minimum(strongest, related)[others]
    return LinkedDocuments(frozen(documents), frozen(strongest), reasons)


def about_person(linked: LinkedDocuments, places: Sequence[tuple[int, int]]) -> LinkedDocuments:
    """Return the links of a person, with strengths by how much each document concerns them.

    `places` holds, per linked document, the person's 1-based position among its attendees, 0 if
    absent, and the number of attendees. Other strengths are capped at `ABOUT_FLOOR`, except that of
    their own page.
    """
    place, attendees = (np.array(column, np.int64) for column in zip(*places, strict=True))
    about = normalization.about_strength(np.maximum(attendees, 1), np.maximum(place, 1))
    own = np.array([reason.startswith("own page") for reason in linked.reasons], np.bool_)
    capped = np.minimum(
        linked.strengths, np.where(own, normalization.ABOUT_OWN_PAGE, normalization.ABOUT_FLOOR)
    )
    strengths = np.where(place > 0, about, capped)
    reasons = tuple(
        f"attendee {number} of {total}" if number else reason
        for reason, (number, total) in zip(linked.reasons, places, strict=True)
    )
    return LinkedDocuments(linked.rows, frozen(strengths), reasons)


@lru_cache(maxsize=4096)  # few combinations occur in a base
def _reason(*links: tuple[int, int]) -> str:
    """Return the kinds, given by number, and counts of links as text, strongest kind first."""
    labels = []
    for kind, count in sorted(links):
        label = LINK_KINDS[kind].replace("_", " ")
        labels.append(f"{count} {label}s" if count > 1 and kind >= _WIKILINK else label)
    return ", ".join(labels)


def _are_among(rows: NDArray[Any], ascending: NDArray[Any]) -> NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(len(rows), np.bool_)
    places = np.minimum(ascending.searchsorted(rows), len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[places] == rows
    return found
