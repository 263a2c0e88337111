"""Opens a file in the user's editor at a line."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from kbx_tui.ending import interrupts_for_child
from kbx_tui.log_file import logger

_PLUS = "vi vim nvim view gvim vis kak nano pico emacs emacsclient micro joe mg ne jed e3 ed ex"
PLUS_LINE = frozenset(_PLUS.split(" "))
"""Editors that accept `+12 file`."""
COLON_LINE = frozenset(("hx", "helix", "subl", "zed", "lapce", "amp"))
"""Editors that accept `file:12`."""
GOTO = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
"""Editors that accept `--goto file:12`, and return at once without `--wait`."""


def open_editor(app: App[Any], file: Path, line: int, *, no_color: bool) -> str:
    """Open `file` and wait until the editor ends; return why it was not opened, else nothing.

    `no_color` restores for the editor what Textual removes from the environment.
    """
    editor = editor_command(os.environ)
    if not editor:
        return "no editor is set: `export EDITOR=nano`, then start kbx again"
    command = edit_command(editor, file, line)
    environment = os.environ | ({"NO_COLOR": "1"} if no_color else {})
    try:
        with app.suspend(), interrupts_for_child():
            subprocess.run(command, env=environment, check=False)
    except SuspendNotSupported:
        return "an editor cannot be opened in this terminal"
    except OSError as error:
        logger().warning("%s: %s", command, error)
        return f"{editor[0]} cannot be started: {error.strerror or error}"
    return ""


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return `$VISUAL`, else `$EDITOR`, split into words; empty if neither is a command."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environment.get(name, ""))
        except ValueError:  # an unclosed quote
            continue
        if words:
            return words
    return []


def edit_command(editor: list[str], file: Path, line: int) -> list[str]:
    """Return the command that opens `file` at a 1-based `line`, or at the start for line 0."""
    name = Path(editor[0]).stem.lower()
    path = str(file)
    if name in GOTO:
        wait = [] if {"-w", "--wait"} & set(editor) else ["--wait"]
        return [*editor, *wait, "--goto", f"{path}:{max(line, 1)}"]
    if line > 0 and name in COLON_LINE:
        return [*editor, f"{path}:{line}"]
    if line > 0 and name in PLUS_LINE:
        return [*editor, f"+{line}", path]
    return [*editor, path]
