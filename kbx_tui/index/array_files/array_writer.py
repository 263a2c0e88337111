"""Writing of a file of arrays in pieces, so that no array need be in memory."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from io import BufferedRandom
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kbx_tui.index.array_files.array_format import aligned, header_bytes
from kbx_tui.index.integrity.verified_files import digest_of_part

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
