"""What a search needs of the index in memory, read once per generation and never changed.

Documents are rows in path order. Text stays on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index import rows, schema
from kbx_tui.index.store import Store
from kbx_tui.knowledge.records import Entity, LinkKind

Keys = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EntityLinks:
    """The links of one entity as columns, sorted by document row."""

    rows: Keys
    """Document rows, with repetition: one entry per kind of link."""
    kinds: tuple[LinkKind, ...]
    counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Documents, entities and links of one generation."""

    paths: tuple[str, ...]
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    dates: tuple[str, ...]
    kinds: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    attendees: tuple[str, ...]
    """Attendees or authors of each document as stored: JSON, read where it is asked for."""
    row_of: Mapping[str, int]
    """Path to row."""
    keys: Keys
    """Sorted document keys."""
    key_rows: Keys
    """Row of each of `keys`."""
    entities: tuple[Entity, ...]
    links: Mapping[str, EntityLinks]
    """By entity id; an entity without links is absent."""
    versions: tuple[str, ...] = ()
    """What tells the content of each document from any other: `schema.document_version`."""

    def rows_of_keys(self, keys: Keys) -> Keys:
        """Return the rows of document keys, -1 where a key is not of this generation."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.key_rows[at], -1)


def generation_of(versions: Mapping[str, int]) -> int:
    """Return the number by which a stale answer is known: every write raises it."""
    return sum(versions.values())


def read_snapshot(store: Store) -> Snapshot:
    """Read the snapshot of the newest generation."""
    columns = ["key", "path", "id", "title", "date", "kind", "tags", "attendees", "version"]
    table = store.rows("documents", columns).sort_by("path")
    paths = tuple(table["path"].to_pylist())
    row_of = {path: row for row, path in enumerate(paths)}
    keys = table["key"].to_numpy()
    order = np.argsort(keys)
    found = store.rows("entities", [n for n in schema.ENTITIES.names if n != "profile"])
    entities = sorted(
        (rows.entity_from_row(row) for row in found.to_pylist()), key=lambda entity: entity.id
    )
    own_page = {entity.path: entity.id for entity in entities}  # unique, a page's own id need not
    return Snapshot(
        paths=paths,
        ids=tuple(own_page.get(p, i) for p, i in zip(paths, table["id"].to_pylist(), strict=True)),
        titles=tuple(table["title"].to_pylist()),
        dates=tuple(table["date"].to_pylist()),
        kinds=tuple(table["kind"].to_pylist()),
        tags=tuple(map(tuple, table["tags"].to_pylist())),
        attendees=tuple(table["attendees"].to_pylist()),
        row_of=row_of,
        keys=keys[order],
        key_rows=order,
        entities=tuple(entities),
        links=_links(store, row_of),
        versions=tuple(table["version"].to_pylist()),
    )


def _links(store: Store, row_of: Mapping[str, int]) -> dict[str, EntityLinks]:
    table = store.rows("links", schema.LINKS.names)
    entity_ids, paths, kinds = (
        table[n].combine_chunks().dictionary_encode() for n in ("entity_id", "path", "kind")
    )
    rows_of_paths = np.array(
        [row_of.get(p, -1) for p in paths.dictionary.to_pylist()], dtype=np.int64
    )
    documents = rows_of_paths[paths.indices.to_numpy()] if len(table) else np.empty(0, np.int64)
    owners = entity_ids.indices.to_numpy()
    counts, kind_at = table["count"].to_numpy(), kinds.indices.to_numpy()
    names: list[LinkKind] = kinds.dictionary.to_pylist()
    order = np.lexsort((documents, owners))
    order = order[documents[order] >= 0]  # documents deleted since the links were written
    bounds = np.searchsorted(owners[order], np.arange(len(entity_ids.dictionary) + 1))
    rows_in_order, counts_in_order = documents[order], counts[order]
    kinds_in_order = [names[at] for at in kind_at[order].tolist()]
    links = {}
    for entity_id, (start, end) in zip(
        entity_ids.dictionary.to_pylist(), pairwise(bounds.tolist()), strict=True
    ):
        if start < end:
            links[entity_id] = EntityLinks(
                rows_in_order[start:end],
                tuple(kinds_in_order[start:end]),
                counts_in_order[start:end],
            )
    return links
