"""A watcher that reports changed files of a knowledge base in batches.

A file system event only triggers a new listing, which is compared with the previous one. So
exclusions, links and moved folders are treated as in indexing, and a missed event loses no change.
"""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kbx_tui.errors import KbxError, NotFound
from kbx_tui.knowledge.vault import CONFIG_NAME, SUPPRESSION_FILES, walk, walked_folder

Stamp = tuple[int, int, int]
"""Modification time, size and inode; differs for another file or content."""

QUIET_PERIOD = 0.3
"""Seconds without events after which changes are reported."""
MAX_DELAY = 2.0
"""Seconds after the first event after which changes are reported even if more arrive."""

POLLED_FILES = (CONFIG_NAME, ".gitignore", *SUPPRESSION_FILES)


def watch(
    root: Path,
    exclude: Sequence[str],
    changed: Callable[[frozenset[str]], None],
    *,
    stopped: threading.Event,
) -> None:
    """Call `changed` with the root-relative paths of changed files, until `stopped` is set.

    Reports markdown files that are or were part of the knowledge base, kbx.toml, .gitignore files
    that apply, and entity-suppressions.json. Blocks; returns within a second of `stopped`. Raises
    NotFound if the root is deleted, KbxError if it cannot be watched, and any exception of
    `changed`.
    """
    listing = _Listing(root, exclude)
    while not stopped.is_set():
        folder = walked_folder(root)
        identity = _identity(folder)
        listing.is_outdated = True  # the system starts reporting events shortly after this
        for paths in _events(folder, stopped):
            if _identity(walked_folder(root)) != identity:
                break  # the folder was replaced; watch the new one
            if differing := listing.update(paths):
                changed(differing)
        stopped.wait(QUIET_PERIOD)


class _Listing:
    def __init__(self, root: Path, exclude: Sequence[str]) -> None:
        self._root, self._exclude = root, exclude
        self._stamps = self._list()
        self._polled = self._poll()
        self.is_outdated = False
        """Whether files may have changed without an event."""

    def update(self, events: set[str]) -> frozenset[str]:
        """List the files again if `events`, absolute paths, or polled files make it necessary.

        Returns the paths that differ, or were rewritten with equal stamps.
        """
        relative = (Path(os.path.relpath(path, self._root)).as_posix() for path in events)
        normalized = (unicodedata.normalize("NFC", path) for path in relative)
        touched = {path for path in normalized if self._may_matter(path)}
        polled = self._poll()
        if not (touched or self.is_outdated or polled != self._polled):
            return frozenset()
        self._polled, self.is_outdated = polled, False
        before, self._stamps = self._stamps, self._list()
        differing = {path for path, _ in before.items() ^ self._stamps.items()}
        return frozenset(differing | (touched & self._stamps.keys()))

    def _list(self) -> dict[str, Stamp]:
        walked = walk(self._root, self._exclude)
        stamps = {file.path: _stamp(file.absolute) for file in (*walked.files, *walked.gitignores)}
        stamps |= self._poll()
        return {path: stamp for path, stamp in stamps.items() if stamp is not None}

    def _poll(self) -> dict[str, Stamp | None]:
        return {path: _stamp(self._root / path) for path in POLLED_FILES}

    def _may_matter(self, path: str) -> bool:
        *folders, name = path.split("/")
        if any(folder.startswith(".") or folder == "node_modules" for folder in folders):
            return False
        if name == ".gitignore" or name.lower().endswith(".md"):
            return True
        is_other_file = (self._root / path).is_file()  # otherwise a folder, or deleted
        return not name.startswith(".") and not is_other_file


def _events(folder: Path, stopped: threading.Event) -> Iterator[set[str]]:
    """Yield absolute paths of file system events, an empty set after a period without events."""
    from watchfiles import watch as system_watch

    try:
        for events in system_watch(
            folder,
            watch_filter=None,
            debounce=int(MAX_DELAY * 1000),
            step=int(QUIET_PERIOD * 1000),
            rust_timeout=int(QUIET_PERIOD * 1000),
            yield_on_timeout=True,
            stop_event=stopped,
            ignore_permission_denied=True,
        ):
            yield {path for _, path in events}
    except FileNotFoundError:
        return  # the folder was deleted: the caller checks it again
    except (OSError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise KbxError(
            f"cannot watch {folder} for changes ({reason}): raise the system's limit, on Linux "
            "fs.inotify.max_user_watches, or run `kbx index` by hand"
        ) from error


def _identity(folder: Path) -> tuple[int, int]:
    try:
        status = folder.stat()
    except OSError as error:
        raise NotFound(f"{folder} was deleted: nothing is left to watch") from error
    return status.st_dev, status.st_ino


def _stamp(file: Path) -> Stamp | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
