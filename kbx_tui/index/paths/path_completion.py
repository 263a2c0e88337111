"""Completion of a path being typed, one level at a time as in a shell. Pure."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.path_filter import PathFilter

_AFTER_SLASH = chr(ord("/") + 1)


def complete(paths: Sequence[str], text: str, root: Path, limit: int) -> tuple[str, ...]:
    """Return at most `limit` completions of `text`: folders, with a final slash, then files.

    `paths` are those of all documents, sorted. Each completion starts with `text` unchanged, even
    if it starts with `./` or the root; a path outside the root has none.
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
    index = bisect_left(paths, start)
    while index < len(paths) and paths[index].startswith(start) and len(folders) < limit:
        entry, is_folder, _ = paths[index][len(above) :].partition("/")
        if is_folder:
            folders.append(f"{typed}{entry}/")
            index = bisect_left(paths, above + entry + _AFTER_SLASH, index)  # skip its content
        else:
            files.append(typed + entry)
            index += 1
    return tuple((folders + files)[:limit])
