"""Which documents belong to which entities, why, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from kbx_tui.knowledge.entities.disambiguation import Bearing, count_word
from kbx_tui.knowledge.entities.entity_resolver import Lookup
from kbx_tui.knowledge.entities.mentions import Spot, Spotter, Text, keys_in_titles, written_names
from kbx_tui.knowledge.entities.spellings import title_keys
from kbx_tui.knowledge.entities.suppressions import load_suppressions
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.records import Document, Entity, Link, LinkKind

__all__ = ["Linker", "load_suppressions"]

_STRONG: frozenset[LinkKind] = frozenset({"attendee", "own_page", "frontmatter", "title"})
"""Links of a member that also make the document its team's."""

Counts = Counter[tuple[int, LinkKind]]


class Linker:
    """Knows the entities of a knowledge base, and finds them in its documents.

    Names given on purpose (attendees, frontmatter, wikilinks, tags) are looked up; in titles and
    bodies names are spotted. A name that several entities bear, and the first name of a person,
    count only for the one bearer who is in the document anyway.
    """

    def __init__(
        self,
        entities: Sequence[Entity],
        *,
        suppressions: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._entities = tuple(entities)
        self._lookup = Lookup(self._entities)
        self._in_text = Spotter(written_names(self._entities))
        self._in_titles = Spotter(keys_in_titles(self._entities))
        self._bearing = Bearing(self._entities)
        self._pages = {entity.path: at for at, entity in enumerate(self._entities) if entity.path}
        self._teams = _teams_by_member(self._entities)
        self._suppressions = {
            path: frozenset(map(name_key, names)) for path, names in (suppressions or {}).items()
        }

    def links(self, document: Document) -> tuple[Link, ...]:
        """Return the links of one document, sorted by entity and kind.

        On its own page an entity has that one link only, whatever the page says about it.
        """
        counts: Counts = Counter()
        own = self._pages.get(document.path)
        if own is not None:
            counts[own, "own_page"] = 1
        self._count_given(document, counts)
        self._count_spotted(document, counts)
        kept = self._kept(document, counts, own)
        self._count_members(document, kept)
        return tuple(
            sorted(
                (
                    Link(self._entities[position].id, document.path, kind, count)
                    for (position, kind), count in kept.items()
                ),
                key=lambda link: (link.entity_id, link.kind),
            )
        )

    def _count_given(self, document: Document, counts: Counts) -> None:
        for attendee in document.attendees:
            for position in self._lookup.attendee(attendee):
                counts[position, "attendee"] = 1
        for reference in document.references:
            for position in self._lookup.target(reference):
                counts[position, "frontmatter"] += 1
        for tag in document.tags:
            for position in self._lookup.tag(tag):
                counts[position, "frontmatter"] += 1
        for target in document.wikilinks:
            for position in self._lookup.target(target):
                counts[position, "wikilink"] += 1

    def _count_spotted(self, document: Document, counts: Counts) -> None:
        body = Text(document.body)
        in_body = self._in_text.spots(body)
        in_title = (
            *self._in_text.spots(Text(document.title)),
            *(
                spot
                for key in title_keys(document.title)
                for spot in self._in_titles.spots(Text(key))
            ),
        )
        places: list[tuple[LinkKind, Spot]] = [("mention", spot) for spot in in_body]
        places += [("title", spot) for spot in in_title]
        doubtful = []
        for kind, spot in places:
            meant = self._bearing.sure(spot)
            if meant is None:
                doubtful.append((kind, spot))
            _count(counts, meant or (), kind)
        present = {position for position, _ in counts}
        for kind, spot in doubtful:
            _count(counts, self._bearing.corroborated(spot, present), kind)
        present = {position for position, _ in counts}
        for position, first_name in self._bearing.first_names(present):
            if count := count_word(body, first_name, in_body):
                counts[position, "mention"] += count

    def _kept(self, document: Document, counts: Counts, own: int | None) -> Counts:
        suppressed = self._suppressions.get(document.path, frozenset())
        kept: Counts = Counter()
        for (position, kind), count in counts.items():
            is_own = position == own
            if is_own == (kind == "own_page") and not (
                suppressed and not is_own and self._is_among(suppressed, position)
            ):
                kept[position, kind] = count
        return kept

    def _is_among(self, names: Collection[str], position: int) -> bool:
        entity = self._entities[position]
        return name_key(entity.name) in names or name_key(entity.id) in names

    def _count_members(self, document: Document, kept: Counts) -> None:
        members = {position for position, kind in kept if kind in _STRONG}
        suppressed = self._suppressions.get(document.path, frozenset())
        for position in members:
            for team in self._teams.get(position, ()):
                if not self._is_among(suppressed, team):
                    kept[team, "member"] += 1


def _count(counts: Counts, positions: Collection[int], kind: LinkKind) -> None:
    """Count a place where a name stands; how often a short title says it does not matter."""
    for position in positions:
        counts[position, kind] = 1 if kind == "title" else counts[position, kind] + 1


def _teams_by_member(entities: Sequence[Entity]) -> dict[int, list[int]]:
    positions = {entity.id: position for position, entity in enumerate(entities)}
    teams: dict[int, list[int]] = {}
    for position, entity in enumerate(entities):
        for member in entity.members:
            if member in positions:
                teams.setdefault(positions[member], []).append(position)
    return teams
