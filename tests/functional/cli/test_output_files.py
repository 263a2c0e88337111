"""Every option and argument that names a file to write: nothing is overwritten by accident."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.contract.test_help import ALL

ALICE = "memory/people/alice-chen.md"
DOORS = {
    "search --html": ("search", "rollback", "--fast", "--html"),
    "judgments export": ("judgments", "export"),
    "judgments export --topics": ("judgments", "export", "judgments.qrels", "--topics"),
    "eval --save": ("eval", "--mode", "fast", "--save"),
    "eval --save, a TREC run": ("eval", "--mode", "fast", "--save"),
}


@pytest.fixture
def base(kbx: CommandLine, demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(demo_copy)
    assert kbx("judgments", "add", "rollback", ALICE, "3").code == 0
    return demo_copy


@pytest.mark.parametrize("door", DOORS)
def test_a_file_is_replaced_only_by_force_and_a_page_never(
    kbx: CommandLine, base: Path, door: str
) -> None:
    name = "results.run" if door.endswith("run") else "results.txt"
    words, mine = DOORS[door], b"all that I have\n"
    (base / name).write_bytes(mine)
    judgments = (base / ".kbx/judgments.jsonl").read_bytes()
    page = (base / ALICE).read_bytes()
    before = sorted(base.iterdir())

    refused = kbx(*words, name)
    assert (refused.code, refused.out) == (7, "")
    assert refused.err == f"kbx: {name} exists and was left as it is; --force replaces it\n"
    for kept in (ALICE, "memory/notes/new.md", ".kbx/judgments.jsonl", "kbx.toml", "a/b"):
        for force in ([], ["--force"]):
            ran = kbx(*words, kept, *force)
            assert (ran.code, ran.out, ran.err.count("\n")) == (7, "", 1)
            assert ran.err.startswith(f"kbx: {kept} was not written: ")
    assert (base / name).read_bytes() == mine
    assert (base / ".kbx/judgments.jsonl").read_bytes() == judgments
    assert (base / ALICE).read_bytes() == page
    assert not (base / "memory/notes/new.md").exists()
    assert sorted(base.iterdir()) == before

    assert kbx(*words, name, "--force").code == 0
    assert (base / name).read_bytes() not in (mine, b"")


def test_judgments_and_topics_need_two_files(kbx: CommandLine, base: Path) -> None:
    ran = kbx("judgments", "export", "one.qrels", "--topics", "./one.qrels")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert not (base / "one.qrels").exists()


def test_every_parameter_that_names_a_file_is_tried_above_or_only_read() -> None:
    """An exported folder must be new, and drafts to check are only read."""
    named = {
        f"{name} {parameter.name}"
        for name, command in ALL.items()
        for parameter in command.params
        if "FILE" in (parameter.metavar or "") or "FOLDER" in (parameter.metavar or "")
    }
    written = {"search html", "judgments export file", "judgments export topics", "eval save"}
    read = {"eval compare", "judgments import file", "judgments import topics", "import sources"}
    assert named == written | read | {"dedup file", "export folder"}
