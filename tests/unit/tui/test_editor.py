"""The command that opens an editor at a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.tui.desktop import edit_command, editor_command

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
