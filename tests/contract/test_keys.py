"""`kbx keys` and the page of keys say what the registry says."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command_line import CHECKOUT, CommandLine, run_program


def test_the_page_of_keys_is_what_the_command_prints(kbx: CommandLine, tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "keys.md").read_text(encoding="utf-8")
    (tmp_path / "a.md").write_text("# A\n")
    shown = kbx("keys", "--markdown", "--kb", str(tmp_path))
    assert page.endswith(shown.out)


def test_keys_changed_in_kbx_toml_are_listed(kbx: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "kbx.toml").write_text('[keys]\nedit = "ctrl+e"\nalpha.less = "ctrl+left"\n')
    shown = kbx("keys", "--json", "--kb", str(tmp_path))
    keys = {row["id"]: row["keys"] for row in json.loads(shown.out)}
    assert keys["edit"] == "ctrl+e"
    assert keys["alpha.less"] == "ctrl+←"
    assert keys["undo"] == "z"


def test_a_clash_of_keys_is_one_sentence_with_both_names(kbx: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "kbx.toml").write_text('[keys]\nedit = "z"\n')
    shown = kbx("keys", "--kb", str(tmp_path))
    assert shown.code != 0
    assert "edit" in shown.err
    assert "undo" in shown.err
    assert shown.err.count("\n") == 1


def test_keys_are_listed_without_a_knowledge_base(tmp_path: Path) -> None:
    shown = run_program("keys", cwd=tmp_path)
    assert shown.code == 0
    assert "type a query" in shown.out
