"""Finds the file that a link means, by name or path, as Obsidian does. Pure.

Rules, each tried in turn: a path from the folder of the note (`./x`, `../x`); a path from the top
of the base; the end of a path, first among the files below the folder of the note, and of several
the shortest path. Letter case does not count; a name without an extension means a note.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from kbx_tui.knowledge.vault import MEMORY

_DOTS = re.compile(r"(?:\.{1,2}/)+")


class FileLookup:
    """The files of one base by name."""

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths` are relative to the root, with `/`, NFC."""
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(path.rpartition("/")[2].lower(), []).append(path)

    def find(self, page: str, source: str) -> str | None:
        """Return the file that `page` means in the document `source`, None if there is none.

        `page` is the target of a link without its part, NFC; the empty one means `source`.
        """
        found = self.candidates(page, source)
        return found[0] if found else None

    def candidates(self, page: str, source: str) -> list[str]:
        """Return all files that `page` may mean, the one it means first."""
        if not page:
            return [source]
        wanted = page.lower()
        name = wanted.rpartition("/")[2]
        named = self._by_name.get(name) if "." in name else None
        if named is None:
            wanted, named = f"{wanted}.md", self._by_name.get(f"{name}.md", [])
        if not (name and named):
            return []
        if len(named) == 1 and "/" not in page:
            return list(named)  # a name that one file has means it from everywhere
        folder = posixpath.dirname(source.lower())
        if dots := _DOTS.match(wanted):
            here = posixpath.normpath(posixpath.join(folder, wanted))
            if exact := _at(named, here):
                return exact
            wanted = wanted[dots.end() :]
        top = wanted.lstrip("/")
        exact = _at(named, top) or _at(named, f"{MEMORY}/{top}")
        if wanted.startswith("/"):
            return exact
        others = [
            path for path in named if path not in exact and f"/{path.lower()}".endswith(f"/{top}")
        ]
        name_as_written = page.rpartition("/")[2]

        def rank(path: str) -> tuple[bool, int, bool, str]:
            is_below = not folder or path.lower().startswith(f"{folder}/")
            stem = path.rpartition("/")[2].removesuffix(".md")
            is_as_written = stem == name_as_written.removesuffix(".md")
            return not is_below, len(path), not is_as_written, path

        return exact + sorted(others, key=rank)


def file_name_of(page: str) -> str:
    """Return the lower-case file name of the note that a link to `page` may mean."""
    name = page.lower().rpartition("/")[2]
    return name if name.endswith(".md") else f"{name}.md"


def _at(paths: Iterable[str], wanted: str) -> list[str]:
    return [path for path in paths if path.lower() == wanted]
