"""The differences between the files and the index, by content hash."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kbx_tui.config import Settings
from kbx_tui.editing.state_files import write_atomically
from kbx_tui.errors import WriteFault
from kbx_tui.index.excluded_files import excluded_files, template_problems
from kbx_tui.index.store import Store
from kbx_tui.knowledge.decoding import content_hash
from kbx_tui.knowledge.records import Problem
from kbx_tui.knowledge.vault import VaultFile, Walk, locate, read_page, suppression_problems, walk
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
