"""Output on a terminal: colours, a progress bar, and errors of the app."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import program_environment
from tests.functional.vaults import FILES, write_vault

pty = pytest.importorskip("pty", reason="needs pseudo-terminals")

SIZE = {"COLUMNS": "100", "LINES": "30", "TERM": "xterm-256color"}

CRASH = """
import sys
from kbx_tui.cli.main import main
from kbx_tui.tui.app import KbxApp

def fails(self):
    raise ZeroDivisionError("of all things")

KbxApp.on_mount = fails
sys.exit(main(sys.argv[1:]))
"""


NEXT = "--- next ---"
ONE_AFTER_THE_OTHER = f"""
import json
import sys
from kbx_tui.cli.main import main

for arguments in sys.argv[1:]:
    assert main(json.loads(arguments)) == 0
    print({NEXT!r}, flush=True)
"""
"""Runs several commands in one program, which loads the engine once; each is a JSON array."""


def on_terminal(*arguments: str | Path, exit_code: int = 0, **env: str) -> str:
    """Return the output of a command that runs on a terminal."""
    return run_on_terminal("-m", "kbx_tui", *arguments, exit_code=exit_code, **env)


def run_on_terminal(*arguments: str | Path, exit_code: int, **env: str) -> str:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=program_environment({**SIZE, **env}),
    )
    os.close(follower)
    written = b""
    while True:
        try:
            read = os.read(leader, 65_536)
        except OSError:  # Linux reports a closed other end like this
            break
        if not read:
            break
        written += read
    os.close(leader)
    assert process.wait(timeout=60) == exit_code
    return written.decode()


def test_listing_has_colours_and_links(demo_kb_path: Path) -> None:
    search = ("search", "rollback", "--fast", "--limit", "1", "--kb", demo_kb_path)
    shown = on_terminal(*search, VISUAL="code -w")
    assert "\x1b[1;33mrollback\x1b[0m" in shown.lower()
    place = r"8;id=\d+;(vscode://file/[^\x1b]*/memory/[^\x1b]*\.md:\d+)\x1b\\"
    assert re.search(place, shown)
    colourless = on_terminal(*search, NO_COLOR="1")
    assert not any(code in colourless for code in ("\x1b]8", "\x1b[36m", "\x1b[1;33m"))
    assert "\x1b]8" not in on_terminal(*search, TERM="dumb")
    assert "\x1b[36m━" in shown


def test_progress_bar_is_drawn_and_cleared(tmp_path: Path) -> None:
    shown = on_terminal("index", "--kb", write_vault(tmp_path / "kb"))
    assert "vectors" in shown
    assert "━" in shown
    assert shown.rstrip().splitlines()[-1].lstrip("\x1b[2K\r").strip().endswith(")")
    assert f"{len(FILES)} documents, " in shown


def test_crashed_app_ends_with_one_line_and_debug_adds_the_traceback(demo_kb_path: Path) -> None:
    shown = run_on_terminal("-c", CRASH, "--kb", demo_kb_path, exit_code=1)
    assert "kbx: internal error: ZeroDivisionError: of all things (details in " in shown
    assert shown.rstrip().endswith("kbx-tui.log); --debug shows the traceback")
    assert "Traceback" not in shown
    assert "in fails" in run_on_terminal("-c", CRASH, "--debug", "--kb", demo_kb_path, exit_code=1)


def test_redacted_facts_and_fields_are_dim_on_a_terminal(tmp_path: Path) -> None:
    page = (
        "---\nrole: Keeper of the tower # redacted\nteam: Harbour\n---\n# Vera Sand\n\n"
        "## Facts\n- Keeps the log\n- Keeps the key (redacted)\n"
    )
    write_vault(tmp_path, {"memory/people/vera-sand.md": page})
    commands = (
        ["index", "--fast"],
        ["memory", "list"],
        ["entity", "show", "Vera Sand"],
        ["memory", "similar", "Keeper of the tower"],
        ["memory", "similar", "Harbour"],
    )
    arguments = [json.dumps([*command, "--kb", str(tmp_path)]) for command in commands]
    shown = run_on_terminal("-c", ONE_AFTER_THE_OTHER, *arguments, exit_code=0)
    _, facts, card, keeper, harbour, _ = shown.split(NEXT)
    for lines in (facts.splitlines(), card.splitlines()):
        dim = [line for line in lines if line.startswith("\x1b[2m")]
        plain = [line for line in lines if "\x1b" not in line]
        assert any("Keeps the key" in line for line in dim), lines
        assert any("Keeps the log" in line for line in plain), lines
    assert any("Keeper of the tower" in line for line in dim)
    assert any("Harbour" in line for line in plain)
    assert "\x1b[2mKeeper of the tower" in keeper
    assert "Harbour" in harbour
    assert "\x1b[2mHarbour" not in harbour
    assert "\x1b" not in on_terminal("memory", "list", "--kb", tmp_path, NO_COLOR="1")
