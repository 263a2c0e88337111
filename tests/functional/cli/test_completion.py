"""Shells complete commands, options, and the values that options take."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from kbx_tui.cli.base_command import GlobalOptions
from kbx_tui.cli.completion import register
from kbx_tui.cli.main import kbx as program
from tests.command_line import CommandLine


def completions(root: Path, *arguments: str) -> list[str]:
    """Return what completes the last argument, on the base at `root`."""
    *given, text = arguments
    shell = ShellComplete(program, {"obj": GlobalOptions(kb=[root])}, "kbx", "_KBX_COMPLETE")
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


def test_values_are_quoted_for_bash(kbx: CommandLine, tmp_path: Path) -> None:
    register()
    kind = get_completion_class("bash")
    assert kind is not None
    line = kind(program, {}, "kbx", "_KBX_COMPLETE").format_completion(
        CompletionItem("Alice O'Hara")
    )
    answers = tmp_path / "kbx"  # stands for the program, which the script asks
    answers.write_text(f"#!/bin/sh\ncat <<'END'\n{line}\nEND\n", encoding="utf-8")
    answers.chmod(0o755)
    script = f"""{kbx("completion", "bash").out}
COMP_WORDS=(kbx search --pin ali); COMP_CWORD=3
_kbx_completion {answers}; eval "printf '%s|' ${{COMPREPLY[0]}}"
"""
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout == "Alice O'Hara|"  # one word for the shell
