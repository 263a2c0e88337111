"""Entity cards: everything known about one entity, as shown on screen and in JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.knowledge.records import Entity, Fact

if TYPE_CHECKING:
    from kbx_tui.index.snapshot import Snapshot
    from kbx_tui.search.evidence.evidence import LinkedDocuments


@dataclass(frozen=True, slots=True)
class EntityName:
    """An entity as shown in lists."""

    id: str
    name: str
    type: str
    path: str
    """Its page, or empty."""


@dataclass(frozen=True, slots=True)
class EntityDocument:
    """A document that belongs to an entity."""

    path: str
    title: str
    date: str
    kind: str
    reason: str
    """Why it is linked, for display: `attendee`, `title, 4 mentions`."""
    strength: float
    """`link_strength`, 0..1."""


@dataclass(frozen=True, slots=True)
class EntityCard(EntityName):
    """Everything known about one entity, as indexed."""

    aliases: tuple[str, ...]
    role: str
    team: str
    """Name of its team, as written on the page."""
    facts: tuple[Fact, ...]
    """Facts of any status, newest first, undated ones last."""
    open_items: tuple[Fact, ...]
    """Open before done, each newest first, undated ones last."""
    documents: tuple[EntityDocument, ...]
    """All documents linked to it, newest first, undated ones last."""
    members: tuple[EntityName, ...] = ()
    """Members of a team, by name."""


def make_card(
    entity: Entity,
    members: Iterable[Entity],
    facts: Iterable[Fact],
    documents: Iterable[EntityDocument],
) -> EntityCard:
    """Return the card of `entity`; `facts` holds its facts and open items in any order."""
    newest = sorted(facts, key=lambda fact: fact.line)
    newest.sort(key=lambda fact: fact.date, reverse=True)  # stable: the page's order within a day
    return EntityCard(
        id=entity.id,
        name=entity.name,
        type=entity.type,
        path=entity.path,
        aliases=entity.aliases,
        role=entity.role,
        team=entity.team,
        facts=tuple(fact for fact in newest if fact.kind == "fact"),
        open_items=tuple(
            sorted((f for f in newest if f.kind == "open_item"), key=lambda item: item.done)
        ),
        documents=tuple(sorted(documents, key=lambda document: document.date, reverse=True)),
        members=tuple(sorted(map(name_of, members), key=lambda member: (member.name, member.id))),
    )


def name_of(entity: Entity) -> EntityName:
    """Return an entity as shown in lists."""
    return EntityName(entity.id, entity.name, entity.type, entity.path)


def documents_of(snapshot: Snapshot, linked: LinkedDocuments) -> list[EntityDocument]:
    """Return linked documents in path order; `linked` has rows of the whole base."""
    return [
        EntityDocument(
            path=snapshot.paths[row],
            title=snapshot.titles[row],
            date=snapshot.dates[row],
            kind=snapshot.kinds[row],
            reason=reason,
            strength=strength,
        )
        for row, strength, reason in zip(
            linked.rows.tolist(), linked.strengths.tolist(), linked.reasons, strict=True
        )
    ]
