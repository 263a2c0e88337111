"""Content hashes of files, remembered with what the file system says of each file.

A file whose modification time, size, inode and change time are as remembered is not read again.
Programs can set a modification time but no change time, so a rewrite of the same size with the old
time is noticed. A file that changed just before it was read is not remembered: a later change could
have the same time, by the tick of the file system's clock. The file is a cache with a digest of its
content; without it, files are read again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import msgspec

from kbx_tui.editing.atomic_write import write_atomically
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.parsing.decoding import content_hash
from kbx_tui.knowledge.vault import read_page
from kbx_tui.state_file import read_regular_file

FILE = Path(".kbx", "file-hashes.json")
"""Relative to the root."""

TICK_NS, COARSE_TICK_NS = 100_000_000, 2_000_000_000
"""Longest tick of a file system with fractions of a second, and of one with whole seconds."""

Stamp = tuple[int, int, int, int]
"""Modification time, size, inode and change time."""

_DECODER = msgspec.json.Decoder(dict[str, tuple[Stamp, str]])


class FileHashes:
    """The remembered hashes of one base, by the paths of documents."""

    def __init__(self, root: Path) -> None:
        self._file = root / FILE
        self._known = _read(self._file)
        self._is_changed = False

    def hash_of(self, path: str, file: str | Path) -> str:
        """Return the content hash of a file, which is read if it may have changed.

        Raises OSError.
        """
        stamp = _stamp(file)
        known = self._known.get(path)
        return known[1] if known and known[0] == stamp else self._read(path, file, stamp)

    def read(self, path: str, file: str | Path) -> str:
        """Return the content hash of a file, read in any case. Raises OSError."""
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
        """`stamp` is older than what is read: a change in between differs from it."""
        now = time.time_ns()
        digest = content_hash(read_page(Path(file)))
        known = self._known.pop(path, None)
        if _is_settled(stamp, now):
            self._known[path] = stamp, digest
        self._is_changed |= known != self._known.get(path)
        return digest


def _stamp(file: str | Path) -> Stamp:
    status = os.stat(file)  # noqa: PTH116 - faster than Path
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns


def _is_settled(stamp: Stamp, now: int) -> bool:
    """Return whether any later change gets another time. On Windows there is no change time."""
    modified, _, _, changed = stamp
    last = changed if os.name == "posix" else max(modified, changed)
    tick = TICK_NS if last % 1_000_000_000 else COARSE_TICK_NS
    return last + tick < now


def _read(file: Path) -> dict[str, tuple[Stamp, str]]:
    with suppress(OSError, ValueError, msgspec.MsgspecError, RecursionError):
        digest, _, text = read_regular_file(file).partition(b"\n")
        if digest == content_hash(text).encode():
            return _DECODER.decode(text)
    return {}
