"""The part of the index that a search holds in memory: immutable, read once per generation.

Documents are rows ordered by path. Their text stays on disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index import rows
from kbx_tui.index.schema import SCHEMAS
from kbx_tui.index.store import Store
from kbx_tui.knowledge.records import Entity, LinkKind

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EntityLinks:
    """The links of one entity as parallel columns, sorted by document row."""

    rows: Rows
    """Document rows; a row repeats for each kind of link."""
    kinds: tuple[LinkKind, ...]
    counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NameVotes:
    """How many documents use a word as a name, and as a word; one that does both counts in part."""

    as_name: float
    as_word: float


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
    """Attendees or authors of each document, as stored: JSON, decoded on demand."""
    row_of: Mapping[str, int]
    """Path to row."""
    entities: tuple[Entity, ...]
    links: Mapping[str, EntityLinks]
    """By entity id, without entities that have no links."""
    name_uses: Mapping[str, NameVotes] = field(default_factory=dict)
    """How the documents use the words that are also names, by folded word."""
    aliases: tuple[tuple[str, ...], ...] = ()
    """Other names of each document."""
    is_vault: bool = False
    """Whether the base is an Obsidian vault, where links mean files before names."""
    versions: tuple[str, ...] = ()
    """Identifies path and content of each document: `schema.document_version`."""


def generation_of(versions: Mapping[str, int]) -> int:
    """Return the generation of the index: the sum of its table versions, raised by every write."""
    return sum(versions.values())


def rows_of(values: Iterable[Any], row_of: Mapping[Any, int]) -> Rows:
    """Return the row of each value, -1 for one that has none."""
    return np.array(list(map(row_of.get, values, repeat(-1))), np.int64)


def read_snapshot(store: Store) -> Snapshot:
    """Read the snapshot of the newest generation."""
    columns = ["path", "id", "title", "date", "kind", "tags", "attendees", "aliases", "version"]
    table = store.rows("documents", columns).sort_by("path")
    paths, ids, titles, dates, kinds, tags, attendees, aliases, versions = (
        tuple(table[name].to_pylist()) for name in columns
    )
    row_of = {path: row for row, path in enumerate(paths)}
    entities = stored_entities(store)
    id_of_page = {entity.path: entity.id for entity in entities}  # unique; ids of documents are not
    return Snapshot(
        paths=paths,
        ids=tuple(map(id_of_page.get, paths, ids)),
        titles=titles,
        dates=dates,
        kinds=kinds,
        tags=tuple(map(tuple, tags)),
        attendees=attendees,
        row_of=row_of,
        entities=tuple(entities),
        links=_links(store, row_of),
        name_uses=_name_uses(store),
        aliases=tuple(map(tuple, aliases)),
        is_vault=bool(store.meta().get("is_vault")),
        versions=versions,
    )


def stored_entities(store: Store) -> list[Entity]:
    """Return the entities in the index, ordered by id."""
    table = store.rows("entities", rows.ENTITY_COLUMNS)
    return sorted(map(rows.entity_from_row, table.to_pylist()), key=lambda entity: entity.id)


def _links(store: Store, row_of: Mapping[str, int]) -> dict[str, EntityLinks]:
    table = store.rows("links", SCHEMAS["links"].names)
    entity_ids, paths, kinds = (
        table[name].combine_chunks().dictionary_encode() for name in ("entity_id", "path", "kind")
    )
    documents = rows_of(paths.dictionary.to_pylist(), row_of)[paths.indices.to_numpy()]
    owners, owner_ids = entity_ids.indices.to_numpy(), entity_ids.dictionary.to_pylist()
    order = np.lexsort((documents, owners))
    order = order[documents[order] >= 0]  # documents deleted since the links were written
    bounds = np.searchsorted(owners[order], np.arange(len(owner_ids) + 1)).tolist()
    link_rows, counts = documents[order], table["count"].to_numpy()[order]
    names: list[LinkKind] = kinds.dictionary.to_pylist()
    link_kinds = [names[index] for index in kinds.indices.to_numpy()[order].tolist()]
    return {
        owner: EntityLinks(link_rows[start:end], tuple(link_kinds[start:end]), counts[start:end])
        for owner, (start, end) in zip(owner_ids, pairwise(bounds), strict=True)
        if start < end
    }


def _name_uses(store: Store) -> dict[str, NameVotes]:
    table = store.rows("name_uses", ["word", "as_name", "as_word"])
    words = table["word"].combine_chunks().dictionary_encode()
    names, others = (table[name].to_numpy().astype(float) for name in ("as_name", "as_word"))
    share, codes = names / np.maximum(names + others, 1.0), words.indices.to_numpy()
    size = len(words.dictionary)
    as_name = np.bincount(codes, share, size)
    as_word = np.bincount(codes, 1.0 - share, size)
    votes = map(NameVotes, as_name.tolist(), as_word.tolist())
    return dict(zip(words.dictionary.to_pylist(), votes, strict=True))
