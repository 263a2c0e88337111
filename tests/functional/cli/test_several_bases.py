"""Several knowledge bases searched together from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.functional.vaults import write_vault


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """Return `--kb` options for two bases, of folders with the same name."""
    home = {"notes/rollback.md": "# Rollback plan\n\nHow we roll back.\n", "people/bo.md": "# Bo\n"}
    work = {"notes/a.md": "# Deployment\n\nA rollback takes an hour.\n", "notes/b.md": "# Tea\n"}
    roots = [
        write_vault(tmp_path / "home" / "notes", home),
        write_vault(tmp_path / "work" / "notes", work),
    ]
    return [option for root in roots for option in ("--kb", str(root))]


def test_results_of_several_bases_are_merged_and_say_whose_they_are(
    kbx: CommandLine, two: list[str]
) -> None:
    answer = kbx("search", "rollback plan", "--fast", "--json", *two).json
    first, second = answer["results"]
    assert (first["base"], first["path"]) == (two[1], "notes/rollback.md")
    assert (second["base"], second["path"]) == (two[3], "notes/a.md")
    assert first["explain"] is None
    assert set(answer["bases"]) == {two[1], two[3]}
    listing = kbx("search", "rollback", "--fast", "--explain", *two).out
    assert f"{two[3]}  notes/a.md" in listing
    assert "meaning (not used)" in " ".join(listing.split())
    assert (
        len(kbx("search", "rollback", "--fast", "--json", "--limit", "1", *two).json["results"])
        == 1
    )
    assert not list(Path(two[3]).rglob("*rollback*"))


def test_a_base_without_a_pinned_entity_is_left_out_with_a_note(
    kbx: CommandLine, two: list[str]
) -> None:
    shown = kbx("search", "rollback", "--pin", "person:bo", "--fast", "--json", *two)
    assert {result["base"] for result in shown.json["results"]} == {two[1]}
    assert two[3] in shown.json["notes"][0]
    refused = kbx("search", "rollback", "--pin", "person:nobody", "--fast", *two)
    assert refused.code == 4


@pytest.mark.parametrize("command", [["status"], ["mcp"], ["jsonl"]])
def test_other_commands_refuse_several_bases(
    kbx: CommandLine, two: list[str], command: list[str]
) -> None:
    refused = kbx(*two, *command)
    assert refused.code == 2
    assert "only the app and `kbx search` take several knowledge bases" in refused.err
    assert refused.err.count("\n") == 1


def test_the_app_takes_several_bases_and_names_one_that_is_none(
    kbx: CommandLine, two: list[str], tmp_path: Path
) -> None:
    assert "the app needs a terminal" in kbx(*two).err
    refused = kbx(*two, "--kb", str(tmp_path / "gone"))
    assert refused.code == 4
    assert "gone" in refused.err


def test_the_same_base_given_twice_is_one(kbx: CommandLine, two: list[str]) -> None:
    assert kbx("status", "--kb", two[1], "--kb", two[1]).code == 0


def test_known_bases_are_listed(
    kbx: CommandLine, two: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from kbx_tui.tui.app_state import AppState

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert "opened no knowledge base" in kbx("bases").out
    state = AppState()
    for root in (Path(two[1]), tmp_path / "gone"):
        state.open_base(root)
    listed = kbx("bases", "--json").json
    assert [base["name"] for base in listed] == ["gone", "notes"]
    assert [base["exists"] for base in listed] == [False, True]
    assert "(not there)" in kbx("bases").out
