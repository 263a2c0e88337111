"""The check of the user's small files in `.kbx`: drafts, labels, judgments, journal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kbx_tui.editing.state.state_folder import STATE

PATTERNS = ("*.jsonl", "app.json", "journal/*.json")
"""The user's files below `.kbx`; what else is there are caches."""


def unreadable_state_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and what is wrong of each file below `.kbx` that is not JSON, by path."""
    for pattern in PATTERNS:
        for file in sorted((root / STATE).glob(pattern)):
            if reason := _reason(file):
                yield file.relative_to(root).as_posix(), reason


def _reason(file: Path) -> str:
    if not file.is_file():
        return "is not a file"
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        return f"is not UTF-8 from byte {error.start} on"
    lines = text.splitlines() if file.suffix == ".jsonl" else [text]
    for number, line in enumerate(lines, 1):
        try:
            json.loads(line or "null")
        except (ValueError, RecursionError):
            return f"line {number} is not JSON" if file.suffix == ".jsonl" else "is not JSON"
    return ""
