"""Snapshots made of a few values instead of an index."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from kbx_tui.index.snapshot import EntityPages, LinksByEntity, NameUses, Snapshot, StoredLinks
from kbx_tui.index.stored_names import make_names
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.text_columns import CodedColumn, TextArena, TextColumn, TextLists
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.records import Entity


def links_of(column: EntityColumn, pages: Mapping[int, int] = MappingProxyType({})) -> StoredLinks:
    """Return no links; `pages` are the entities whose pages are documents, by row."""
    nothing = np.empty(0, np.int32)
    page_rows = np.full(len(column), -1, np.int32)
    page_rows[list(pages.values())] = list(pages)
    return StoredLinks(
        state=NO_STATE,
        starts=np.zeros(len(column) + 1, np.int64),
        rows=nothing,
        kinds=nothing.astype(np.uint8),
        counts=nothing,
        page_rows=page_rows,
        paged_rows=np.array(sorted(pages), np.int32),
        paged_entities=np.array([pages[row] for row in sorted(pages)], np.int32),
        own_pages=nothing,
        words=TextArena.of([]),
        as_name=np.empty(0),
        as_word=np.empty(0),
    )


def snapshot_of(paths: Sequence[str], entities: Sequence[Entity] = (), **columns: Any) -> Snapshot:
    """Return a snapshot of notes, without links; other `columns` than these are given."""
    column = EntityColumn.of(entities)
    links = links_of(column)
    given: dict[str, Any] = {
        "ids": paths,
        "dates": ("",) * len(paths),
        "kinds": ("note",) * len(paths),
        "tags": ((),) * len(paths),
        "attendees": ("[]",) * len(paths),
        "versions": np.full(len(paths), b"1"),
        "properties": TextLists(TextColumn.of([""] * len(paths))),
        **columns,
    }
    return Snapshot(
        paths=paths,
        row_of={path: row for row, path in enumerate(paths)},
        entities=column,
        links=LinksByEntity(links, column),
        name_uses=NameUses(links),
        entity_pages=EntityPages(links, column),
        names=make_names(column, NO_STATE),
        property_keys=CodedColumn.of([""] * len(paths)),
        **given,
    )
