"""Completion of the path of a file with drafts."""

from __future__ import annotations

import os
from pathlib import Path


def complete_file(text: str, root: Path, limit: int = 20) -> tuple[str, ...]:
    """Return at most `limit` completions of `text`: folders with a final slash, then files.

    As in `KnowledgeBase.drafts_in`, paths are relative to the current folder, then to `root`, and
    `~` is expanded. Every completion begins with `text`. Hidden names are completed only after a
    dot; unreadable folders have no completions.
    """
    prefix, slash, name = text.rpartition("/")
    prefix += slash
    if not slash and name.startswith("~"):
        return (f"{name}/",) if _expand_home(name) is not None else ()
    folder = _expand_home(prefix)
    if folder is None:
        return ()
    folders, files = set[str](), set[str]()
    for candidate in (folder,) if folder.is_absolute() else (folder, root / folder):
        for entry, is_folder in _entries(candidate):
            if entry.startswith(name) and (name or not entry.startswith(".")):
                (folders if is_folder else files).add(f"{prefix}{entry}{'/' * is_folder}")
    return (*sorted(folders), *sorted(files - folders))[:limit]


def _expand_home(text: str) -> Path | None:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no such user
        return None


def _entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, entry.is_dir()) for entry in entries]
    except (OSError, ValueError):
        return []
