"""A git commit per write, where kbx.toml asks for it: `[writes] auto_commit`, as kbx has it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

SECONDS = 30


def commit(
    root: Path, paths: Sequence[str], operation: str, target: str, *, message: str, author: str
) -> str:
    """Commit these files and nothing else; return why that failed, empty when it did not.

    `message` may hold `{operation}`, `{target}`, `{file_count}` and `{timestamp}`. What is staged
    already stays staged.
    """
    told = message
    for name, value in (
        ("operation", operation),
        ("target", target),
        ("file_count", str(len(paths))),
        ("timestamp", time.strftime("%Y-%m-%dT%H:%M:%S")),
    ):
        told = told.replace(f"{{{name}}}", value)
    git = ["git", "-C", str(root), "-c", "core.quotepath=off"]
    steps = (
        [*git, "add", "--", *paths],
        [*git, "commit", "--quiet", "--author", author, "-m", told, "--only", "--", *paths],
    )
    for step in steps:
        try:
            done = subprocess.run(
                step, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            return lines[-1] if lines else f"git ended with {done.returncode}"
    return ""
