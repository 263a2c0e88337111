"""Grades given in a real terminal are on disk whatever happens to the app."""

import json
from pathlib import Path

import pytest

from tests.terminal.terminal import APP, Terminal, terminal
from tests.trusting import copy_base
from tests.waiting import wait_until

QUERY = "rollback plan"


@pytest.fixture
def base(demo_kb_path: Path, tmp_path: Path) -> Path:
    """Return a copy of the indexed demo without judgments."""
    copy = tmp_path / "demo"
    copy_base(demo_kb_path, copy)
    (copy / ".kbx" / "judgments.jsonl").unlink(missing_ok=True)
    return copy


def ask(app: Terminal, query: str = QUERY) -> None:
    app.wait_for("63 documents")
    app.type(query)
    app.wait_for("Rollback plan")
    app.press("down")


def graded(base: Path, count: int) -> list[tuple[str, int]]:
    """Return path and grade of every line on disk, once there are `count`."""
    file = base / ".kbx" / "judgments.jsonl"
    wait_until(lambda: file.exists() and file.read_text("utf-8").count("\n") >= count)
    entries = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [(entry["path"], entry["grade"]) for entry in entries]


def test_a_grade_outlives_kill_9_and_is_shown_again(base: Path) -> None:
    with terminal([*APP, "--kb", str(base)], size=(140, 40)) as app:
        ask(app)
        app.press("3", "1")
        kept = graded(base, 2)
        app.process.kill()
        app.process.wait()
    assert [grade for _, grade in kept] == [3, 1]
    assert graded(base, 2) == kept
    with terminal([*APP, "--kb", str(base)], size=(140, 40)) as app:
        ask(app)
        app.wait_for("2 of the first 10 judged")
        app.press("escape", "q")
        assert app.wait_for_exit() == 0


def test_two_apps_on_one_base_keep_all_grades(base: Path) -> None:
    command = [*APP, "--kb", str(base)]
    with terminal(command, size=(140, 40)) as one, terminal(command, size=(140, 40)) as other:
        for app in (one, other):
            ask(app)
        for grade in "3210":
            one.type(grade)
            other.type(grade)
        kept = graded(base, 8)
        for app in (one, other):
            app.press("escape", "q")
            assert app.wait_for_exit() == 0
    assert sorted(grade for _, grade in kept) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert graded(base, 8) == kept


def test_a_grade_that_cannot_be_saved_is_an_error_and_the_app_goes_on(base: Path) -> None:
    lock = base / ".kbx" / "judgments.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()  # not even root can lock a folder
    with terminal([*APP, "--kb", str(base)], size=(140, 40)) as app:
        ask(app)
        before = len(app.written)
        app.press("3")
        app.wait_for("judgments.lock", after=before)
        assert "of the first 10 judged" not in app.text
        assert "Traceback" not in app.text
        app.press("escape", "q")
        assert app.wait_for_exit() == 0
    assert not (base / ".kbx" / "judgments.jsonl").exists()
