"""Ways to the clipboard, by environment, and what is said of the one that was taken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kbx_tui.tui.desktop import ClipboardProgram, clipboard_programs, copy, may_take_text

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
    assert copy("Grüße\n- zwei", programs, terminal_takes_text=True) == ("a file", "")
    assert taken.read_text(encoding="utf-8") == "Grüße\n- zwei"
    place, remark = copy("x", programs[:2], terminal_takes_text=True)
    assert (place, remark) == (
        "the terminal's clipboard",
        "if it does not paste, install wl-copy, xclip or xsel",
    )
    place, remark = copy("x", programs[:2], terminal_takes_text=False)
    assert (place, remark[:31]) == ("", "this terminal has no clipboard:")
