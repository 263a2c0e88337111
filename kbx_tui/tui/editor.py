"""How to open a file in a person's editor at a line. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

_PLUS = "vi vim nvim view gvim vis kak nano pico emacs emacsclient micro joe mg ne jed e3 ed ex"
PLUS_LINE = frozenset(_PLUS.split(" "))
"""Editors that take `+12 file`."""
COLON_LINE = frozenset(("hx", "helix", "subl", "zed", "lapce", "amp"))
"""Editors that take `file:12`."""
GOTO = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"))
"""Editors that take `--goto file:12`, and return at once unless told to wait."""


def editor_command(environment: Mapping[str, str]) -> list[str]:
    """Return `$VISUAL`, else `$EDITOR`, in words; empty when neither is set or it is no command."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environment.get(name, ""))
        except ValueError:  # a quote that is not closed
            continue
        if words:
            return words
    return []


def edit_command(editor: list[str], file: Path, line: int) -> list[str]:
    """Return the command that opens `file` at the 1-based `line`; 0 when none is known."""
    name = Path(editor[0]).stem.lower()
    path = str(file)
    if name in GOTO:
        wait = [] if {"-w", "--wait"} & set(editor) else ["--wait"]
        return [*editor, *wait, "--goto", f"{path}:{max(line, 1)}"]
    if line < 1:
        return [*editor, path]
    if name in COLON_LINE:
        return [*editor, f"{path}:{line}"]
    if name in PLUS_LINE:
        return [*editor, f"+{line}", path]
    return [*editor, path]
