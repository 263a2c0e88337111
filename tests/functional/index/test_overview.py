"""The files that need attention, read without opening those that have not changed."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.api import KnowledgeBase
from kbx_tui.index.index_status import IndexOverview
from tests.functional.vaults import write_vault


def test_overview_agrees_with_the_status(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "kb")
    (root / "memory/notes/odd.md").write_text("---\ndate: [x\n---\n# Odd\n", encoding="utf-8")
    with KnowledgeBase(root) as kb:
        before = kb.overview()
        assert (before.documents, len(before.stale)) == ((), len(kb.status().stale))
        kb.index(fast=True)
        overview = kb.overview()
        assert overview.stale == ()
        assert {path for path, _ in overview.unembedded} == set(overview.documents)
        kb.index()
        (root / "memory/notes/odd.md").write_text("# Odd\n", encoding="utf-8")
        (root / "memory/notes/new.md").write_text("# New\n", encoding="utf-8")
        overview, status = kb.overview(), kb.status()
        assert overview.stale == status.stale
        assert overview.problems == status.problems
        assert overview.vector_share == status.vector_share
        assert [problem.path for problem in overview.problems] == ["memory/notes/odd.md"]
        assert tuple(kb.documents.paths()) == overview.documents
        assert kb.documents.in_scope("memory/people")
    assert isinstance(overview, IndexOverview)
