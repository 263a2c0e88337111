"""Shells complete commands, options, and the values that options take."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from kbx_tui.cli.base_command import GlobalOptions
from kbx_tui.cli.main import kbx as program
from kbx_tui.cli.shell_scripts import register
from tests.command_line import CommandLine


def completions(root: Path, *arguments: str) -> list[str]:
    """Return what completes the last argument, on the base at `root`."""
    *given, text = arguments
    shell = ShellComplete(program, {"obj": GlobalOptions(kb=root)}, "kbx", "_KBX_COMPLETE")
    return [str(item.value) for item in shell.get_completions(list(given), text)]


def test_values_of_the_base_are_completed(demo_kb_path: Path) -> None:
    root = demo_kb_path
    assert completions(root, "search", "--type", "mee") == ["meeting"]
    assert "meeting,note" in completions(root, "search", "--type", "meeting,")
    assert "meeting,meeting" not in completions(root, "search", "--type", "meeting,")
    assert "migration" in completions(root, "search", "--tag", "mig")
    assert completions(root, "search", "--pin", "alice ch") == ["Alice Chen"]
    assert completions(root, "search", "--mute", "Platform,gra") == ["Platform,Grace Tully"]
    assert completions(root, "search", "--entity", "person:ali") == ["person:alice-chen"]
    assert completions(root, "entity", "show", "Grace") == ["Grace Tully"]
    assert completions(root, "search", "--path", "memory/n") == ["memory/notes/"]
    assert completions(root, "memory", "similar", "x", "--path", "memory/people/ali") == [
        "memory/people/alice-chen.md"
    ]


def test_settings_are_completed_with_their_values(demo_kb_path: Path) -> None:
    root = demo_kb_path
    assert "search.hierarchy_alpha" in completions(root, "config", "set", "search.hier")
    assert completions(root, "config", "set", "search.hierarchy_gate", "") == ["hard", "soft"]
    assert completions(root, "config", "set", "app.watch", "t") == ["true"]
    assert completions(root, "config", "unset", "zz") == []


@pytest.mark.parametrize("root", ["missing", "empty"])
def test_without_an_index_nothing_is_completed_and_nothing_fails(
    tmp_path: Path, root: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    for option in ("--type", "--tag", "--pin", "--path"):
        assert completions(tmp_path / root, "search", option, "") == []
    assert completions(tmp_path / root, "config", "set", "search.hier") == []
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_serves_both_names(kbx: CommandLine, shell: str) -> None:
    script = kbx("completion", shell).out
    for variable in ("_KBX_COMPLETE", "_KBX_TUI_COMPLETE"):
        assert f"{variable}={shell}_complete" in script
    if shell != "fish":
        assert "*/" in script  # no space after a folder


def test_values_are_quoted_for_bash(kbx: CommandLine) -> None:
    register()
    kind = get_completion_class("bash")
    assert kind is not None
    item = CompletionItem("Alice O'Hara")
    line = kind(program, {}, "kbx", "_KBX_COMPLETE").format_completion(item)
    shown = subprocess.run(
        ["bash", "-c", f"printf %s {line.removeprefix('plain,')}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shown.stdout == "Alice O'Hara"
    script = kbx("completion", "bash").out
    assert subprocess.run(["bash", "-n", "-c", script], check=False).returncode == 0
