"""Arrays in one file that is mapped into memory: what can be made anew from the tables, kept."""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

ALIGNED = 64
"""Bytes each array begins at a multiple of."""


def write_arrays(file: Path, kind: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays of one dimension: a reader sees the old file or the new one, never a part.

    `kind` says what they are and in which layout. Raises OSError.
    """
    listed, at = {}, 0
    for name, array in arrays.items():
        listed[name] = [array.dtype.str, len(array), at]
        at += -(-array.nbytes // ALIGNED) * ALIGNED
    header = f"{kind}\n{json.dumps(listed)}\n".encode()
    part = file.with_name(f"{file.name}.{uuid4().hex}")
    try:
        with part.open("wb") as out:
            out.write(header + b"\0" * (-len(header) % ALIGNED))
            for array in arrays.values():
                out.write(np.ascontiguousarray(array).data)
                out.write(b"\0" * (-array.nbytes % ALIGNED))
            out.flush()
            os.fsync(out.fileno())
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def read_arrays(file: Path, kind: str) -> dict[str, NDArray[Any]] | None:
    """Map a file into memory; None when there is none, or it is not whole and of this kind."""
    try:
        with file.open("rb") as source:
            if source.readline().decode() != f"{kind}\n":
                return None
            listed: dict[str, list[Any]] = json.loads(source.readline())
            begin = -(-source.tell() // ALIGNED) * ALIGNED
            mapped = mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)
        return {
            name: np.frombuffer(mapped, np.dtype(type_), size, begin + at)
            for name, (type_, size, at) in listed.items()
        }
    except (OSError, ValueError, TypeError):
        return None
