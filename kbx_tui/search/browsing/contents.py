"""What a base holds, counted, and queries made from it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kbx_tui.formatting import format_count
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.browsing.title_topics import Occurrences, titles_about, topic_words_of

KINDS_NAMED = 4
"""Types of documents that a summary counts; all others are counted together."""
QUERIES = 3
"""Queries offered at most."""


@dataclass(frozen=True, slots=True)
class BaseContents:
    """Counts of a base, the most frequent first, and queries that find something in it."""

    kinds: Mapping[str, int]
    """Number of documents by type."""
    tags: Mapping[str, int]
    """Number of documents by tag."""
    queries: tuple[str, ...]
    """At most three queries, of its people and projects or most linked notes, and of topics."""

    @property
    def summary(self) -> str:
        """The counts in words: `41 notes, 4 people, 12 tags`."""
        named = list(self.kinds.items())[:KINDS_NAMED]
        parts = [format_count(count, kind) for kind, count in named]
        if others := sum(self.kinds.values()) - sum(count for _, count in named):
            parts.append(format_count(others, "other document"))
        if self.tags:
            parts.append(format_count(len(self.tags), "tag"))
        return ", ".join(parts)


def contents_of(
    snapshot: Snapshot, occurrences: Occurrences, linked: Sequence[str] = ()
) -> BaseContents:
    """Return what a generation of the index holds.

    `linked` are the titles of the notes that others link to, the most linked first; they are asked
    for where there are no people and projects.
    """
    kinds = Counter(snapshot.kinds)
    tags = Counter(tag for tags in snapshot.tags for tag in set(tags))
    return BaseContents(
        kinds=dict(kinds.most_common()),
        tags=dict(tags.most_common()),
        queries=tuple(islice(_queries(snapshot, occurrences, linked), QUERIES)),
    )


def _queries(snapshot: Snapshot, occurrences: Occurrences, linked: Sequence[str]) -> Iterator[str]:
    """Yield a person with a project of common documents, another entity, and topics.

    Where there are no entities, the most linked note comes first, and topics are titles.
    """
    entities = _by_documents(snapshot)
    people = [entity for entity in entities if entity.type == "person"]
    others = [entity for entity in entities if entity.type != "person"]
    others.sort(key=lambda entity: entity.type != "project")  # a project asks more of a query
    pair = _linked_pair(snapshot, people, others)
    if pair is not None:
        yield f"what did {pair[0].name} say about {pair[1].name}?"
    rest = [entity for entity in entities if pair is None or entity not in pair]
    if rest:
        yield f"what is new about {rest[0].name}?"
    hubs = [] if entities else list(linked[:1])
    yield from hubs
    names = [entity.name for entity in snapshot.entities]
    names += [alias for entity in snapshot.entities for alias in entity.aliases]
    topics = topic_words_of(snapshot.titles, occurrences, [*names, *hubs], QUERIES)
    yield from topics if entities else titles_about(topics, snapshot.titles)


def _by_documents(snapshot: Snapshot) -> list[Entity]:
    """Return the entities with documents other than their own page, those with most first."""
    counts = {
        entity_id: len(set(linked.rows.tolist())) for entity_id, linked in snapshot.links.items()
    }
    linked = [entity for entity in snapshot.entities if counts.get(entity.id, 0) > 1]
    return sorted(linked, key=lambda entity: (-counts[entity.id], entity.id))


def _linked_pair(
    snapshot: Snapshot, people: list[Entity], others: list[Entity]
) -> tuple[Entity, Entity] | None:
    """Return the first person and the first other entity that share a document."""
    for person in people[:5]:
        own = set(snapshot.links[person.id].rows.tolist())
        for other in others[:5]:
            if own & set(snapshot.links[other.id].rows.tolist()):
                return person, other
    return None
