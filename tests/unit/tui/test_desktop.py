"""Ways to the clipboard, by environment, and what is said of the one that was taken."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from kbx_tui.tui.terminal_app import (
    ClipboardProgram,
    clipboard_programs,
    copy_text,
    edit_command,
    installed_editor,
    may_take_text,
)
from kbx_tui.user_files import editor_command

SSH = {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}


@pytest.mark.parametrize(
    ("environment", "platform", "names"),
    [
        ({}, "linux", []),
        ({}, "darwin", ["pbcopy"]),
        (SSH, "darwin", []),
        ({"DISPLAY": ":0"}, "linux", ["xclip", "xsel"]),
        ({"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, "linux", ["wl-copy", "xclip", "xsel"]),
        ({"WAYLAND_DISPLAY": "w", **SSH}, "linux", []),
        ({"TMUX": "/tmp/t,1,0"}, "linux", ["tmux", "tmux"]),
        ({"TMUX": "/tmp/t,1,0"}, "darwin", ["pbcopy", "tmux", "tmux"]),
    ],
)
def test_programs_are_those_that_reach_the_users_screen(
    environment: Mapping[str, str], platform: str, names: list[str]
) -> None:
    programs = clipboard_programs(environment, find=lambda name: f"/bin/{name}", platform=platform)
    assert [program.command[0] for program in programs] == names
    assert not clipboard_programs(environment, find=lambda name: None, platform=platform)


@pytest.mark.parametrize(
    ("environment", "takes"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/t,1,0"}, False),
        ({"TERM": "screen.xterm-256color", "STY": "1.x"}, False),
        ({"TERM": "screen"}, False),
        ({"TERM": "linux"}, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, False),
        ({}, False),
    ],
)
def test_a_terminal_that_ignores_texts_is_known(
    environment: Mapping[str, str], takes: bool
) -> None:
    assert may_take_text(environment) is takes


def test_the_first_program_that_takes_the_text_is_named(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    programs = [
        ClipboardProgram("nowhere", (str(tmp_path / "missing"),)),
        ClipboardProgram("a refusal", ("false",)),
        ClipboardProgram("a file", ("tee", str(taken))),
        ClipboardProgram("another", ("true",)),
    ]
    said = copy_text("line", "Grüße\n- zwei", programs, terminal_takes_text=True)
    assert said == "copied line to a file: Grüße\n- zwei"
    assert taken.read_text(encoding="utf-8") == "Grüße\n- zwei"
    install = "install wl-copy, xclip or xsel"
    assert copy_text("path", "x", programs[:2], terminal_takes_text=True) == (
        f"copied path to the terminal's clipboard: x (if it does not paste, {install})"
    )
    assert copy_text("path", "x", programs[:2], terminal_takes_text=False) == (
        f"not copied: this terminal has no clipboard: {install}; the path is: x"
    )


FILE = Path("/kb/a b.md")


@pytest.mark.parametrize(
    ("environment", "editor"),
    [
        ({"EDITOR": "nano"}, ["nano"]),
        ({"EDITOR": "nano", "VISUAL": "code -w"}, ["code", "-w"]),
        ({"VISUAL": "", "EDITOR": "vi"}, ["vi"]),
        ({"VISUAL": "'broken", "EDITOR": "vi"}, ["vi"]),
        ({}, []),
    ],
)
def test_visual_takes_precedence_over_editor(
    environment: dict[str, str], editor: list[str]
) -> None:
    assert editor_command(environment) == editor


def test_an_editor_that_is_installed_is_found_but_none_beside_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, base = tmp_path / "bin", tmp_path / "base"
    for path in (programs / "vi", base / "nano"):
        path.parent.mkdir()
        path.touch(0o755)
    monkeypatch.chdir(base)
    monkeypatch.setenv("PATH", f".{os.pathsep}{programs}")
    assert installed_editor() == [str(programs / "vi")]
    monkeypatch.setenv("PATH", ".")
    assert installed_editor() == []


@pytest.mark.parametrize(
    ("editor", "line", "command"),
    [
        ("vim", 12, ["vim", "+12", "/kb/a b.md"]),
        ("/usr/bin/nano", 12, ["/usr/bin/nano", "+12", "/kb/a b.md"]),
        ("hx", 12, ["hx", "/kb/a b.md:12"]),
        ("code", 12, ["code", "--wait", "--goto", "/kb/a b.md:12"]),
        ("mine", 12, ["mine", "/kb/a b.md"]),
        ("vim", 0, ["vim", "/kb/a b.md"]),
    ],
)
def test_each_editor_gets_the_line_in_its_own_syntax(
    editor: str, line: int, command: list[str]
) -> None:
    assert edit_command([editor], FILE, line) == command


def test_wait_option_is_not_added_twice() -> None:
    assert edit_command(["code", "-w"], FILE, 1).count("--wait") == 0
