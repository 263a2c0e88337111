"""Documents that the user has muted."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.api import KnowledgeBase
from tests.command_line import CommandLine

NOTE = "1 muted document left out: [search] muted_documents in kbx.toml"


def test_muted_document_is_left_out_which_is_said_until_undone(demo_copy: Path) -> None:
    (demo_copy / "kbx.toml").write_text("# mine\n[search]\n", encoding="utf-8")
    with KnowledgeBase(demo_copy) as kb:
        before = kb.search("rollback plan")
        muted = before.results[0].path
        written = kb.tuner.mute_documents([muted])
        after = kb.search("rollback plan")
        assert muted not in [result.path for result in after.results]
        assert NOTE in after.meta.notes
        assert after.meta.in_scope == before.meta.in_scope - 1
        assert NOTE not in kb.search("rollback plan", path="memory/people").meta.notes
        assert kb.tuner.first_results(["rollback plan"])[0][0] == muted
        assert kb.tuner.mute_documents([muted]).written is False
        assert "# mine" in (demo_copy / "kbx.toml").read_text(encoding="utf-8")
        assert written.entry is not None
        kb.undo(written.entry)
        assert kb.search("rollback plan").results[0].path == muted


def test_command_line_reads_the_muted_documents_of_kbx_toml(
    kbx: CommandLine, demo_copy: Path
) -> None:
    first = kbx("search", "rollback plan", "--fast", "--json", "--kb", demo_copy).json
    path = first["results"][0]["path"]
    (demo_copy / "kbx.toml").write_text(
        f'[search]\nmuted_documents = ["{path}"]\n', encoding="utf-8"
    )
    second = kbx("search", "rollback plan", "--fast", "--json", "--kb", demo_copy).json
    assert path not in [result["path"] for result in second["results"]]
    assert NOTE in second["meta"]["notes"]
    assert (
        NOTE
        in kbx("search", "rollback plan", "--fast", "--kb", demo_copy).err
        + kbx("search", "rollback plan", "--fast", "--kb", demo_copy).out
    )
