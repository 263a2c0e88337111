"""The lines of chunks, which searches of agents report, are held in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.load_snapshot import read_snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.load_vectors import read_chunk_lines
from kbx_tui.tools.dispatch import call


def test_lines_are_those_of_the_table(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        store = Store(index_uri(kb.root, kb.settings))
        rows = store.rows("chunks", ["path", "ordinal", "line_start", "line_end"]).to_pylist()
        expected: dict[str, list[tuple[int, int]]] = {}
        for row in sorted(rows, key=lambda row: (row["path"], row["ordinal"])):
            expected.setdefault(row["path"], []).append((row["line_start"], row["line_end"]))
        assert len(rows) > len(expected) > 50
        assert kb.documents.chunk_lines([*expected, "memory/unknown.md"]) == expected


def test_a_changed_document_has_no_new_lines_in_an_older_snapshot(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        store = Store(index_uri(kb.root, kb.settings))
        before = read_snapshot(store)
        changed, other = before.paths[3], before.paths[4]
        own = kb.documents.chunk_lines([changed])[changed]
        file = demo_copy / changed
        file.write_text(file.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
        kb.index()
        lines = read_chunk_lines(Store(index_uri(kb.root, kb.settings)), before)
        assert lines.of(before.row_of[changed]) == own
        assert lines.of(before.row_of[other]) == kb.documents.chunk_lines([other])[other]
        assert kb.documents.chunk_lines([changed])[changed]


def test_an_empty_base_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "kbx.toml").touch()
    with KnowledgeBase(tmp_path) as kb:
        kb.index()
        assert kb.documents.chunk_lines(["memory/unknown.md"]) == {}


def test_a_further_search_of_an_agent_reads_no_table(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with KnowledgeBase(demo_copy) as kb:
        call(kb, "kb_search", {"query": "rollback plan"})
        reads: list[str] = []
        open_table = Store.table

        def note(store: Store, name: str) -> object:
            reads.append(name)
            return open_table(store, name)

        monkeypatch.setattr(Store, "table", note)
        answer = call(kb, "kb_search", {"query": "who signs off the migration"})
        assert answer["data"]["results"]
        assert reads == []
