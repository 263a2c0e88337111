"""Reading of the snapshot of the newest generation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kbx_tui.index import rows
from kbx_tui.index.columns.coded_column import CodedColumn
from kbx_tui.index.columns.id_column import IdColumn
from kbx_tui.index.columns.load_documents import load_documents
from kbx_tui.index.columns.released_memory import release_memory
from kbx_tui.index.columns.stored_documents import places_of
from kbx_tui.index.columns.text_column import RowOfText, SortedTexts, TextColumn, TextLists
from kbx_tui.index.columns.versions import Versions
from kbx_tui.index.schema import SCHEMAS
from kbx_tui.index.snapshot import EntityLinks, NameVotes, Rows, Snapshot
from kbx_tui.index.store import Store
from kbx_tui.knowledge.records import Entity, LinkKind


def read_snapshot(store: Store) -> Snapshot:
    """Read the snapshot of the newest generation. Raises IndexFault."""
    segments = load_documents(store)
    places = places_of(segments)
    paths = SortedTexts([segment.documents.arena("path") for segment in segments], places)
    entities = stored_entities(store)
    pages = _page_rows(paths, entities)
    page_ids = {pages[entity.path]: entity.id for entity in entities if entity.path in pages}

    def texts(name: str) -> TextColumn:
        return TextColumn([segment.documents.arena(name) for segment in segments], places)

    def coded(name: str) -> CodedColumn:
        columns = [segment.documents.coded(name) for segment in segments]
        return columns[0] if places is None else CodedColumn.concatenated(columns).take(places)

    versions = [segment.documents.versions for segment in segments]
    links, name_uses = _links(store, paths), _name_uses(store)
    release_memory()
    return Snapshot(
        paths=paths,
        ids=IdColumn(texts("id"), page_ids),
        titles=texts("title"),
        dates=coded("date"),
        kinds=coded("kind"),
        tags=TextLists(texts("tag")),
        attendees=texts("attendee"),
        row_of=RowOfText(paths, pages),
        entities=tuple(entities),
        links=links,
        name_uses=name_uses,
        aliases=TextLists(texts("alias")),
        is_vault=bool(store.meta().get("is_vault")),
        versions=Versions(versions[0] if places is None else np.concatenate(versions)[places]),
        segments=tuple(segments),
        page_ids=page_ids,
    )


def stored_entities(store: Store) -> list[Entity]:
    """Return the entities in the index, ordered by id."""
    table = store.rows("entities", rows.ENTITY_COLUMNS)
    return sorted(map(rows.entity_from_row, table.to_pylist()), key=lambda entity: entity.id)


def _page_rows(paths: SortedTexts, entities: Sequence[Entity]) -> dict[str, int]:
    """Return the rows of the pages of entities, by path."""
    wanted = sorted({entity.path for entity in entities})
    found = zip(wanted, paths.find_each(wanted), strict=True)
    return {path: row for path, row in found if row >= 0}


def _links(store: Store, paths: SortedTexts) -> dict[str, EntityLinks]:
    table = store.rows("links", SCHEMAS["links"].names)
    entity_ids, linked, kinds = (
        table[name].combine_chunks().dictionary_encode() for name in ("entity_id", "path", "kind")
    )
    documents = _rows_of_paths(linked.dictionary, paths)[linked.indices.to_numpy()]
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


def _rows_of_paths(wanted: Any, paths: SortedTexts) -> Rows:
    """Return the row of each path of a pyarrow array, -1 for one that is gone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pc.index_in(wanted.cast(pa.large_utf8()), value_set=paths.to_arrow())
    found: Rows = rows.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


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
