"""The differences between the files and the index, by content hash; a watcher of the files.

An event of the file system only triggers a new listing, which is compared with the previous one.
So exclusions, links and moved folders are treated as in indexing, and a missed event loses no
change.
"""

from __future__ import annotations

import os
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kbx_tui.config import Settings
from kbx_tui.editing.state_files import write_atomically
from kbx_tui.errors import KbxError, NotFound, WriteFault
from kbx_tui.index.excluded_files import excluded_files, template_problems
from kbx_tui.index.store import Store
from kbx_tui.knowledge.decoding import content_hash
from kbx_tui.knowledge.records import Problem
from kbx_tui.knowledge.vault import (
    CONFIG_NAME,
    SUPPRESSION_FILES,
    VaultFile,
    Walk,
    locate,
    read_page,
    suppression_problems,
    walk,
    walked_folder,
)
from kbx_tui.removal import STATE_FOLDER
from kbx_tui.state_file import read_regular_file
from kbx_tui.system import HAS_UNIX


@dataclass(slots=True)
class Changes:
    hashes: dict[str, str]
    indexed: dict[str, str]
    files: dict[str, Path]
    """Absolute path by path; the spelling on disk may differ."""
    added: list[str]
    changed: list[str]
    deleted: list[str]
    moved: int
    """Number of deleted paths whose content reappears at an added path."""
    problems: list[Problem]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)


def find_changes(
    root: Path, store: Store, settings: Settings, only: Collection[str] | None = None
) -> Changes:
    """Compare the files, or `only` those at these paths, with the index; reads each of them."""
    indexed = store.mapping("documents", "path", "content_hash") if store.exists() else {}
    excluded = excluded_files(root, settings.index)
    walked = walk(root, excluded) if only is None else _located(root, only)
    problems, hashes = list(walked.problems), dict(indexed) if only is not None else {}
    problems += [*suppression_problems(root), *template_problems(root, settings.index)]
    for path in only or ():
        hashes.pop(path, None)
    known = FileHashes(root)
    for file in walked.files:
        try:
            hashes[file.path] = known.read(file.path, file.absolute)
        except OSError as error:
            problems.append(unreadable(file.path, error))
    known.save(hashes)
    return _compare(hashes, indexed, walked, problems)


def find_public_changes(root: Path, store: Store, public: Store) -> Changes:
    """Compare the public index with what the index `store` notes of the public pages."""
    hashes = store.mapping("documents", "path", "public_hash", "public_hash != ''")
    indexed = public.mapping("documents", "path", "content_hash")
    differing = [path for path in hashes if indexed.get(path) != hashes[path]]
    return _compare(hashes, indexed, _located(root, differing), [])


def _compare(
    hashes: dict[str, str], indexed: dict[str, str], walked: Walk, problems: list[Problem]
) -> Changes:
    added = [path for path in hashes if path not in indexed]
    deleted = [path for path in indexed if path not in hashes]
    added_hashes = Counter(hashes[path] for path in added)
    deleted_hashes = Counter(indexed[path] for path in deleted)
    return Changes(
        hashes=hashes,
        indexed=indexed,
        files={file.path: file.absolute for file in walked.files},
        added=added,
        changed=[path for path in hashes if path in indexed and indexed[path] != hashes[path]],
        deleted=deleted,
        moved=(added_hashes & deleted_hashes).total(),
        problems=problems,
    )


def unreadable(path: str, error: OSError) -> Problem:
    return Problem(path, f"cannot be read: {error.strerror}", skipped=True)


def _located(root: Path, paths: Collection[str]) -> Walk:
    files = []
    for path in sorted(paths):
        with suppress(OSError, ValueError):
            files.append(VaultFile(path, locate(root, path)))
    return Walk(tuple(files), ())


FILE = Path(STATE_FOLDER, "file-hashes.json")

TICK_NS, COARSE_TICK_NS = 100_000_000, 2_000_000_000
"""Longest clock tick, in ns, of file systems with sub-second times and with whole seconds."""

Stamp = tuple[int, int, int, int]

_DECODER = msgspec.json.Decoder(dict[str, tuple[Stamp, str]])


class FileHashes:
    def __init__(self, root: Path) -> None:
        self._file = root / FILE
        self._known = _read(self._file)
        self._is_changed = False

    def hash_of(self, path: str, file: str | Path) -> str:
        """Return the content hash of a file, read only if it may have changed. Raises OSError."""
        stamp = _stamp(file)
        known = self._known.get(path)
        return known[1] if known and known[0] == stamp else self._read(path, file, stamp)

    def read(self, path: str, file: str | Path) -> str:
        return self._read(path, file, _stamp(file))

    def save(self, paths: Collection[str]) -> None:
        """Remember the hashes of these paths for other processes. Write errors are ignored."""
        kept = {path: known for path, known in self._known.items() if path in paths}
        if (self._is_changed or len(kept) < len(self._known)) and self._file.parent.is_dir():
            text = msgspec.json.encode(kept)
            with suppress(WriteFault):
                write_atomically(self._file, content_hash(text).encode() + b"\n" + text)
            self._is_changed = False

    def _read(self, path: str, file: str | Path, stamp: Stamp) -> str:
        """Hash a file; `stamp` was taken before, so that a change meanwhile is noticed later."""
        now = time.time_ns()
        digest = content_hash(read_page(Path(file), path))
        known = self._known.pop(path, None)
        if _is_settled(stamp, now):
            self._known[path] = stamp, digest
        self._is_changed |= known != self._known.get(path)
        return digest


def _stamp(file: str | Path) -> Stamp:
    status = os.stat(file)  # noqa: PTH116 - faster than Path
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _is_settled(stamp: Stamp, now: int) -> bool:
    """Return whether a later change must get another time. Windows has no change time."""
    modified, _, _, changed = stamp
    last = changed if HAS_UNIX else max(modified, changed)
    tick = TICK_NS if last % 1_000_000_000 else COARSE_TICK_NS
    return last + tick < now


def _read(file: Path) -> dict[str, tuple[Stamp, str]]:
    with suppress(OSError, ValueError, msgspec.MsgspecError, RecursionError):
        digest, _, text = read_regular_file(file).partition(b"\n")
        if digest == content_hash(text).encode():
            return _DECODER.decode(text)
    return {}


Seen = tuple[int, int, int]
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
        self._listed = self._list()
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
        before, self._listed = self._listed, self._list()
        differing = {path for path, _ in before.items() ^ self._listed.items()}
        return frozenset(differing | (touched & self._listed.keys()))

    def _list(self) -> dict[str, Seen]:
        walked = walk(self._root, self._exclude)
        stamps = {file.path: _seen(file.absolute) for file in (*walked.files, *walked.gitignores)}
        stamps |= self._poll()
        return {path: stamp for path, stamp in stamps.items() if stamp is not None}

    def _poll(self) -> dict[str, Seen | None]:
        return {path: _seen(self._root / path) for path in POLLED_FILES}

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


def _seen(file: Path) -> Seen | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
