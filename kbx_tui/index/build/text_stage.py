"""First half of a build: what changed on disk, documents, entities, facts and links.

Order makes it safe to die anywhere: documents first, each batch in one commit, what is derived
from all of them after, the note that says "derived from exactly these" last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbx_tui.config import Settings
from kbx_tui.index import rows, schema
from kbx_tui.index.build.progress import Cancelled, Meter
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.store import Store, translated
from kbx_tui.knowledge.entities.entity_pages import build_entities
from kbx_tui.knowledge.entities.linking import Linker, load_suppressions
from kbx_tui.knowledge.facts.fact_sections import read_facts
from kbx_tui.knowledge.parsing.kinds import CORE_ENTITY_TYPES
from kbx_tui.knowledge.parsing.reading import content_hash, parse_document
from kbx_tui.knowledge.records import Document, Entity, Fact, Link, Problem
from kbx_tui.knowledge.vault import VaultFile, Walk, locate, walk

BATCH = 1000
"""Documents per commit."""

ENTITY_SOURCES = ("context",)
"""Kinds that name entities without being their page (teams in company.md)."""


_TEAM_KEY = '"team"'
"""In the JSON of a frontmatter: a `team:` anywhere names a team."""


@dataclass(slots=True)
class Changes:
    """How the files differ from the index. Paths are root-relative."""

    hashes: dict[str, str]
    """Every file on disk that can be read, with its content hash."""
    known: dict[str, str]
    """Every document in the index before this run, with its content hash."""
    files: dict[str, Path]
    """Where each of them is: a name may be spelled otherwise on disk than in its path."""
    added: list[str]
    changed: list[str]
    deleted: list[str]
    moved: int
    """Deleted paths whose content stands at an added one."""
    problems: list[Problem]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)


def entity_types(settings: Settings) -> frozenset[str]:
    """Return the kinds whose pages are entities."""
    return CORE_ENTITY_TYPES | frozenset(settings.entities.types)


def find_changes(
    root: Path, store: Store, settings: Settings, only: Collection[str] | None = None
) -> Changes:
    """Compare the files with the index by content, or `only` these; writes nothing."""
    known: dict[str, str] = {}
    if store.exists():
        table = store.rows("documents", ["path", "content_hash"])
        known = dict(zip(table["path"].to_pylist(), table["content_hash"].to_pylist(), strict=True))
    walked = walk(root, settings.index.exclude) if only is None else _located(root, only)
    problems, hashes = list(walked.problems), dict(known) if only is not None else {}
    for path in only or ():
        hashes.pop(path, None)
    files = {file.path: file.absolute for file in walked.files}
    for file in walked.files:
        try:
            hashes[file.path] = content_hash(file.absolute.read_bytes())
        except OSError as error:
            problems.append(Problem(file.path, f"cannot be read: {error.strerror}", skipped=True))
    added = [path for path in hashes if path not in known]
    deleted = [path for path in known if path not in hashes]
    arrived = Counter(hashes[path] for path in added)
    gone = Counter(known[path] for path in deleted)
    return Changes(
        hashes=hashes,
        known=known,
        files=files,
        added=added,
        changed=[p for p, found in hashes.items() if p in known and known[p] != found],
        deleted=deleted,
        moved=(arrived & gone).total(),
        problems=problems,
    )


def _located(root: Path, paths: Collection[str]) -> Walk:
    """Return the files at these paths, as far as they are there."""
    found = []
    for path in sorted(paths):
        with suppress(OSError, ValueError):
            found.append(VaultFile(path, locate(root, path)))
    return Walk(tuple(found), ())


def write_documents(
    store: Store,
    changes: Changes,
    types: frozenset[str],
    meter: Meter,
    cancelled: Cancelled,
) -> bool:
    """Parse what is new or changed and commit it in batches; False when cancelled."""
    todo = changes.added + changes.changed
    meter.begin("reading", len(todo))
    table, new = store.table("documents"), set(changes.added)
    for start in range(0, len(todo), BATCH):
        if cancelled():
            return False
        parsed = []
        for count, path in enumerate(todo[start : start + BATCH], start + 1):
            document = _read(path, types, changes)
            if document is not None:
                parsed.append(rows.document_row(document))
                changes.hashes[path] = document.content_hash
            if count % 50 == 0:
                meter.report(count)
        with translated("write documents", store.uri):
            _upsert(table, parsed, new)
    for start in range(0, len(changes.deleted), BATCH):
        gone = ", ".join(quoted(path) for path in changes.deleted[start : start + BATCH])
        with translated("delete documents", store.uri):
            table.delete(f"path IN ({gone})")
    return True


def write_entities_and_links(
    root: Path, store: Store, settings: Settings, changes: Changes, meter: Meter, *, whole: bool
) -> None:
    """Derive entities, facts and links from the documents in the index.

    With `whole` every document is linked anew; else only changed ones, if no entity changed.
    """
    entities, pages = _derive_entities(store, entity_types(settings))
    old = {} if whole else {entity.id: entity for entity in stored_entities(store)}
    by_entity = _derive_facts(store, entities, pages, old, changes)
    facts = [fact for entity in entities for fact in by_entity[entity.id]]
    links = _derive_links(root, store, entities, old, changes, meter)
    store.replace(
        "entities", [rows.entity_row(e, by_entity[e.id]) for e in entities], schema.ENTITIES
    )
    store.replace("facts", [rows.fact_row(fact) for fact in facts], schema.FACTS)
    store.replace("links", links, schema.LINKS)


def stored_entities(store: Store) -> list[Entity]:
    """Return the entities in the index, by id."""
    columns = [name for name in schema.ENTITIES.names if name not in ("profile", "text_hash")]
    found = store.rows("entities", columns).to_pylist()
    return sorted((rows.entity_from_row(row) for row in found), key=lambda entity: entity.id)


def _read(path: str, types: frozenset[str], changes: Changes) -> Document | None:
    try:
        data = changes.files[path].read_bytes()
    except OSError as error:  # gone or locked since it was listed
        changes.problems.append(Problem(path, f"cannot be read: {error.strerror}", skipped=True))
        changes.hashes.pop(path, None)
        return None
    return parse_document(path, data, entity_types=types)


def _upsert(table: Any, parsed: list[dict[str, Any]], new: set[str]) -> None:
    import pyarrow as pa

    fresh = [row for row in parsed if row["path"] in new]
    if fresh:
        table.add(pa.Table.from_pylist(fresh, schema=schema.DOCUMENTS))
    rest = [row for row in parsed if row["path"] not in new]
    if rest:
        table.merge_insert("path").when_matched_update_all().when_not_matched_insert_all().execute(
            pa.Table.from_pylist(rest, schema=schema.DOCUMENTS)
        )


def _derive_entities(
    store: Store, types: frozenset[str]
) -> tuple[tuple[Entity, ...], dict[str, Document]]:
    """Return the entities, and the documents they are made from by path."""
    kinds = ", ".join(quoted(kind) for kind in sorted({*types, *ENTITY_SOURCES}))
    where = f"kind IN ({kinds}) OR contains(frontmatter, {quoted(_TEAM_KEY)})"
    found = store.rows("documents", rows.DOCUMENT_COLUMNS, where).to_pylist()
    pages = sorted((rows.document_from_row(row) for row in found), key=lambda page: page.path)
    return build_entities(pages, types), {page.path: page for page in pages}


def _derive_facts(
    store: Store,
    entities: Sequence[Entity],
    pages: Mapping[str, Document],
    old: Mapping[str, Entity],
    changes: Changes,
) -> dict[str, list[Fact]]:
    """Return the facts of each entity in file order; pages that did not change are not read again.

    That is most of the work in a large base, and a person who just wrote a fact waits for it.
    """
    touched = {*changes.added, *changes.changed, *changes.deleted}
    stored: dict[str, list[Fact]] = defaultdict(list)
    for row in store.rows("facts", rows.FACT_COLUMNS).to_pylist() if old else ():
        stored[row["entity_id"]].append(rows.fact_from_row(row))
    by_entity: dict[str, list[Fact]] = {}
    for entity in entities:
        known = old.get(entity.id)
        if known is not None and known.path == entity.path and entity.path not in touched:
            by_entity[entity.id] = sorted(stored[entity.id], key=lambda fact: fact.line)
        else:
            page = pages.get(entity.path)
            by_entity[entity.id] = list(read_facts(page, entity.id)) if page else []
    return by_entity


def _derive_links(
    root: Path,
    store: Store,
    entities: Sequence[Entity],
    old: dict[str, Entity],
    changes: Changes,
    meter: Meter,
) -> list[dict[str, Any]]:
    """Link every document, or only the changed ones when no entity changed."""
    linker = Linker(entities, suppressions=load_suppressions(root))
    kept: list[dict[str, Any]] = []
    where: list[str | None] = [None]
    if old and old == {entity.id: entity for entity in entities}:
        touched = {*changes.added, *changes.changed}
        gone = touched.union(changes.deleted)
        kept = [row for row in store.rows("links", schema.LINKS.names).to_pylist()
                if row["path"] not in gone]  # fmt: skip
        where = list(_in_batches("path", sorted(touched)))
        total = len(touched)
    else:
        total = len(changes.hashes)
    meter.begin("entities", total)
    done = 0
    for clause in where:
        for document in _documents(store, clause):
            kept += [_link_row(link) for link in linker.links(document)]
            done += 1
            if done % 100 == 0:
                meter.report(done)
    kept.sort(key=lambda row: (row["path"], row["entity_id"], row["kind"]))
    return kept


def _documents(store: Store, where: str | None) -> Iterable[Document]:
    table = store.rows("documents", rows.DOCUMENT_COLUMNS, where)
    for batch in table.to_batches(max_chunksize=BATCH):
        for row in batch.to_pylist():
            yield rows.document_from_row(row)


def _in_batches(column: str, values: Sequence[str]) -> Iterable[str]:
    for start in range(0, len(values), BATCH):
        listed = ", ".join(quoted(value) for value in values[start : start + BATCH])
        yield f"{column} IN ({listed})"


def _link_row(link: Link) -> dict[str, Any]:
    return {
        "entity_id": link.entity_id,
        "path": link.path,
        "kind": link.kind,
        "count": link.count,
    }
