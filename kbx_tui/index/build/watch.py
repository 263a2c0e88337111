"""Tell which files of a knowledge base change while it is open, in bundles.

The system says that something happens; what of it matters is found by listing the knowledge base
again and comparing. So exclusions, links and folders moved as a whole mean what they mean to
indexing, and nothing is lost that happened while no one looked.
"""

from __future__ import annotations

import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kbx_tui.errors import KbxError, NotFound
from kbx_tui.knowledge.entities.suppressions import PLACES
from kbx_tui.knowledge.vault import CONFIG_NAME, walk, walked_folder

Stamp = tuple[int, int, int]
"""Time of writing, size and inode: another file, or other content, has another."""

STEP, QUIET = 0.1, 0.3
"""Seconds between two looks, and without a change before the changes are told ..."""
LONGEST = 2.0
"""... or since the first of them, when it does not become quiet."""

ASIDE = (CONFIG_NAME, ".gitignore", *PLACES)
"""Files that matter wherever the documents lie; the system is not asked about them."""


def watch(
    root: Path,
    exclude: Sequence[str],
    changed: Callable[[frozenset[str]], None],
    *,
    stopped: threading.Event,
) -> None:
    """Call `changed` with root-relative paths whenever files changed, until `stopped` is set.

    Told are markdown files that are or were part of the knowledge base, kbx.toml, .gitignore
    files that count, and entity-suppressions.json. Blocks; returns within a second after
    `stopped`. Raises NotFound when the root is gone, KbxError when it cannot be watched, and what
    `changed` raises.
    """
    vault = _Vault(root, exclude)
    while not stopped.is_set():
        folder = walked_folder(root)
        identity = _identity(folder)
        for paths in _happenings(folder, stopped):
            if _identity(walked_folder(root)) != identity:
                break  # another folder stands in its place, and nobody watches that one
            vault.hear(paths)
            if vault.is_due(time.monotonic()) and (found := vault.compare()):
                changed(found)
        vault.doubt()
        stopped.wait(STEP)


class _Vault:
    """What a knowledge base held when it was last listed, and whether to list it again."""

    def __init__(self, root: Path, exclude: Sequence[str]) -> None:
        self._root, self._exclude = root, exclude
        self._known = self._list()
        self._aside = self._stamps_aside()
        self._touched: set[str] = set()
        self._first = self._last = 0.0
        self.doubt()  # the system begins to tell a moment after this

    def doubt(self) -> None:
        """Something may have changed unseen."""
        self._last = time.monotonic()
        self._first = self._first or self._last

    def hear(self, paths: set[str]) -> None:
        """Take in where something happened, as absolute paths; most of it may not matter."""
        touched = {path for path in map(self._relative, paths) if self._may_matter(path)}
        aside = self._stamps_aside()
        if touched or aside != self._aside:
            self._touched |= touched
            self._aside = aside
            self.doubt()

    def is_due(self, now: float) -> bool:
        """Tell whether it is time to compare."""
        quiet, long = now - self._last >= QUIET - STEP, now - self._first >= LONGEST
        return bool(self._first) and (quiet or long)

    def compare(self) -> frozenset[str]:
        """List again and return what differs, and what was written to without looking different."""
        before, self._known = self._known, self._list()
        touched, self._touched, self._first = self._touched, set(), 0.0
        differing = {path for path, _ in before.items() ^ self._known.items()}
        return frozenset(differing | (touched & self._known.keys()))

    def _list(self) -> dict[str, Stamp]:
        found = walk(self._root, self._exclude)
        stamps = {file.path: _stamp(file.absolute) for file in (*found.files, *found.ignoring)}
        stamps |= self._stamps_aside()
        return {path: stamp for path, stamp in stamps.items() if stamp is not None}

    def _stamps_aside(self) -> dict[str, Stamp | None]:
        return {path: _stamp(self._root / path) for path in ASIDE}

    def _relative(self, path: str) -> str:
        inside = os.path.relpath(path, self._root)
        return unicodedata.normalize("NFC", Path(inside).as_posix())

    def _may_matter(self, path: str) -> bool:
        """Tell whether something at this path could change the listing: a cheap first look."""
        *folders, name = path.split("/")
        if any(folder.startswith(".") or folder == "node_modules" for folder in folders):
            return False
        if name == ".gitignore" or name.lower().endswith(".md"):
            return True
        return not name.startswith(".") and not (self._root / path).is_file()  # a folder, or gone


def _happenings(folder: Path, stopped: threading.Event) -> Iterator[set[str]]:
    """Yield the absolute paths where something happened, an empty set when nothing did."""
    from watchfiles import watch as system_watch

    try:
        for happened in system_watch(
            folder,
            watch_filter=None,
            debounce=int(QUIET * 1000),
            step=int(STEP * 1000),
            rust_timeout=int(QUIET * 1000),
            yield_on_timeout=True,
            stop_event=stopped,
            ignore_permission_denied=True,
        ):
            yield {path for _, path in happened}
    except FileNotFoundError:
        return  # gone since it was looked at: whoever asked looks again
    except (OSError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise KbxError(
            f"cannot watch {folder} for changes ({reason}): raise the system's limit, on Linux "
            "fs.inotify.max_user_watches, or index again by hand"
        ) from error


def _identity(folder: Path) -> tuple[int, int]:
    """Return what tells a folder from another in its place."""
    try:
        status = folder.stat()
    except OSError as error:
        raise NotFound(f"{folder} is gone: nothing is left to watch") from error
    return status.st_dev, status.st_ino


def _stamp(file: Path) -> Stamp | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
