"""Files of named arrays, memory-mapped for reading, and digests of files.

Format: a line with the format tag; the arrays, each at a multiple of 64 bytes; JSON with dtype,
shape and offset of each array; the size of the JSON in 4 bytes; the digest of all preceding bytes
in 4 bytes. Arrow IPC was considered but is slower for this (docs/decisions/derived-files.md).

A digest is the CRC-32 of the bytes: it detects any flipped bit, and processors compute it as fast
as they read. It begins with a secret of the index (`digest_seed`), so nobody else can write a file
that passes. Even so, checking it every time would mean reading the whole index for each command. So
the file `VERIFIED` in the index folder keeps the state (see `FileState`) in which each file last
matched its digest: a changed file has another state. Losing `VERIFIED` costs one comparison.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from io import BufferedRandom, BufferedReader
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kbx_tui.index.ownership import digest_seed
from kbx_tui.state_file import decode_json, open_regular_file, read_regular_file, replace_file

ALIGNMENT = 64
END = struct.Struct("<II")
ZEROS = bytes(1 << 20)
BLOCK = 1 << 20
COPIED = 8 << 20
"""Bytes up to which a file is read instead of mapped: cutting it off then harms no reader."""

Shape = tuple[int, ...]
Directory = dict[str, tuple[str, Shape, int]]
"""Dtype, shape and offset of each array, by name."""
Arrays = dict[str, NDArray[Any]]


class Damaged(Exception):
    """A file does not contain the bytes that were written."""


def map_arrays(folder: Path, name: str, format_tag: str) -> Arrays | None:
    """Return the arrays of a file, mapped unless it is small. Raises Damaged.

    None if it is missing or of another format.
    """
    try:
        with open_regular_file(folder / name) as source:
            state = state_of(source.fileno())
            source.seek(max(state[1] - END.size, 0))
            _, digest = END.unpack(source.read())
            verified = verified_files(str(folder))
            if not verified.holds(name, state, digest):
                if digest_of_part(source, state[1] - 4, digest_seed(folder)) != digest:
                    raise Damaged
                verified.add(name, state, digest)
                verified.keep()
            return map_unverified(source, format_tag)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, ArithmeticError, MemoryError, struct.error) as error:
        raise Damaged from error


def map_unverified(source: BufferedReader | BufferedRandom, format_tag: str) -> Arrays | None:
    length = state_of(source.fileno())[1]
    if length <= COPIED:
        mapped = _copy(source, length)
    else:
        mapped = memoryview(mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ))
    if mapped[: len(format_tag) + 1] != f"{format_tag}\n".encode():
        return None
    size, _ = END.unpack(mapped[-END.size :])
    directory = decode_json(bytes(mapped[-END.size - size : -END.size]), Directory)
    return {
        name: np.frombuffer(mapped, np.dtype(dtype), prod(shape), offset).reshape(shape)
        for name, (dtype, shape, offset) in directory.items()
    }


def _copy(source: BufferedReader | BufferedRandom, length: int) -> memoryview:
    """Return the bytes of a file, aligned as in a mapping: sums may depend on that."""
    buffer = np.empty(length + ALIGNMENT, np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    copy = buffer.data[start : start + length]
    source.seek(0)
    if source.readinto(copy) != length:
        raise ValueError("it was cut off")
    return copy.toreadonly()


class ArrayWriter:
    """Writes the arrays of one file in pieces, so none need fit in memory. Raises OSError."""

    def __init__(self, file: BufferedRandom, format_tag: str, seed: int = 0) -> None:
        self._file, self._directory, self._seed = file, Directory(), seed
        file.write(f"{format_tag}\n".encode())
        self._end = file.tell()

    def add(self, name: str, array: NDArray[Any]) -> None:
        self._file.seek(self._note(name, array.dtype, array.shape))
        self._file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def append(self, name: str, pieces: Iterable[NDArray[np.uint8]]) -> None:
        offset = self._note(name, np.dtype(np.uint8), ())
        self._file.seek(offset)
        size = sum(self._file.write(piece.data) for piece in pieces)
        self._directory[name] = ("|u1", (size,), offset)
        self._end = offset + size

    def map(self, name: str, dtype: DTypeLike, shape: Shape) -> NDArray[Any]:
        """Return a new array of zeros in the file, mapped for writing in any order."""
        offset = self._note(name, np.dtype(dtype), shape)
        self._file.flush()
        _allocate(self._file, offset, self._end - offset)
        if self._end == offset:
            return np.empty(shape, dtype)
        return np.memmap(self._file, dtype, "r+", offset, shape)

    def _note(self, name: str, dtype: np.dtype[Any], shape: Shape) -> int:
        offset = -(-self._end // ALIGNMENT) * ALIGNMENT
        self._directory[name] = (dtype.str, shape, offset)
        self._end = offset + dtype.itemsize * prod(shape)
        return offset

    def finish(self) -> None:
        directory = json.dumps(self._directory).encode()
        self._file.seek(self._end)
        self._file.write(directory + END.pack(len(directory), 0)[:4])
        self._file.flush()
        size = self._file.tell()
        digest = digest_of_part(self._file, size, self._seed)
        self._file.seek(size)
        self._file.write(END.pack(0, digest or 0)[4:])
        self._file.flush()


def _allocate(file: BufferedRandom, begin: int, size: int) -> None:
    """Reserve disk space for an array: writing to a mapping on a full disk kills the process."""
    if not size:
        return
    with suppress(AttributeError):  # not on macOS
        os.posix_fallocate(file.fileno(), begin, size)
        return
    file.seek(0)
    for first in range(0, size, len(ZEROS)):
        file.write(ZEROS[: size - first])
    file.flush()


VERIFIED = "VERIFIED"

FileState = tuple[int, int, int, int]
"""Inode, size, modification and change time; differs once a file is written or replaced."""

SETTLED_NS = 100_000_000
"""Age below which a state is not kept: a later write could have the same time."""

_UNWRITTEN: set[str] = set()
"""Index folders of bases that this process opened read-only; nothing is written to them."""


def digest_of_part(file: BufferedReader | BufferedRandom, size: int, seed: int) -> int | None:
    """Return the digest of the first `size` bytes of a file; None if it is shorter. Raises OSError.

    It reads instead of mapping, so that an unreadable sector raises and does not kill the process.
    """
    file.seek(0)
    buffer, digest = memoryview(bytearray(min(BLOCK, max(size, 1)))), seed
    while size > 0:
        count = file.readinto(buffer[: min(size, BLOCK)])
        if not count:
            return None
        digest, size = zlib.crc32(buffer[:count], digest), size - count
    return digest


def state_of(file: Path | str | int) -> FileState:
    status = os.stat(file)  # noqa: PTH116 - faster than Path
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class VerifiedFiles:
    """The states in which an index folder's files matched their digests. Not thread-safe."""

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)
        self._states: dict[str, list[int]] = {}
        self._is_kept = True
        with suppress(OSError, ValueError):
            data = read_regular_file(self._folder / VERIFIED)
            self._states = decode_json(data, dict[str, list[int]])

    def holds(self, name: str, state: FileState, digest: int) -> bool:
        return self._states.get(name) == [*state, digest]

    def add(self, name: str, state: FileState, digest: int) -> None:
        if state[3] < time.time_ns() - SETTLED_NS:
            self._states[name] = [*state, digest]
            self._is_kept = False

    def digests(self) -> dict[str, tuple[int, int]]:
        """Return the size and digest that each file had when it was last compared."""
        return {
            name: (values[1], values[-1]) for name, values in self._states.items() if values[4:]
        }

    def forget(self) -> None:
        self._states.clear()

    def keep(self) -> None:
        """Write new states to the folder; errors are ignored."""
        if self._is_kept or os.path.realpath(self._folder) in _UNWRITTEN:
            return
        self._is_kept = True
        states = dict(self._states)  # copied in one step: another thread may be adding to it
        self._states = {k: v for k, v in states.items() if (self._folder / k).exists()}
        with suppress(OSError):
            replace_file(self._folder / VERIFIED, json.dumps(dict(self._states)).encode())


def leave_unwritten(folder: str) -> None:
    _UNWRITTEN.add(os.path.realpath(folder))


verified_files = lru_cache(maxsize=8)(VerifiedFiles)
