"""Files of named arrays of one dimension, memory-mapped for reading.

Format: a line with the format tag; a line of JSON with the dtype, length, offset and digest of each
array; a line with the digest of the two; then the arrays, aligned to 64 bytes, at offsets from the
first of them. Spaces may follow the JSON: arrays are written before their digests are known.
"""

from __future__ import annotations

import json
import mmap
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.integrity.verified_files import (
    digest_of,
    digest_of_part,
    state_of,
    verified_files,
)
from kbx_tui.state_file import decode_json

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
