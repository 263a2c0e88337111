"""Bases left by earlier states of this program: their index is made again, nothing else is lost.

`older/` has one by each of two commits (`older/README.md` says how they were made), with edits, an
undone one, a write that was cut off, judgments, labels, a saved query and drafts.
"""

import tarfile
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.errors import IndexForeign
from kbx_tui.index.store import Store
from tests.command_line import CommandLine

OLDER = Path(__file__).with_name("older")
PAGE = "memory/people/alice-chen.md"


@pytest.fixture(params=["0f21c87", "1f90a40c"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a base as that commit left it."""
    with tarfile.open(OLDER / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path / "base", filter="data")
    return tmp_path / "base"


@pytest.mark.slow
def test_an_older_index_is_put_aside_and_made_again(kbx: CommandLine, older: Path) -> None:
    shown = kbx("status", "--kb", older)
    assert "was not made here, or by a version before 0.1.0; `kbx index` puts it" in shown.out
    found = kbx("search", "rollback", "--kb", older)
    assert "or by a version before 0.1.0: now its text is indexed first" in found.err
    assert "Rollback plan" in found.out
    assert kbx("index", "--yes", "--kb", older).code == 0
    with KnowledgeBase(older) as kb:
        assert kb.check(read_data=True).sound
        assert kb.status().vector_share == 1.0


@pytest.mark.slow
def test_what_the_user_did_in_an_older_version_is_still_there(older: Path) -> None:
    is_newer = (older / ".kbx" / "kept-pairs.jsonl").exists()
    cut_off = (older / PAGE).read_bytes()
    said: list[str] = []
    with KnowledgeBase(older, notice=said.append) as kb:
        kb.index()
        assert f"finished an interrupted write of {PAGE}" in said
        whole = (older / PAGE).read_text(encoding="utf-8")
        assert "- [2026-03-24] Rows on Sundays" in whole
        assert [draft.text for draft in kb.drafts.stored()] == [
            "Likes early meetings",
            "Prefers email over Slack",
        ]
        assert kb.drafts.count_kept() == is_newer
        assert len(kb.drafts.labelled()) == 1
        assert kb.judgments.grades("rollback plan") == {
            "memory/notes/rollback.md": 3,
            "memory/notes/soup.md": 0,
        }
        assert [saved.name for saved in kb.queries.saved()] == ["weekly"]
        kb.undo()
        assert (older / PAGE).read_bytes() == cut_off
        while open_writes := [entry for entry in kb.undoable() if not entry.undone]:
            kb.undo(open_writes[0].number)
    assert "Catalan" not in (older / PAGE).read_text(encoding="utf-8")
    assert not list((older / ".kbx").rglob("*.unreadable"))


def test_an_index_of_a_newer_version_is_refused_in_one_sentence(
    kbx: CommandLine, demo_copy: Path
) -> None:
    store = Store(str(demo_copy / ".kbx" / "index"))
    store.write_meta({**store.meta(), "schema_version": 99})
    found = kbx("search", "rollback", "--kb", demo_copy)
    assert (found.code, found.out) == (IndexForeign.exit_code, "")
    assert found.err.count("\n") == 1
    assert "has schema version 99, this program needs" in found.err
