"""Mapped entities and links equal those of the tables, and no stale file is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.load_snapshot import read_snapshot
from kbx_tui.index.snapshot import LINKS, Snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.stored_entities import ENTITIES, FACTS
from kbx_tui.index.stored_names import NAMES
from tests.functional.vaults import store_of


def contents_of(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "entities": list(snapshot.entities),
        "links": {
            entity: (links.rows.tolist(), links.kinds.tolist(), links.counts.tolist())
            for entity, links in snapshot.links.items()
        },
        "pages": dict(snapshot.entity_pages.items()),
        "own pages": snapshot.entity_pages.own.tolist(),
        "uses of names": dict(snapshot.name_uses),
    }


def files_of(store: Store) -> list[Path]:
    return [Path(store.uri) / file.name for file in (ENTITIES, NAMES, FACTS, LINKS)]


def test_mapped_entities_and_links_equal_those_of_the_tables(demo_copy: Path) -> None:
    store = store_of(demo_copy)
    mapped = read_snapshot(store)
    assert not mapped.entities.stored.names.data.flags.owndata
    assert not mapped.names.full_hashes.flags.owndata
    expected = contents_of(mapped)
    written = [file.read_bytes() for file in files_of(store)]
    for file in files_of(store):
        file.unlink()
    from_tables = read_snapshot(store)
    assert contents_of(from_tables) == expected
    assert from_tables.entities == mapped.entities
    assert (mapped.facts is not None, from_tables.facts) == (True, None)
    refresh_text_files(store)
    assert [file.read_bytes() for file in files_of(store)] == written
    for row in {int(row) for links in mapped.links.values() for row in links.rows}:
        owners = {mapped.entities.ids[number] for number in mapped.links.entities_of(row)}
        assert owners == {owner for owner, links in mapped.links.items() if row in links.rows}


def test_files_of_a_former_state_are_not_read(demo_copy: Path) -> None:
    store = store_of(demo_copy)
    links, entities = store.rows("links", ["entity_id", "path", "kind", "count"]), "entities"
    first = links.sort_by("entity_id").slice(0, 1)
    store.replace("links", first)  # as a run leaves it that is killed before it writes the files
    assert list(read_snapshot(store).links) == first["entity_id"].to_pylist()
    rows = store.rows(entities, store.table(entities).schema.names)
    store.replace(entities, rows.slice(0, 2))
    assert sorted(read_snapshot(store).entities.ids) == sorted(rows["id"].to_pylist()[:2])
    refresh_text_files(store)
    assert len(read_snapshot(store).entities) == 2


def test_documents_are_compared_with_their_table_only_if_it_has_changed(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(demo_copy)

    def fail(_: Store) -> None:
        raise AssertionError("the versions of all documents were read")

    with monkeypatch.context() as patch:
        patch.setattr("kbx_tui.index.load_snapshot.stored_versions", fail)
        paths = list(read_snapshot(store).paths)
    store.delete("documents", "path", paths[:1])
    assert list(read_snapshot(store).paths) == paths[1:]


def test_a_run_writes_only_the_tables_and_files_that_change(demo_copy: Path) -> None:
    store, memory = store_of(demo_copy), demo_copy / "memory"
    note, person = memory / "notes" / "2026-01-30-rollback-plan.md", memory / "people"
    page = person / "alice-chen.md"

    def written_by(change: Path, text: str) -> tuple[set[str], set[str]]:
        versions, files = store.versions(), {file: file.stat() for file in files_of(store)}
        change.write_text(change.read_text("utf-8") + text, encoding="utf-8")
        with KnowledgeBase(demo_copy) as kb:
            kb.index(fast=True)
        tables = {name for name, number in store.versions().items() if number != versions[name]}
        replaced = {file.stem for file in files if file.stat().st_ino != files[file].st_ino}
        return tables & {"entities", "facts", "links", "name_uses"}, replaced

    assert written_by(note, "\nThe end.\n") == (set(), {"links"})
    assert written_by(note, "\nTold Bob Okafor.\n") == ({"links", "name_uses"}, {"links"})
    tables, files = written_by(page, "\n## Recent Facts\n\n- Alice keeps bees\n")
    assert {"entities", "facts"} <= tables
    assert files == {"entities", "names", "facts", "links"}
