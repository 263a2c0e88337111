"""Every way to end every surface, at a random moment: gone in time, and nothing left behind."""

import os
import random
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from benchmarks.endings.outcome import is_failed
from benchmarks.endings.terminal_tries import wait_for_state
from benchmarks.endings.tries import run_tries
from benchmarks.endings.ways import WAYS
from tests.conftest import copy_demo
from tests.terminal.terminal import APP, Terminal, terminal

SURFACES = sorted({way.surface for way in WAYS})
LIMIT = 3.0
"""Seconds from the signal until the process must be gone."""


@pytest.mark.parametrize("surface", SURFACES)
def test_program_ends_at_any_moment(surface: str, demo_copy: Path, tmp_path: Path) -> None:
    ways = [way for way in WAYS if way.surface == surface]
    fresh = copy_demo(tmp_path / "fresh")
    tries = run_tries(ways, len(ways), random.Random(8), fresh, demo_copy, LIMIT)
    assert [
        (str(way), outcome.failures, outcome.detail) for way, outcome in tries if is_failed(outcome)
    ] == []


def test_app_ends_with_its_terminal_even_if_it_ignores_the_signal(demo_copy: Path) -> None:
    ignoring = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    with terminal([*ignoring, *APP, "--kb", str(demo_copy)]) as app:
        app.wait_for("63 documents")
        app.hang_up()
        assert app.process.wait(30) == 129


def test_app_that_is_continued_without_a_terminal_ends(demo_copy: Path) -> None:
    with terminal([*APP, "--kb", str(demo_copy)]) as app:
        app.wait_for("63 documents")
        app.press("escape", "ctrl+z")
        wait_for_state(app.process, psutil.STATUS_STOPPED)
        app.hang_up()
        os.kill(app.process.pid, signal.SIGCONT)
        assert app.process.wait(30) == 129


def test_app_that_was_stopped_from_outside_continues_and_restores_the_terminal(
    demo_copy: Path,
) -> None:
    with terminal([*APP, "--kb", str(demo_copy)]) as app:
        app.wait_for("63 documents")
        before = len(app.written)
        os.kill(app.process.pid, signal.SIGSTOP)
        wait_for_state(app.process, psutil.STATUS_STOPPED)
        os.kill(app.process.pid, signal.SIGCONT)
        app.wait_for("63 documents", after=before)  # drawn again
        app.type("rollback plan")
        app.wait_for("its title in full", after=before)
        app.press("escape", "q")
        assert app.wait_for_exit() == 0
        assert termios.tcgetattr(app.master)[3] & termios.ECHO


@contextmanager
def editing(base: Path, folder: Path) -> Iterator[Terminal]:
    """Run the app, with a document in an editor that waits."""
    editor = folder / "vi"
    editor.write_text("#!/bin/sh\necho edit now\nexec sleep 60\n")
    editor.chmod(0o755)
    with terminal([*APP, "--kb", str(base)], environment={"EDITOR": str(editor)}) as app:
        app.wait_for("63 documents")
        app.type("rollback plan")
        app.wait_for("its title in full")
        app.press("escape", "o")
        app.wait_for("edit now")
        yield app


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_app_ends_while_an_editor_has_the_terminal(
    demo_copy: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with editing(demo_copy, tmp_path) as app:
        child = psutil.Process(app.process.pid).children()[0]
        os.kill(app.process.pid, number)
        assert app.wait_for_exit() == 128 + number
        child.kill()


def test_ctrl_c_in_an_editor_does_not_end_the_app(demo_copy: Path, tmp_path: Path) -> None:
    with editing(demo_copy, tmp_path) as app:
        before = len(app.written)
        app.press("ctrl+c")
        app.wait_for("its title in full", after=before)
        app.press("escape", "q")
        assert app.wait_for_exit() == 0
