"""How the name of a file of drafts that is being typed may go on. Reads folders, opens no file."""

from __future__ import annotations

import os
from pathlib import Path


def complete_file(text: str, root: Path, limit: int = 20) -> tuple[str, ...]:
    """Return at most `limit` texts that continue `text`: folders, with a final slash, then files.

    Looked for as `KnowledgeBase.drafts_in` reads: from here, then from `root`; `~` is whose home it
    is. What is typed stays as it is typed. Hidden names come once their dot is typed; a folder that
    cannot be read has none.
    """
    typed, slash, name = text.rpartition("/")
    typed += slash
    if not slash and name.startswith("~"):
        return (f"{name}/",) if _home(name) is not None else ()
    folder = _home(typed)
    if folder is None:
        return ()
    folders, files = set[str](), set[str]()
    for place in (folder,) if folder.is_absolute() else (folder, root / folder):
        for entry, is_folder in _entries(place):
            if entry.startswith(name) and (name or not entry.startswith(".")):
                (folders if is_folder else files).add(f"{typed}{entry}{'/' * is_folder}")
    return (*sorted(folders), *sorted(files - folders))[:limit]


def _home(text: str) -> Path | None:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # nobody of that name
        return None


def _entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as found:
            return [(one.name, one.is_dir()) for one in found]
    except (OSError, ValueError):
        return []
