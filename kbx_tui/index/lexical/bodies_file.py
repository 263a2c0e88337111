"""Texts of documents for snippets, from a file mapped into memory.

Reading ten bodies from a table takes 2 ms and more on a busy machine, from here nothing. A cache
like the postings it lies beside: what it does not know by its version is read from the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.mmap_arrays import read_arrays, write_arrays

FORMAT = "kbx bodies 1"

Body = tuple[str, int]
"""The text below the frontmatter, and the line of the file where it starts."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """All bodies, one after the other. Read-only."""

    names: NDArray[np.bytes_]
    """What each document is known by, shape (documents,)."""
    letters: NDArray[np.uint8]
    """UTF-8."""
    starts: NDArray[np.int64]
    """Where each body begins in `letters`, shape (documents + 1,)."""
    lines: NDArray[np.int32]
    """Line of its file where each body starts."""

    def __getitem__(self, slot: int) -> Body:
        part = self.letters[self.starts[slot] : self.starts[slot + 1]]
        return part.tobytes().decode(), int(self.lines[slot])


def write_bodies(file: Path, found: Iterable[tuple[str, str, int]]) -> None:
    """Write name, body and first line of documents, in one step. Raises OSError."""
    rows = [(name.encode(), body.encode("utf-8", "replace"), line) for name, body, line in found]
    names, texts, lines = zip(*rows, strict=True) if rows else ((), (), ())
    made = Bodies(
        names=np.array(names, dtype=np.bytes_),
        letters=np.frombuffer(b"".join(texts), np.uint8),
        starts=np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64))),
        lines=np.array(lines, np.int32),
    )
    write_arrays(file, FORMAT, {field.name: getattr(made, field.name) for field in fields(Bodies)})


def read_bodies(file: Path) -> Bodies | None:
    """Map a file of bodies into memory; None when there is none, or it is not whole and ours."""
    arrays = read_arrays(file, FORMAT)
    if arrays is None or arrays.keys() != {field.name for field in fields(Bodies)}:
        return None
    return Bodies(**arrays)
