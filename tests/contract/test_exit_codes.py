"""The exit codes listed in docs/cli.md, on which scripts rely."""

from pathlib import Path

import pytest

from kbx_tui.index import index_status
from tests.command_line import CommandLine, Ran
from tests.trusting import configure_trusted


def assert_one_line(ran: Ran, code: int) -> None:
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("kbx: ")
    assert ran.err.count("\n") == 1


def test_exit_code_is_0_if_nothing_is_found_and_4_without_a_base(
    kbx: CommandLine, demo_kb_path: Path, tmp_path: Path
) -> None:
    assert kbx("search", '"zxqvj"', "--fast", "--kb", demo_kb_path).code == 0
    assert_one_line(kbx("status", "--kb", tmp_path), 4)


def test_exit_code_says_what_is_invalid_missing_or_not_trusted(
    kbx: CommandLine, fresh_demo: Path
) -> None:
    assert_one_line(kbx("search", "x", "--no-such", "--kb", fresh_demo), 2)
    assert_one_line(kbx("search", "x", "--limit", "none", "--kb", fresh_demo), 2)
    settings = fresh_demo / "kbx.toml"
    settings.write_text("[search]\nhierarchy_alpa = 0.7\n", encoding="utf-8")
    assert_one_line(kbx("search", "x", "--kb", fresh_demo), 2)
    settings.write_text('[embedding]\nmodel = "gemini"\n', encoding="utf-8")
    refused = kbx("search", "x", "--kb", fresh_demo)
    assert_one_line(refused, 8)
    assert f"kbx trust {fresh_demo}" in refused.err
    configure_trusted(fresh_demo, f"[embedding]\nmodel = '{fresh_demo / 'no-model'}'\n")
    without_model = kbx("index", "--kb", fresh_demo)
    assert_one_line(without_model, 6)
    assert "bundled" in without_model.err


def test_exit_code_is_5_for_an_index_that_cannot_be_made(
    kbx: CommandLine, fresh_demo: Path
) -> None:
    (fresh_demo / ".kbx").write_text("a file instead of a folder", encoding="utf-8")
    ran = kbx("index", "--fast", "--kb", fresh_demo)
    assert_one_line(ran, 5)
    assert str(fresh_demo / ".kbx") in ran.err


def test_exit_code_is_9_where_the_user_is_to_be_asked_first(
    kbx: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_status, "ASK_ABOVE", 0)
    (tmp_path / "a.md").write_text("# A\n", encoding="utf-8")
    assert_one_line(kbx("index", "--kb", tmp_path), 9)
