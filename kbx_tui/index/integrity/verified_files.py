"""Digests of files, each compared once per state of its file.

A digest is the CRC-32 of the bytes: it finds every flipped bit, and processors compute it as fast
as they read. Even so, every command would read the whole index only to compare. So the states in
which files had their digest are kept in the file `VERIFIED` of the index folder: what changes a
file changes its state. Losing `VERIFIED` costs one comparison.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from contextlib import suppress
from functools import lru_cache
from io import BufferedRandom, BufferedReader
from pathlib import Path
from uuid import uuid4

from kbx_tui.removal import remove_temporary
from kbx_tui.state_file import decode_json, read_regular_file

VERIFIED = "VERIFIED"

FileState = tuple[int, int, int, int]
"""Inode, size, modification and change time: differs when a file was written or replaced."""

SETTLED_NS = 100_000_000
"""Age below which a state is not kept: another write could have the same time."""

_UNWRITTEN: set[str] = set()
"""Index folders of bases that this process has open for reading only."""

BLOCK = 1 << 20
"""Bytes read at a time."""


def digest_of(data: bytes | memoryview) -> int:
    """Return the digest of some bytes: 0 to 2^32 - 1."""
    return zlib.crc32(data)


def digest_of_part(file: BufferedReader | BufferedRandom, begin: int, size: int) -> int | None:
    """Return the digest of `size` bytes of a file; None when it ends before. Raises OSError.

    Reads instead of mapping: an unreadable sector is an error, not the end of the process.
    """
    file.seek(begin)
    buffer, digest = memoryview(bytearray(min(BLOCK, max(size, 1)))), 0
    while size:
        count = file.readinto(buffer[: min(size, BLOCK)])
        if not count:
            return None
        digest, size = zlib.crc32(buffer[:count], digest), size - count
    return digest


def state_of(file: Path | str | int) -> FileState:
    """Return the state of a file, given by path or descriptor. Raises OSError."""
    status = os.stat(file)  # noqa: PTH116 - faster than Path
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class VerifiedFiles:
    """The states in which files of one index folder had their digest. Not thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._states: dict[str, list[int]] = {}
        self._is_kept = True
        with suppress(OSError, ValueError):
            data = read_regular_file(folder / VERIFIED)
            self._states = decode_json(data, dict[str, list[int]])

    def holds(self, name: str, state: FileState, digest: int) -> bool:
        """Return whether the file had this digest in this state."""
        return self._states.get(name) == [*state, digest]

    def add(self, name: str, state: FileState, digest: int) -> None:
        """Note that a file has this digest in this state."""
        if state[3] < time.time_ns() - SETTLED_NS:
            self._states[name] = [*state, digest]
            self._is_kept = False

    def digests(self) -> dict[str, tuple[int, int]]:
        """Return the size and digest that each file had when it was last compared."""
        return {
            name: (values[1], values[-1]) for name, values in self._states.items() if values[4:]
        }

    def forget(self) -> None:
        """Forget all states, so that every file is compared again."""
        self._states.clear()

    def keep(self) -> None:
        """Write new states to the folder; a folder that cannot be written is left as it is."""
        if self._is_kept or os.path.realpath(self._folder) in _UNWRITTEN:
            return
        self._is_kept = True
        states = dict(self._states)  # one step: another thread may be adding to it
        present = {name: state for name, state in states.items() if self._exists(name)}
        temporary = self._folder / f"{VERIFIED}.{uuid4().hex}"
        with suppress(OSError):
            try:
                temporary.write_bytes(json.dumps(present).encode())
                temporary.replace(self._folder / VERIFIED)
            finally:
                remove_temporary(temporary)

    def _exists(self, name: str) -> bool:
        return (self._folder / name).exists()


def leave_unwritten(folder: str) -> None:
    """Keep nothing in an index folder from now on: its base is open for reading only."""
    _UNWRITTEN.add(os.path.realpath(folder))


@lru_cache(maxsize=8)
def verified_files(folder: str) -> VerifiedFiles:
    """Return the verified files of an index folder, read once per process."""
    return VerifiedFiles(Path(folder))
