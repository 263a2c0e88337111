"""How a path that is being typed may go on, one level at a time as in a shell. Pure."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.path_filter import PathFilter

_AFTER_SLASH = chr(ord("/") + 1)


def complete(paths: Sequence[str], text: str, root: Path, limit: int) -> tuple[str, ...]:
    """Return at most `limit` texts that continue `text`: folders, with a final slash, then files.

    `paths` are those of all documents, in order. What is typed stays as it is typed, also `./` or
    the root before it; nothing continues a path that leads out of the root.
    """
    typed, slash, name = text.rpartition("/")
    typed += slash
    try:
        folder = PathFilter.parse(typed, root).prefix
    except ConfigError:
        return ()
    above = folder + "/" if folder else ""
    start = above + unicodedata.normalize("NFC", name)
    folders: list[str] = []
    files: list[str] = []
    at = bisect_left(paths, start)
    while at < len(paths) and paths[at].startswith(start) and len(folders) < limit:
        entry, is_folder, _ = paths[at][len(above) :].partition("/")
        if is_folder:
            folders.append(f"{typed}{entry}/")
            at = bisect_left(paths, above + entry + _AFTER_SLASH, at)  # past all it holds
        else:
            files.append(typed + entry)
            at += 1
    return tuple((folders + files)[:limit])
