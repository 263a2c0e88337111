"""Documents loaded with the help of documents.bin equal those of the table, whatever changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.index.load_snapshot import documents_of, read_snapshot
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.stored_documents import DOCUMENTS
from kbx_tui.search.query.named_documents import KnownItems, TitleWords
from tests.functional.vaults import store_of

PAGE = "---\naliases: [Quagga]\ntags: [animal]\ndate: 2026-01-02\n---\n# Zebra crossing\n"
COLUMNS = ("paths", "ids", "titles", "dates", "kinds", "tags", "attendees", "aliases", "versions")


def file_of(base: Path) -> Path:
    return base / ".kbx" / "index" / DOCUMENTS.name


def columns_of(snapshot: Snapshot) -> dict[str, list[Any]]:
    return {name: list(getattr(snapshot, name)) for name in COLUMNS}


def links_of(snapshot: Snapshot) -> dict[str, list[Any]]:
    return {
        entity: [links.rows.tolist(), links.kinds.tolist(), links.counts.tolist()]
        for entity, links in snapshot.links.items()
    }


def both(base: Path) -> tuple[Snapshot, Snapshot]:
    """Return the snapshot read with the help of the file, and that read from the tables."""
    loaded = read_snapshot(store_of(base))
    moved = file_of(base).rename(base / "documents.bin")
    try:
        return loaded, read_snapshot(store_of(base))
    finally:
        moved.rename(file_of(base))


def edit(base: Path) -> None:
    memory = base / "memory"
    (memory / "notes" / "zebra.md").write_text(PAGE, encoding="utf-8")
    page, other = sorted((memory / "meetings").rglob("*.md"))[:2]
    page.write_text(page.read_text("utf-8") + "\nMore.\n", encoding="utf-8")
    other.unlink()
    person = sorted((memory / "people").glob("*.md"))[0]
    person.write_text(person.read_text("utf-8") + "\nAnd more.\n", encoding="utf-8")


def test_changed_documents_are_read_beside_the_mapped_file(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.index.derived_files.STALE_SHARE", 0.9)
    before = file_of(demo_copy).read_bytes()
    edit(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
    assert file_of(demo_copy).read_bytes() == before
    loaded, from_tables = both(demo_copy)
    assert [len(loaded.segments), len(from_tables.segments)] == [2, 1]
    assert columns_of(loaded) == columns_of(from_tables)
    assert list(loaded.paths) == sorted(loaded.paths)
    assert links_of(loaded) == links_of(from_tables)
    assert loaded.entities == from_tables.entities
    items = [KnownItems(each.segments, each.entity_pages) for each in (loaded, from_tables)]
    titles = [TitleWords(each.segments) for each in (loaded, from_tables)]
    for name in ("paths", "ids", "titles", "dates"):
        for text in getattr(loaded, name):
            assert items[0].find(text) == items[1].find(text)
    for word in ("zebra", "plan", "retro"):
        assert titles[0].holding([word])[0].tolist() == titles[1].holding([word])[0].tolist()
    for row, path in enumerate(loaded.paths):
        assert loaded.row_of[path] == row


def test_an_unchanged_index_is_mapped_and_a_damaged_file_is_written_again(demo_copy: Path) -> None:
    snapshot = read_snapshot(store_of(demo_copy))
    (segment,) = snapshot.segments
    assert not segment.documents.paths.data.flags.owndata
    assert not segment.documents.versions.flags.owndata
    data = file_of(demo_copy).read_bytes()
    file_of(demo_copy).write_bytes(data[:-70] + b"damaged" + data[-63:])
    with KnowledgeBase(demo_copy) as kb:
        answer = kb.search("rollback", fast=True)
        assert any(DOCUMENTS.name in note for note in answer.meta.notes)
    assert file_of(demo_copy).read_bytes() == data


@pytest.mark.parametrize("limit", ["BLOCK_ROWS", "BLOCK_BYTES"])
def test_documents_read_in_blocks_are_all_documents_by_path(
    demo_copy: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = demo_copy / "memory" / "notes" / "o'neil's 'plan'.md"
    page.write_text("# A plan\n\nAbout a zebra.\n", encoding="utf-8")
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
    store, columns = store_of(demo_copy), ["version", "title", "body"]
    at_once = list(documents_of(store, columns))
    assert any(row["path"].endswith(page.name) for row in at_once)
    monkeypatch.setattr(f"kbx_tui.index.load_snapshot.{limit}", 3)
    assert list(documents_of(store, columns)) == at_once
    some = np.array([row["version"] for row in at_once[1::9]], np.bytes_)
    for share in (0.0, 1.0):
        monkeypatch.setattr("kbx_tui.index.derived_files.STALE_SHARE", share)
        assert list(documents_of(store, columns, some)) == at_once[1::9]
    assert [row["path"] for row in at_once] == sorted(row["path"] for row in at_once)
