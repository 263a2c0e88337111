"""The vectors beside the index are those of the tables, whatever changed since they were kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.embedding.source import BUNDLED
from kbx_tui.index.lexical import text_cache
from kbx_tui.index.snapshot import Snapshot, read_snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors import vector_file, vector_tables
from kbx_tui.index.vectors.vector_file import open_vectors, write_vector_file
from kbx_tui.index.vectors.vector_matrix import Vectors

MODEL, DIMENSION = BUNDLED.name, 384
PAGE = "# Zebra\n\nA zebra crossed the harbour.\n\n## Later\n\nIt came back.\n"


def store_of(base: Path) -> Store:
    return Store(str(base / ".kbx" / "index"))


def file_of(base: Path) -> Path:
    return base / ".kbx" / "index" / text_cache.VECTORS


def both(base: Path) -> tuple[Vectors, Vectors]:
    """Return the vectors with the help of the file, and those of the tables."""
    store = store_of(base)
    snapshot = read_snapshot(store)
    return (
        open_vectors(store, snapshot, model=MODEL, dimension=DIMENSION),
        vector_tables.read_vectors(store, snapshot, DIMENSION),
    )


def assert_same(found: Vectors, expected: Vectors) -> None:
    for one, other in ((found, expected), (found.quantized, expected.quantized)):
        for field in fields(one):
            if field.name != "quantized":
                np.testing.assert_array_equal(
                    getattr(one, field.name), getattr(other, field.name), err_msg=field.name
                )


@pytest.fixture
def never_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody read all vectors from the tables."""

    def refuse(*_: object) -> Vectors:
        raise AssertionError("all vectors were read from the tables")

    monkeypatch.setattr(vector_file, "read_vectors", refuse)


@pytest.mark.usefixtures("never_all")
def test_an_index_that_is_opened_maps_the_file_and_copies_nothing(demo_copy: Path) -> None:
    found, tables = both(demo_copy)
    assert_same(found, tables)
    assert not found.chunks.flags.owndata
    assert not found.chunks.flags.writeable


def add(base: Path) -> None:
    (base / "memory" / "notes" / "zebra.md").write_text(PAGE, encoding="utf-8")


def change(base: Path) -> None:
    page = next(iter(sorted((base / "memory" / "meetings").rglob("*.md"))))
    page.write_text(page.read_text("utf-8") + "\n## More\n\nA zebra.\n", encoding="utf-8")


def change_a_person(base: Path) -> None:
    page = next(iter(sorted((base / "memory" / "people").glob("*.md"))))
    page.write_text(page.read_text("utf-8") + "\n## Facts\n\n- Keeps a zebra\n", encoding="utf-8")


def delete(base: Path) -> None:
    next(iter(sorted((base / "memory" / "notes").rglob("*.md")))).unlink()


def delete_a_person(base: Path) -> None:
    sorted((base / "memory" / "people").glob("*.md"))[1].unlink()


def empty(base: Path) -> None:
    (base / "memory" / "notes" / "empty.md").write_text("", encoding="utf-8")


def add_change_and_delete(base: Path) -> None:
    for change_one in (add, change, delete, empty):
        change_one(base)


@pytest.mark.parametrize(
    "edit",
    [add, change, change_a_person, delete, delete_a_person, empty, add_change_and_delete],
    ids=lambda edit: edit.__name__,
)
@pytest.mark.usefixtures("never_all")
def test_what_changed_since_is_merged(
    demo_copy: Path, edit: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_cache, "STALE_SHARE", 0.9)
    before = file_of(demo_copy).read_bytes()
    edit(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    assert file_of(demo_copy).read_bytes() == before
    assert_same(*both(demo_copy))


@pytest.mark.usefixtures("never_all")
def test_text_without_vectors_yet_counts_in_the_share(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_cache, "STALE_SHARE", 0.9)
    add(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
        assert_same(*both(demo_copy))
        kb.index()
    with_all, _ = both(demo_copy)
    store = store_of(demo_copy)
    store.table("vectors").delete("true")
    found, tables = both(demo_copy)
    assert 0.0 < found.share < with_all.share == 1.0
    assert tables.share == 0.0


def test_many_changes_write_the_file_anew(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file_of(demo_copy).read_bytes()
    add(demo_copy)
    monkeypatch.setattr(text_cache, "STALE_SHARE", 0.0)
    assert_same(*both(demo_copy))
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    assert file_of(demo_copy).read_bytes() != before
    assert_same(*both(demo_copy))


@pytest.mark.parametrize("damage", ["missing", "cut", "of another model", "of an older version"])
def test_without_its_file_an_index_is_read_from_the_tables(demo_copy: Path, damage: str) -> None:
    file, (_, expected) = file_of(demo_copy), both(demo_copy)
    if damage == "missing":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-4096])
    else:
        this, other = (b"MiniLM", b"MaxiLM") if "model" in damage else (b"vectors 2", b"vectors 1")
        header, _, rest = file.read_bytes().partition(b"\n")
        assert this in header
        file.write_bytes(header.replace(this, other) + b"\n" + rest)
    found, tables = both(demo_copy)
    assert_same(found, tables)
    assert_same(found, expected)
    assert found.chunks.flags.owndata
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    assert not both(demo_copy)[0].chunks.flags.owndata


def test_vectors_that_are_not_all_there_are_not_kept(demo_copy: Path) -> None:
    file_of(demo_copy).unlink()
    store = store_of(demo_copy)
    some = store.rows("vectors", ["text_hash"])["text_hash"].to_pylist()[:-20:2]
    store.table("vectors").delete(f"text_hash IN ({', '.join(repr(one) for one in some)})")
    write_vector_file(store, model=MODEL, dimension=DIMENSION)
    assert not file_of(demo_copy).exists()


def test_building_anew_forgets_the_file_first(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.index(full=True, cancelled=lambda: True)
    assert not file_of(demo_copy).exists()


def test_a_base_without_documents_has_vectors_of_none(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    with KnowledgeBase(tmp_path) as kb:
        kb.index()
    found, tables = both(tmp_path)
    assert_same(found, tables)
    assert len(found.chunks) == 0


def test_the_snapshot_of_an_older_generation_gets_its_own_vectors(demo_copy: Path) -> None:
    store = store_of(demo_copy)
    older: Snapshot = read_snapshot(store)
    expected = vector_tables.read_vectors(store, older, DIMENSION)
    delete(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    found = open_vectors(store, older, model=MODEL, dimension=DIMENSION)
    assert_same(found, expected)
