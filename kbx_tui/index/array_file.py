"""Files of named arrays of one dimension, written in pieces and memory-mapped for reading.

Format: a line with the format tag; a line of JSON with the dtype, length, offset and digest of each
array; a line with the digest of the two; then the arrays, aligned to 64 bytes, at offsets from the
first of them. Spaces may follow the JSON: arrays are written before their digests are known.

A digest is the CRC-32 of the bytes: it finds every flipped bit, and processors compute it as fast
as they read. Even so, every command would read the whole index only to compare. So the states in
which files had their digest are kept in the file `VERIFIED` of the index folder: what changes a
file changes its state. Losing `VERIFIED` costs one comparison.
"""

from __future__ import annotations

import json
import mmap
import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kbx_tui.removal import remove_temporary
from kbx_tui.state_file import decode_json, read_regular_file

ALIGNMENT = 64
"""Bytes that the offset of every array is a multiple of."""

LONGEST_LINE = 1 << 16
"""Bytes read at most in search of the end of a line of the header."""

OUTDATED = (b"kbx words 1\n", b"kbx bodies 1\n", b"kbx vectors 2,")
"""How files of former versions begin, which had no digests."""

Directory = dict[str, tuple[str, int, int, int]]
"""Dtype, length, offset and digest of each array, by name."""


class Damaged(Exception):
    """A file does not have the bytes that were written."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the first lines of a file say, and where its arrays begin."""

    directory: Directory
    begin: int
    digest: int

    @classmethod
    def read(cls, source: BufferedReader, format_tag: str) -> Header | None:
        """Read the header of an open file; None for another format.

        Raises Damaged, and OSError, ValueError and TypeError for anything but a header.
        """
        described = [source.readline(LONGEST_LINE), source.readline(LONGEST_LINE)]
        digest = digest_of(b"".join(described))
        if described[0].startswith(OUTDATED):
            return None
        if source.readline(LONGEST_LINE) != f"{digest:08x}\n".encode():
            raise Damaged
        if described[0] != f"{format_tag}\n".encode():
            return None
        return cls(decode_json(described[1], Directory), aligned(source.tell()), digest)

    def map(self, source: BufferedReader) -> dict[str, NDArray[Any]]:
        """Memory-map the arrays, read-only."""
        mapped = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
        return {
            name: np.frombuffer(mapped, np.dtype(dtype), length, self.begin + offset)
            for name, (dtype, length, offset, _) in self.directory.items()
        }


def header_bytes(format_tag: str, directory: Directory, begin: int = 0) -> bytes:
    """Return a header after which arrays begin at `begin`, or as early as possible."""
    described = f"{format_tag}\n{json.dumps(directory)}\n".encode()
    size = len(described) + len("00000000\n")
    if aligned(size) < begin:
        described = described[:-1] + b" " * (begin - size) + b"\n"
    header = described + f"{digest_of(described):08x}\n".encode()
    return header.ljust(aligned(len(header)), b"\0")


def map_arrays(folder: Path, name: str, format_tag: str) -> dict[str, NDArray[Any]]:
    """Memory-map the arrays of a file; none when it is missing or of another format.

    Raises Damaged unless header and arrays have their digests.
    """
    try:
        with (folder / name).open("rb") as source:
            if (header := Header.read(source, format_tag)) is None:
                return {}
            _verify(folder, name, source, header)
            return header.map(source)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise Damaged from error


def map_unverified(file: Path, format_tag: str) -> dict[str, NDArray[Any]]:
    """Memory-map the arrays of a file that this process has just written. Raises OSError."""
    with file.open("rb") as source:
        header = Header.read(source, format_tag)
        return {} if header is None else header.map(source)


def _verify(folder: Path, name: str, source: BufferedReader, header: Header) -> None:
    """Raise Damaged unless every array has its digest, compared once per state of the file."""
    verified, state = verified_files(str(folder)), state_of(source.fileno())
    if verified.holds(name, state, header.digest):
        return
    for dtype, length, offset, digest in header.directory.values():
        size = np.dtype(dtype).itemsize * length
        if digest_of_part(source, header.begin + offset, size) != digest:
            raise Damaged
    verified.add(name, state, header.digest)
    verified.keep()


def aligned(size: int) -> int:
    """Return `size` rounded up to the alignment of the arrays."""
    return -(-size // ALIGNMENT) * ALIGNMENT


LARGEST = ("|S9999", 10**15, 10**15, 10**10)
"""An entry of the directory that no array has a longer one than: the header has room for it."""

ZEROS = bytes(1 << 20)


class ArrayPart:
    """One array of a file, written from its begin to its end."""

    def __init__(self, file: BufferedRandom, begin: int, dtype: DTypeLike, length: int | None):
        self._file, self._begin = file, begin
        self.dtype, self._declared = np.dtype(dtype), length
        self._size, self._digest = 0, 0

    def append(self, piece: NDArray[Any]) -> None:
        """Write the numbers that follow. Raises OSError."""
        data = np.ascontiguousarray(piece, self.dtype).reshape(-1).view(np.uint8).data
        self._digest = zlib.crc32(data, self._digest)
        self._file.seek(self._begin + self._size)
        self._file.write(data)
        self._size += len(data)

    def reserved(self) -> int:
        """Return the bytes of the array: those declared, or those written so far."""
        if self._declared is None:
            return self._size
        return self._declared * self.dtype.itemsize

    def entry(self) -> tuple[int, int]:
        """Return the bytes and the digest of the finished array. Raises ValueError before."""
        if self._size != self.reserved():
            raise ValueError(f"{self._size} of {self.reserved()} bytes of an array were written")
        return self._size, self._digest


class MappedPart(ArrayPart):
    """One array of a file, written in any order through a mapping; zeros at first."""

    def __init__(self, file: BufferedRandom, begin: int, dtype: DTypeLike, length: int):
        super().__init__(file, begin, dtype, length)
        file.flush()
        _allocate(file, begin, self.reserved())
        self.array: NDArray[Any] = (
            np.memmap(file, self.dtype, "r+", begin, (length,)) if length else np.empty(0, dtype)
        )

    def entry(self) -> tuple[int, int]:
        """Return the bytes and the digest of the array as it is now. Raises OSError."""
        return self.reserved(), digest_of_part(self._file, self._begin, self.reserved()) or 0


class ArrayWriter:
    """Writes the arrays of one file, in the order in which they are begun.

    Those of a declared length may be written at the same time; one without must be complete before
    the next is begun. `finish` makes the file whole. All methods raise OSError.
    """

    def __init__(self, file: BufferedRandom, format_tag: str, names: Mapping[str, str]) -> None:
        """`names` are those of the arrays in the file, by the names used here."""
        self._file, self._format_tag, self._names = file, format_tag, names
        self._parts: dict[str, tuple[int, ArrayPart]] = {}
        self._begin = len(header_bytes(format_tag, dict.fromkeys(names.values(), LARGEST)))

    def add(self, name: str, array: NDArray[Any]) -> None:
        """Write an array of one dimension at once."""
        self.begin(name, array.dtype, len(array)).append(array)

    def begin(self, name: str, dtype: DTypeLike, length: int | None = None) -> ArrayPart:
        """Begin an array that is written in pieces."""
        offset = self._next_offset()
        part = ArrayPart(self._file, self._begin + offset, dtype, length)
        self._parts[self._names[name]] = offset, part
        return part

    def map(self, name: str, dtype: DTypeLike, length: int) -> NDArray[Any]:
        """Return an array of the file, mapped for writing, zeros at first."""
        offset = self._next_offset()
        part = MappedPart(self._file, self._begin + offset, dtype, length)
        self._parts[self._names[name]] = offset, part
        return part.array

    def _next_offset(self) -> int:
        if not self._parts:
            return 0
        offset, part = next(reversed(self._parts.values()))
        return offset + aligned(part.reserved())

    def finish(self) -> None:
        """Write the header, with the digests."""
        self._file.flush()
        directory = {}
        for name, (offset, part) in self._parts.items():
            size, digest = part.entry()
            directory[name] = (part.dtype.str, size // part.dtype.itemsize, offset, digest)
        self._file.seek(0)
        self._file.write(header_bytes(self._format_tag, directory, self._begin))
        self._file.truncate(self._begin + self._next_offset())
        self._file.flush()


def _allocate(file: BufferedRandom, begin: int, size: int) -> None:
    """Make room for an array: writing to a mapping must not be what finds the disk full."""
    if not size:
        return
    with suppress(AttributeError):  # not on macOS
        os.posix_fallocate(file.fileno(), begin, size)
        return
    file.seek(begin)
    for first in range(0, size, len(ZEROS)):
        file.write(ZEROS[: size - first])
    file.flush()


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
