"""Second stage of a build: entities, facts and links, derived from the documents in the index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kbx_tui.config import Settings
from kbx_tui.index import tables
from kbx_tui.index.build.file_changes import Changes
from kbx_tui.index.build.progress import ProgressMeter
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.index.index_status import entity_types
from kbx_tui.index.snapshot import stored_entities
from kbx_tui.index.store import Store, batched_clauses, is_one_of, quoted
from kbx_tui.index.tables import table_schema
from kbx_tui.knowledge.conventions import read_conventions
from kbx_tui.knowledge.entities import build_entities, read_facts
from kbx_tui.knowledge.entity_names import NameUseCounter
from kbx_tui.knowledge.linking import Linker
from kbx_tui.knowledge.markdown import inline_fields
from kbx_tui.knowledge.obsidian_vault import FileLookup, file_name_of
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity, Fact
from kbx_tui.knowledge.topics import NoteOutline, TopicRules, Topics
from kbx_tui.knowledge.vault import load_suppressions, read_page, walk

BATCH = 1000

REPORT_EVERY = 100

ENTITY_SOURCES = ("context",)
"""Kinds that name entities without being their page (teams in company.md)."""

_TEAM_KEY = '"team"'
"""Occurs in the JSON of a frontmatter that names a team."""


def topic_rules(settings: Settings) -> TopicRules:
    return msgspec.convert(settings.entities, TopicRules, from_attributes=True)


def parse_topics(root: Path, settings: Settings) -> tuple[Topics, list[Entity]]:
    """Return notes and entities as an index would have them, read from the files alone."""
    types = entity_types(settings)
    files = walk(root, excluded_files(root, settings.index)).files
    conventions = read_conventions(root, {file.path: file.absolute for file in files}, types)
    notes: list[NoteOutline] = []
    pages: list[Document] = []
    for file in files:
        try:
            data = read_page(file.absolute, file.path)
        except OSError:
            continue
        page = parse_document(file.path, data, entity_types=types, conventions=conventions)
        notes.append(_outline({name: getattr(page, name) for name in _OUTLINED}, page.body))
        is_source = page.kind in types or page.kind in ENTITY_SOURCES
        if is_source or any("team" in key.casefold() for key in page.frontmatter):
            pages.append(page)
    topics = Topics(notes)
    entities = list(build_entities(pages, types))
    return topics, [*entities, *topics.entities(topic_rules(settings), entities)]


def read_topics(store: Store) -> Topics:
    bodies = store.mapping("documents", "path", "body", "contains(body, '::')")
    rows = store.rows("documents", list(_OUTLINED)).sort_by("path").to_pylist()
    decode = msgspec.json.decode
    for row in rows:
        row["frontmatter"] = decode(row["frontmatter"])
        row["attendees"] = tables.attendees_from(row["attendees"])
    return Topics([_outline(row, bodies.get(row["path"], "")) for row in rows])


_OUTLINED = ("path", "title", "kind", "aliases", "tags", "links", "frontmatter", "attendees")


def _outline(row: dict[str, Any], body: str) -> NoteOutline:
    properties = {**inline_fields(body), **row.pop("frontmatter")}
    return NoteOutline(**row, properties=properties)


def write_entities_and_links(
    root: Path,
    store: Store,
    settings: Settings,
    changes: Changes,
    files: FileLookup | None,
    meter: ProgressMeter,
    *,
    whole: bool,
) -> None:
    """Derive entities, facts and links and replace those of their tables that change.

    `files` are those of an Obsidian vault, where links mean files before names. With `whole`, or
    when an entity changed, every document is linked again; else only changed ones, and in a vault
    those with links that may mean a new or deleted file.
    """
    types = entity_types(settings)
    is_source = is_one_of("kind", sorted({*types, *ENTITY_SOURCES}))
    where = f"{is_source} OR contains(frontmatter, {quoted(_TEAM_KEY)})"
    pages = sorted(_documents(store, [where]), key=lambda page: page.path)
    entities = build_entities(pages, types)
    if (rules := topic_rules(settings)).are_any:
        topics = read_topics(store).entities(rules, entities)
        paths = sorted(topic.path for topic in topics if topic.path)
        entities = tuple(sorted([*entities, *topics], key=lambda entity: entity.id))
        known = {page.path for page in pages}
        clauses = batched_clauses("path", [path for path in paths if path not in known], BATCH)
        pages += _documents(store, clauses)
    old = {} if whole else {entity.id: entity for entity in stored_entities(store)}
    facts_of = _derive_facts(store, entities, pages, old, changes)
    linker = Linker(entities, suppressions=load_suppressions(root), files=files)
    whole = not old or old != {entity.id: entity for entity in entities}
    counter = NameUseCounter(entities)
    moved = {*changes.added, *changes.deleted} if files is not None and not whole else ()
    touched = {*changes.added, *changes.changed, *_linking_to(store, moved)}
    touched = set(changes.hashes) if whole else touched & changes.hashes.keys()
    links, name_uses = _derive_links(store, linker, counter, changes, touched, meter, whole=whole)
    pages_changed = {*changes.added, *changes.changed, *changes.deleted}
    if whole or not pages_changed.isdisjoint(entity.path for entity in entities):
        of_entity = {entity.id: entity for entity in entities}
        facts = [fact for entity in entities for fact in facts_of[entity.id]]
        store.replace("entities", [tables.entity_row(each, facts_of[each.id]) for each in entities])
        store.replace("facts", [tables.fact_row(fact, of_entity[fact.entity_id]) for fact in facts])
    for name, derived in (("links", links), ("name_uses", name_uses)):
        if derived is not None:
            store.replace(name, derived)


def _derive_facts(
    store: Store,
    entities: Sequence[Entity],
    pages: Sequence[Document],
    old: Mapping[str, Entity],
    changes: Changes,
) -> dict[str, list[Fact]]:
    """Return the facts of each entity, in file order; only changed pages are parsed."""
    page_at = {page.path: page for page in pages}
    touched = {*changes.added, *changes.changed, *changes.deleted}
    stored: dict[str, list[Fact]] = defaultdict(list)
    for row in store.rows("facts", tables.FACT_COLUMNS).to_pylist() if old else ():
        stored[row["entity_id"]].append(tables.fact_from_row(row))

    def facts_of(entity: Entity) -> list[Fact]:
        before = old.get(entity.id)
        if before is not None and before.path == entity.path and entity.path not in touched:
            return sorted(stored[entity.id], key=lambda fact: fact.line)
        page = page_at.get(entity.path)
        return list(read_facts(page, entity.id)) if page else []

    return {entity.id: facts_of(entity) for entity in entities}


def _derive_links(
    store: Store,
    linker: Linker,
    counter: NameUseCounter,
    changes: Changes,
    touched: set[str],
    meter: ProgressMeter,
    *,
    whole: bool,
) -> tuple[pa.Table | None, pa.Table | None]:
    """Return the rows of all links and of all uses of names, or None if they stay the same.

    Those of `touched` are derived. Those of unchanged documents stay Arrow: as Python objects they
    take most of a single edit.
    """
    clauses = [None] if whole else batched_clauses("path", sorted(touched), BATCH)
    links: list[dict[str, Any]] = []
    name_uses: list[dict[str, Any]] = []
    meter.begin("entities", len(touched))
    for count, document in enumerate(_documents(store, clauses), 1):
        links += map(tables.field_values, linker.links(document))
        name_uses += map(tables.field_values, counter.uses(document))
        if count % REPORT_EVERY == 0:
            meter.report(count)
    outdated = pa.array(sorted(touched.union(changes.deleted)), pa.string())

    def with_kept(name: str, rows_of: list[dict[str, Any]], order: Sequence[str]) -> Any:
        by = [(column, "ascending") for column in order]
        table = pa.Table.from_pylist(rows_of, schema=table_schema(name)).sort_by(by)
        if whole:
            return table
        stored = store.rows(name, table.column_names).cast(table.schema)
        is_outdated = pc.is_in(stored["path"], outdated)
        if stored.filter(is_outdated).sort_by(by).equals(table):
            return None
        return pa.concat_tables([table, stored.filter(pc.invert(is_outdated))]).sort_by(by)

    return (
        with_kept("links", links, ("path", "entity_id", "kind")),
        with_kept("name_uses", name_uses, ("path", "word")),
    )


def _linking_to(store: Store, paths: Collection[str]) -> set[str]:
    if not paths:
        return set()
    names = {path.rpartition("/")[2].lower() for path in paths}
    table = store.rows("documents", ["path", "links"])
    return {
        path
        for path, links in zip(table["path"].to_pylist(), table["links"].to_pylist(), strict=True)
        if any(file_name_of(link.partition("#")[0]) in names for link in links)
    }


def _documents(store: Store, clauses: Iterable[str | None]) -> Iterator[Document]:
    for clause in clauses:
        table = store.rows("documents", tables.DOCUMENT_COLUMNS, clause)
        for batch in table.to_batches(max_chunksize=BATCH):
            yield from map(tables.document_from_row, batch.to_pylist())
