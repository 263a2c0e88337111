"""Every state file, damaged in every way: the program says so once, goes on, and keeps the file."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, WriteFault
from kbx_tui.drafting.drafts import new_draft, write_drafts
from kbx_tui.editing.file_edits import FileEdit, write_files
from kbx_tui.editing.journal import FOLDER, PENDING
from kbx_tui.evaluation.blind_preferences import ShownList
from kbx_tui.search.query_history import PastQuery
from kbx_tui.tui.app_state import AppState, user_file
from tests.command_line import CommandLine
from tests.damage import DAMAGES, time_limit
from tests.functional.vaults import index_vault
from tests.trusting import copy_base

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and devices")

ALICE = "memory/people/alice-chen.md"
RECORD = FOLDER / "000001.json"
STATE_FILES = (
    ".kbx/drafts.jsonl",
    ".kbx/labels.jsonl",
    ".kbx/judgments.jsonl",
    ".kbx/preferences.jsonl",
    ".kbx/usage.jsonl",
    ".kbx/queries.jsonl",
    ".kbx/snapshots.jsonl",
    ".kbx/app.json",
    ".kbx/writer.json",
    ".kbx/entity-suppressions.json",
    ".kbx/journal/begun.json",
    ".kbx/journal/000001.json",
    ".kbx/index/BUILD",
    "state.json",
)
OURS = (".kbx/index/BUILD", ".kbx/writer.json")
"""They hold nothing of the user's."""


@pytest.fixture(scope="module")
def whole_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small base with every state file."""
    base = index_vault(tmp_path_factory.mktemp("whole"), fast=True)
    page = base / ALICE
    edit = FileEdit(ALICE, page.read_bytes(), page.read_bytes() + b"- one\n")
    write_files(base, [edit], "first")
    folder = base / ".kbx"
    shutil.copy(base / RECORD, base / PENDING)
    write_drafts(base, [new_draft("likes tea"), new_draft("plays chess")])
    lines = {
        "labels.jsonl": {"left": "a", "right": "b", "same": True},
        "judgments.jsonl": {"query": "rollback", "path": ALICE, "grade": 1},
        "preferences.jsonl": {
            "query": "rollback",
            "first": {"paths": [ALICE]},
            "second": {"paths": []},
            "better": "first",
        },
        "usage.jsonl": {"path": ALICE, "at": 1.0},
        "snapshots.jsonl": {"when": "2026-03-17T09:41:05Z", "knobs": {"alpha": 0.3}},
        "queries.jsonl": {"query": "rollback", "at": 1.0},
        "app.json": {"hidden": ["why"]},
        "writer.json": {"pid": 1, "host": "here", "since": 1.0},
        "entity-suppressions.json": {ALICE: ["Bob"]},
    }
    for name, line in lines.items():
        (folder / name).write_text(json.dumps(line) + "\n", encoding="utf-8")
    return base


@pytest.fixture
def base(whole_base: Path, tmp_path: Path) -> Path:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(json.dumps({"theme": "nord"}), encoding="utf-8")
    return copy_base(whole_base, tmp_path / "base")


@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damage_of_all_state_files_stops_the_engine_or_loses_one(
    base: Path, damage: str
) -> None:
    page = (base / ALICE).read_bytes()
    files = [user_file() if name == "state.json" else base / name for name in STATE_FILES]
    for file in files:
        DAMAGES[damage](file)
    before = {file: _state_of(file) for file in files}
    said: list[str] = []
    with time_limit(120), KnowledgeBase(base, notice=said.append) as kb:
        state = AppState()
        state.open_base(base)
        state.remember_query(PastQuery("rehearsal"))
        state.save_base()
        kb.index(fast=True)
        assert kb.search("rollback", fast=True).results
        kb.documents.opened(ALICE)
        assert kb.search("rehearsal", fast=True).results
        assert kb.status().indexed
        kb.drafts.save([*kb.drafts.stored(), new_draft("grows roses")])
        assert "grows roses" in [draft.text for draft in kb.drafts.stored()]
        kb.drafts.label("left", "right", same=True)
        kb.judgments.queries()
        kb.preferences.add("rehearsal", ShownList((ALICE,)), ShownList(()), "first")
        assert kb.preferences.read()[-1].query == "rehearsal"
        kb.tuner.take_snapshot(kb.tuning())
        assert kb.tuner.snapshots.read()[-1].tuning == kb.tuning()
        kb.judgments.add("rehearsal", ALICE, 2)
        assert kb.judgments.grades("rehearsal") == {ALICE: 2}
        assert kb.memory_add("Grows roses", entity="person:alice-chen", force=True).written
        assert b"Grows roses" in (base / ALICE).read_bytes()
        kb.undo()
        assert (base / ALICE).read_bytes() == page
        kb.undoable()
        with suppress(WriteFault):
            kb.undo(1)
    assert len(said) == len(set(said))
    for file in files:
        if file.parent / file.name not in [base / name for name in OURS]:
            found = [_state_of(other) for other in file.parent.iterdir()]
            assert before[file] in found or _is_appended(file, before[file]), file
    for elsewhere in {file.parent / "elsewhere" for file in files}:
        assert not elsewhere.exists() or elsewhere.read_bytes() == b"not ours"


@pytest.mark.parametrize("name", STATE_FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_reading_commands_print_at_most_one_line(
    kbx: CommandLine, base: Path, name: str, damage: str
) -> None:
    DAMAGES[damage](user_file() if name == "state.json" else base / name)
    with time_limit(60):
        for command in (("search", "rollback", "--fast"), ("undo", "--list")):
            ran = kbx(*command, "--kb", base)
            assert ran.code == 0, ran.err
            assert "internal error" not in ran.err
            lines = [line for line in ran.err.splitlines() if "changed since" not in line]
            assert len(lines) <= 1, ran.err


def _state_of(file: Path) -> object:
    """Return what identifies a file by its content, or anything else by its kind."""
    status = file.lstat()
    if file.is_symlink() or not file.is_file() or status.st_size > 10**9:
        return (status.st_mode, status.st_ino, status.st_size)
    return file.read_bytes()


def _is_appended(file: Path, before: object) -> bool:
    """Return whether each line is still in a file that other lines were added to."""
    if not isinstance(before, bytes) or file.suffix != ".jsonl":
        return False
    return set(filter(None, before.split(b"\n"))) <= set(file.read_bytes().split(b"\n"))
