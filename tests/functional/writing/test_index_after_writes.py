"""After writes, the index equals one built from scratch."""

from pathlib import Path
from typing import Any

from kbx_tui import KnowledgeBase
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.store import Store


def index_content(kb: KnowledgeBase) -> dict[str, list[str]]:
    store = Store(index_uri(kb.root, kb.settings))
    tables = {}
    for name in ("documents", "entities", "facts", "links", "name_uses"):
        columns = [column for column in store.table(name).schema.names if column != "version"]
        rows: list[dict[str, Any]] = store.rows(name, columns).to_pylist()
        tables[name] = sorted(str(row) for row in rows)
    tables["derived"] = [str(store.meta().get("derived_from"))]
    return tables


def test_index_after_writes_equals_a_full_rebuild(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.memory_add("Speaks Catalan", entity="Alice Chen")
        kb.memory_add("Knows the harbour", entity="Zoe Marsh", create=True)
        kb.pages.edit("Bob Okafor", {"team": "Harbour"})
        kb.pages.create("Blue Lagoon", "project", {"lead": "Alice Chen"})
        kb.undo()
        updated = index_content(kb)
        assert kb.status().stale == ()
        kb.index(full=True)
        assert index_content(kb) == updated


def test_write_reindexes_only_the_files_it_wrote(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        other = demo_copy / "memory/people/bob-okafor.md"
        other.write_text(other.read_text() + "\n\nSeen by the next run.\n", encoding="utf-8")
        kb.memory_add("Speaks Catalan", entity="Alice Chen")
        assert [path for path, _ in kb.status().stale] == ["memory/people/bob-okafor.md"]
        kb.index(fast=True)
        assert kb.status().stale == ()
