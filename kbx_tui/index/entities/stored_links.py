"""The arrays of links.bin: which documents each entity is linked to, and how words are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.coded_column import CodedColumn
from kbx_tui.index.columns.text_column import Rows, SortedTexts, TextArena
from kbx_tui.index.columns.versions import places_of
from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.index.schema import SCHEMAS
from kbx_tui.index.snapshot import LINK_KINDS
from kbx_tui.index.store import Store

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StoredLinks:
    """What follows from entities and documents together, in arrays of one dimension. Read-only.

    Documents are rows of the snapshot, entities rows of its entities.
    """

    state: NDArray[np.bytes_]
    """State of the tables and documents that they were read from (`table_state`), shape (1,)."""
    documents: NDArray[np.bytes_]
    """State of table documents of which documents.bin had all and no others when this was written,
    so that they need not be compared; empty if it had not. Shape (1,)."""
    starts: NDArray[np.int64]
    """Where the links of each entity start in the next three, shape (entities + 1,)."""
    rows: Ints
    """The document of each link: those of one entity ascending."""
    kinds: NDArray[np.uint8]
    """The kind of each link, as its number in `LINK_KINDS`."""
    counts: Ints
    page_rows: Ints
    """The document that is the page of each entity, -1 for none, shape (entities,)."""
    paged_rows: Ints
    """The documents that are pages of entities, ascending."""
    paged_entities: Ints
    """The entity of each of `paged_rows`; the last one where several have the same page."""
    own_pages: Ints
    """Those of `paged_rows` that are about one entity, not notes that are topics as well."""
    words: NDArray[np.uint8]
    """The words that are also names, folded, in UTF-8 and ascending order."""
    word_starts: NDArray[np.int64]
    as_name: Floats
    """How many documents use each word as a name; one that does both counts in part."""
    as_word: Floats


def make_links(
    store: Store,
    entities: EntityColumn,
    paths: SortedTexts,
    kinds: CodedColumn,
    state: NDArray[np.bytes_],
    documents_state: NDArray[np.bytes_],
) -> StoredLinks:
    """Read the links of entities to the documents with these paths and types. Raises IndexFault."""
    all_paths = paths.to_arrow()
    pages = places_of(entities.paths.to_arrow(), all_paths).astype(np.int32)
    paged = np.flatnonzero(pages >= 0)
    last_first = paged[::-1]
    paged_rows, first = np.unique(pages[last_first], return_index=True)
    return StoredLinks(
        state=state,
        documents=documents_state,
        page_rows=pages,
        paged_rows=paged_rows,
        paged_entities=last_first[first].astype(np.int32),
        own_pages=_own_pages(entities, kinds, paged, pages),
        **_links(store, entities, all_paths),
        **_name_uses(store),
    )


def _own_pages(entities: EntityColumn, kinds: CodedColumn, paged: Rows, pages: Ints) -> Ints:
    """Return the pages that have the type of their entity, or are those of people."""
    kind_codes = {kind: code for code, kind in enumerate(kinds.values)}
    codes = [kind_codes.get(kind, -1) for kind in entities.types.values]
    of_entity = np.array(codes, np.int64)[entities.types.codes[paged]]
    is_own = (of_entity == kinds.codes[pages[paged]]) | entities.with_type("person")[paged]
    return np.unique(pages[paged][is_own])


def _links(store: Store, entities: EntityColumn, paths: Any) -> dict[str, Any]:
    """Return the arrays of links, without those of entities and documents that are gone."""
    table = store.rows("links", SCHEMAS["links"].names)
    owners = places_of(table["entity_id"].cast("large_string"), entities.ids.to_arrow())
    documents = places_of(table["path"].cast("large_string"), paths)
    names = table["kind"].dictionary_encode().combine_chunks()
    numbers = np.array([LINK_KINDS.index(kind) for kind in names.dictionary.to_pylist()], np.uint8)
    order = np.lexsort((documents, owners))
    order = order[(documents[order] >= 0) & (owners[order] >= 0)]
    return {
        "starts": np.searchsorted(owners[order], np.arange(len(entities) + 1)),
        "rows": documents[order].astype(np.int32),
        "kinds": numbers[names.indices.to_numpy()[order]],
        "counts": table["count"].to_numpy()[order],
    }


def _name_uses(store: Store) -> dict[str, Any]:
    table = store.rows("name_uses", ["word", "as_name", "as_word"])
    words = table["word"].dictionary_encode().combine_chunks()  # texts of 2 GiB are not combined
    names, others = (table[name].to_numpy().astype(float) for name in ("as_name", "as_word"))
    share, codes = names / np.maximum(names + others, 1.0), words.indices.to_numpy()
    texts = words.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    arena = TextArena.of(texts[number] for number in order)
    return {
        "words": arena.data,
        "word_starts": arena.starts,
        "as_name": np.bincount(codes, share, len(texts))[order],
        "as_word": np.bincount(codes, 1.0 - share, len(texts))[order],
    }
