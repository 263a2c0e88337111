"""The optional git commit after each write: `[writes] auto_commit` in kbx.toml."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

SECONDS = 30
"""Timeout of each git command."""


def commit_files(
    root: Path, paths: Sequence[str], operation: str, target: str, *, message: str, author: str
) -> str:
    """Commit these files alone and return why that failed, empty on success.

    `message` may contain `{operation}`, `{target}`, `{file_count}` and `{timestamp}`. What is
    already staged stays staged.
    """
    message = message.replace("{operation}", operation).replace("{target}", target)
    message = message.replace("{file_count}", str(len(paths)))
    message = message.replace("{timestamp}", time.strftime("%Y-%m-%dT%H:%M:%S"))
    git = ["git", "-C", str(root), "-c", "core.quotepath=off"]
    commands = (
        [*git, "add", "--", *paths],
        [*git, "commit", "--quiet", "--author", author, "-m", message, "--only", "--", *paths],
    )
    for command in commands:
        try:
            completed = subprocess.run(
                command, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        if completed.returncode:
            lines = (completed.stderr or completed.stdout).strip().splitlines()
            return lines[-1] if lines else f"git exited with {completed.returncode}"
    return ""
