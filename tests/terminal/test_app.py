"""The app in a real terminal: keys, window sizes, signals, and the state it leaves."""

import os
import re
import shutil
import signal
import stat
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.terminal.pages import PAGES, index_pages, write_pages
from tests.terminal.terminal import APP, Terminal, terminal

ALTERNATE_SCREEN_OFF, CURSOR_ON, MOUSE_OFF = "\x1b[?1049l", "\x1b[?25h", "\x1b[?1000l"
QUESTION = "what did alice decide about the migration"


@pytest.fixture(scope="module")
def many_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a base of `PAGES` one-paragraph pages with random vectors."""
    root = tmp_path_factory.mktemp("many") / "pages"
    write_pages(root)
    index_pages(root)
    return root


def test_search_resize_read_and_quit_restores_the_terminal(demo_kb_path: Path) -> None:
    with terminal([*APP, "--kb", str(demo_kb_path)], size=(140, 40)) as app:
        app.wait_for("63 documents")
        app.type(QUESTION)
        app.wait_for(" × 1.00 entity")
        for columns, lines in ((80, 24), (50, 16), (20, 5), (1, 1), (200, 60), (100, 30)):
            app.listen(0.2)
            before = len(app.written)
            app.resize(columns, lines)
            if columns >= 50:
                app.wait_for("Migration", after=before)
        app.press("down", "enter")
        app.wait_for("Then we stop")
        app.press("escape", "ctrl+c")
        app.wait_for("leaves the app")  # as a key, not as a signal
        app.press("q")
        assert app.wait_for_exit() == 0
        assert_restored(app)


def assert_restored(app: Terminal) -> None:
    for code in (ALTERNATE_SCREEN_OFF, CURSOR_ON, MOUSE_OFF):
        assert code in app.written


def test_quitting_while_indexing_leaves_a_searchable_base(fresh_demo: Path) -> None:
    with terminal([*APP, "--kb", str(fresh_demo)]) as app:
        app.wait_for("indexing")
        app.press("escape", "q")
        assert app.wait_for_exit(30) == 0
    with KnowledgeBase(fresh_demo) as kb:
        assert kb.search("rollback plan").results[0].title == "Rollback plan"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell with job control")
def test_ctrl_z_suspends_the_app_and_fg_resumes_it(demo_kb_path: Path) -> None:
    shell = ["bash", "--norc", "--noprofile", "-i"]
    with terminal(shell, environment={"PS1": "prompt> "}) as app:
        app.wait_for("prompt> ")
        app.type(f"{' '.join(APP)} --kb {demo_kb_path}\n")
        app.wait_for("63 documents")
        app.type("alice")
        app.wait_for("Alice Chen")
        app.press("ctrl+z")
        app.wait_for("Stopped")
        before = len(app.written)
        app.type("fg\n")
        app.wait_for("Alice Chen", after=before)
        app.press("escape", "q")
        app.wait_for("prompt> ", after=before)


def test_editor_opens_at_the_line_and_its_changes_are_found(
    demo_copy: Path, tmp_path: Path
) -> None:
    editor = tmp_path / "vi"
    editor.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/called\necho "The quokka signs." >> "$2"\n'
    )
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    with terminal([*APP, "--kb", str(demo_copy)], environment={"EDITOR": str(editor)}) as app:
        app.wait_for("63 documents")
        app.type("rollback plan")
        app.wait_for("its title in full")
        app.press("escape", "o")
        called = tmp_path / "called"
        while not (called.exists() and called.read_text()):
            app.listen(0.1)
        line, file = called.read_text().split()
        assert line.startswith("+")
        assert Path(file).read_text().endswith("The quokka signs.\n")
        before = len(app.written)
        app.press("/")
        app.type("quokka signs")
        app.wait_for("quokka signs", after=before)
        app.wait_for("Rollback plan", after=before)
        app.press("escape", "q")
        assert app.wait_for_exit() == 0


def test_two_apps_can_search_the_same_base(fresh_demo: Path) -> None:
    with (
        terminal([*APP, "--kb", str(fresh_demo)]) as first,
        terminal([*APP, "--kb", str(fresh_demo)]) as second,
    ):
        for app in (first, second):
            app.wait_for("Type to search")
            app.type("rollback plan")
        for app in (first, second):
            app.wait_for("its title in full")
            app.press("escape", "q")
            assert app.wait_for_exit(30) == 0


def test_no_color_limits_the_app_to_greys(demo_kb_path: Path) -> None:
    with terminal([*APP, "--kb", str(demo_kb_path)], environment={"NO_COLOR": "1"}) as app:
        app.wait_for("63 documents")
        app.type(QUESTION)
        app.wait_for("Migration go/no-go")
        colours = set(re.findall(r"\x1b\[([34]8;[0-9;]*)m", app.written))  # none that is cut off
        assert colours
        assert all(_is_grey(colour) for colour in colours)
        app.press("escape", "q")
        assert app.wait_for_exit() == 0


def test_thousands_of_pages_can_be_searched_and_scrolled(many_pages: Path) -> None:
    with terminal([*APP, "--kb", str(many_pages)], size=(140, 40)) as app:
        app.wait_for(f"{PAGES:,} documents")
        app.type("person7 migration rehearsal")
        app.wait_for("Person7 Example")
        app.press("down", *["pagedown"] * 10, "G")
        app.wait_for("more: add a word")
        app.press("[", "[", "]", "{", "}", "s", "s", "m", "m", "m", "enter")
        app.press("escape", "ctrl+q")
        assert app.wait_for_exit() == 0


def test_an_idle_app_writes_nothing_until_a_signal_quits_it(demo_kb_path: Path) -> None:
    with terminal([*APP, "--kb", str(demo_kb_path)]) as app:
        app.wait_for("63 documents")
        app.type("alice")
        app.wait_for("Alice Chen")
        before = -1
        while before != len(app.written):  # until the answer is drawn whole
            before = len(app.written)
            app.listen(1.0)
        app.listen(2.0)
        assert len(app.written) == before
        os.kill(app.process.pid, signal.SIGTERM)
        assert app.wait_for_exit() == 128 + signal.SIGTERM
        assert_restored(app)


def _is_grey(code: str) -> bool:
    """Return whether a 256-colour or true-colour code has no hue."""
    numbers = [int(number) for number in code.split(";") if number.isdigit()]
    if numbers[1:2] == [5]:
        return numbers[2] in (0, 7, 8, 15, 16, 231) or numbers[2] >= 232
    return numbers[1:2] == [2] and len(set(numbers[2:5])) == 1
