"""The space an index takes, and what happens when it runs out."""

from collections import namedtuple
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.build import stages
from kbx_tui.index.build.stages import CHUNK_TEXT_COLUMNS, read_chunk_texts
from kbx_tui.index.tables import text_hash
from kbx_tui.removal import INDEX_TABLES
from tests.functional.vaults import store_of, write_vault
from tests.trusting import copy_base

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def base(indexed_vault: Path, tmp_path: Path) -> Path:
    return copy_base(indexed_vault, tmp_path / "base")


def data_files(base: Path, table: str) -> int:
    return len(list((base / ".kbx" / "index" / f"{table}.lance" / "data").iterdir()))


def edit(base: Path, number: int) -> None:
    write_vault(base, {"memory/notes/new.md": f"# New\n\nEdition {number} of the soup.\n"})


def test_new_rows_are_added_until_there_are_too_many_files(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "MAX_FRAGMENTS", 2)
    counts = []
    for number in range(3):
        write_vault(base, {f"memory/notes/new{number}.md": f"# New\n\nSoup number {number}.\n"})
        KnowledgeBase(base).index()
        counts.append(data_files(base, "vectors"))
    assert counts == [2, 1, 2]


def test_no_table_keeps_former_rows(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "FEW_BYTES", 0)
    for number in range(4):
        edit(base, number)
        KnowledgeBase(base).index()
        files = {table: data_files(base, table) for table in INDEX_TABLES}
        assert max(files.values()) <= 2, files  # meta is written last


def test_an_open_index_keeps_nothing_of_former_versions_in_memory(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions, connect = [], lancedb.connect

    def noted(uri: str, **options: Any) -> Any:
        sessions.append(options.setdefault("session", lancedb.Session()))
        return connect(uri, **options)

    monkeypatch.setattr(lancedb, "connect", noted)
    kb = KnowledgeBase(base)
    for number in range(2):
        edit(base, number)
        kb.index()
    assert sessions
    assert [session.approx_num_items for session in sessions] == [0] * len(sessions)


def test_files_of_a_killed_run_are_deleted_when_they_take_much(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan = base / ".kbx" / "index" / "vectors.lance" / "data" / f"{'01' * 20}.lance"
    orphan.write_bytes(bytes(1000))
    KnowledgeBase(base).index()
    assert orphan.exists()
    monkeypatch.setattr(stages, "FEW_BYTES", 900)
    monkeypatch.setattr(stages, "MAX_UNUSED", 0.0)
    KnowledgeBase(base).index()
    assert not orphan.exists()


def test_a_reader_of_files_that_are_deleted_meanwhile_reads_again(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = store_of(base), store_of(base)
    stale = lancedb.connect(writer.uri).open_table("documents")  # stays at its version
    for number in range(2):
        edit(base, number)
        KnowledgeBase(base).index()
    writer.optimize("documents")
    with pytest.raises(RuntimeError, match=r"[Nn]ot found"):
        stale.search().select(["path"]).to_arrow()
    opened = [stale, stale, reader.table("documents")]
    monkeypatch.setattr(reader, "table", lambda _: opened.pop(0))
    expected = sorted(writer.column("documents", "path"))
    assert sorted(reader.column("documents", "path")) == expected


def test_chunks_are_positions_in_the_bodies(base: Path) -> None:
    store = store_of(base)
    bodies = store.mapping("documents", "version", "body")
    chunks = store.rows("chunks", CHUNK_TEXT_COLUMNS).to_pylist()
    joined: dict[str, str] = dict.fromkeys(bodies, "")
    chunks.sort(key=lambda chunk: (chunk["version"], chunk["ordinal"]))
    for chunk, text in zip(chunks, read_chunk_texts(store, chunks), strict=True):
        assert text is not None
        assert chunk["text_hash"] == text_hash(text)
        joined[chunk["version"]] += bodies[chunk["version"]][chunk["start"] : chunk["end"]]
    assert joined == bodies
    assert read_chunk_texts(store, [{**chunks[0], "version": "of another time"}]) == [None]


def test_a_stored_vector_has_the_cosines_of_the_computed_one(base: Path) -> None:
    store, embedder = store_of(base), open_embedder()
    chunks = store.rows("chunks", CHUNK_TEXT_COLUMNS).to_pylist()
    texts = [text for text in read_chunk_texts(store, chunks) if text is not None]
    stored = store.mapping("vectors", "text_hash", "vector")
    vectors = np.array([stored[chunk["text_hash"]] for chunk in chunks], np.float32)
    cosines = vectors @ vectors.T, embedder.embed(texts) @ embedder.embed(texts).T
    np.testing.assert_allclose(*cosines, atol=1e-4)


def test_a_run_short_of_space_deletes_first_what_is_not_needed(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(base, 1)
    KnowledgeBase(base).index()
    assert data_files(base, "documents") > 1
    monkeypatch.setattr(stages, "disk_usage", lambda folder: Usage(100, 100, 0))
    KnowledgeBase(base).index()
    assert data_files(base, "documents") == 1
