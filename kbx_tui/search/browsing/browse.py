"""Lookups in an index without a query: entities, facts, links, paths. Each reads one table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from kbx_tui.index.paths.path_completion import complete
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.rows import FACT_COLUMNS, fact_from_row
from kbx_tui.index.where_clause import quoted
from kbx_tui.knowledge.records import Fact
from kbx_tui.search.browsing.card import EntityCard, EntityName, documents_of, make_card, name_of
from kbx_tui.search.browsing.destination import Destination, part_line
from kbx_tui.search.browsing.document_lookup import DocumentName
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.retrieval.scope import find_scope


def entity_card(index: OpenIndex, entity_id: str) -> EntityCard:
    """Return everything known about an entity. Raises NotFound."""
    generation = index.generation()
    entity, entities = generation.entity(entity_id), generation.entities
    rows = index.reader.rows("facts", FACT_COLUMNS, f"entity_id = {quoted(entity_id)}")
    linked = generation.entity_documents.linked(entity_id)
    return make_card(
        entity,
        members=[entities[member] for member in entity.members if member in entities],
        facts=map(fact_from_row, rows.to_pylist()),
        documents=documents_of(generation.snapshot, linked),
    )


def find_entities(index: OpenIndex, text: str, limit: int) -> tuple[EntityName, ...]:
    """Return the entities whose name matches part of a name, best first."""
    return tuple(map(name_of, index.generation().entity_names.find(text, limit)))


def find_documents(index: OpenIndex, text: str, limit: int) -> tuple[DocumentName, ...]:
    """Return the documents whose title or path matches part of a name, best first."""
    return tuple(index.generation().document_names.find(text, limit))


def follow(index: OpenIndex, target: str, source: str) -> Destination | None:
    """Return the destination of a link in `source`, None if it has none in the base."""
    destination = index.generation().destinations.find(target, source)
    if destination is None or not (destination.heading and destination.path):
        return destination
    where = f"path = {quoted(destination.path)}"
    for row in index.reader.rows("documents", ["body", "body_line"], where).to_pylist():
        line = part_line(row["body"], row["body_line"], destination.heading)
        return replace(destination, line=line)
    return destination


def complete_path(index: OpenIndex, text: str, root: Path, limit: int) -> tuple[str, ...]:
    """Return the completions of a partial path, folders first."""
    return complete(index.generation().snapshot.paths, text, root, limit)


def count_scope(index: OpenIndex, path: PathFilter) -> tuple[int, int]:
    """Return how many documents match a path filter, and how many there are in total."""
    scope = find_scope(index.generation().snapshot, path)[1]
    return scope.in_scope, scope.total


def list_facts(index: OpenIndex, entity_id: str = "", since: str = "") -> tuple[Fact, ...]:
    """Return the facts and open items of an entity, or of all, newest first, undated ones last.

    `since` is an ISO date; it excludes older and undated ones.
    """
    clauses = [f"entity_id = {quoted(entity_id)}"] if entity_id else []
    clauses += [f"date >= {quoted(since)}"] if since else []
    table = index.reader.rows("facts", FACT_COLUMNS, " AND ".join(clauses) or "fact_id > 0")
    by_place = sorted(map(fact_from_row, table.to_pylist()), key=lambda f: (f.path, f.line))
    return tuple(sorted(by_place, key=lambda fact: fact.date, reverse=True))


def facts_by_id(index: OpenIndex, ids: Iterable[int]) -> dict[int, Fact]:
    """Return the facts with these ids, except those that do not exist."""
    id_list = ", ".join(map(str, sorted(set(ids))))
    if not id_list:
        return {}
    table = index.reader.rows("facts", FACT_COLUMNS, f"fact_id IN ({id_list})")
    return {fact.fact_id: fact for fact in map(fact_from_row, table.to_pylist())}


def indexed_hash(index: OpenIndex, path: str) -> str:
    """Return the content hash of a document as indexed, empty if it is not indexed."""
    rows = index.reader.rows("documents", ["content_hash"], f"path = {quoted(path)}").to_pylist()
    return str(rows[0]["content_hash"]) if rows else ""
