"""Bodies of all documents in a few arrays, from which snippets are cut without reading a table.

Each is compressed with LZ4: half the bytes, and about as fast to expand as to decode.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.array_files.array_writer import ArrayPart, ArrayWriter

BODY_COLUMNS = ["version", "body", "body_line"]
"""Columns of table documents that `write_bodies` needs."""

WRITTEN_AT_ONCE = 500
"""Bodies in memory at once."""

Body = tuple[str, int]
"""The text below the frontmatter, and the 1-based line of the file where it starts."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """All bodies, compressed and concatenated. Read-only."""

    versions: NDArray[np.bytes_]
    """Version of each document, shape (documents,)."""
    compressed: NDArray[np.uint8]
    """All bodies in UTF-8, each one block of LZ4."""
    starts: NDArray[np.int64]
    """Where each body starts in `compressed`, shape (documents + 1,)."""
    sizes: NDArray[np.int32]
    """Bytes of each body in UTF-8, shape (documents,)."""
    first_lines: NDArray[np.int32]
    """Line of its file where each body starts, shape (documents,)."""

    def __getitem__(self, doc_id: int) -> Body:
        starts = self.starts.data  # items and slices of arrays are slow
        block = self.compressed.data[starts[doc_id] : starts[doc_id + 1]]
        text = _lz4().decompress(block, int(self.sizes[doc_id]), asbytes=True)
        return text.decode(), int(self.first_lines[doc_id])


def write_bodies(
    file: ArrayWriter, versions: NDArray[np.bytes_], documents: Iterable[Mapping[str, Any]]
) -> None:
    """Write the bodies of documents, given by rows with `BODY_COLUMNS`. Raises OSError.

    `versions` are those of the documents, in any order. Bodies are written as they come; few are in
    memory at once.
    """
    of_documents = file.begin("versions", versions.dtype, len(versions))
    compressed = file.begin("compressed", np.uint8)
    names, lengths, sizes, lines, blocks = [], [], [], [], []
    for row in documents:
        text = row["body"].encode("utf-8", "replace")
        blocks.append(_lz4().compress(text, asbytes=True))
        names.append(row["version"].encode())
        lengths.append(len(blocks[-1]))
        sizes.append(len(text))
        lines.append(row["body_line"])
        if len(blocks) >= WRITTEN_AT_ONCE:
            _append(compressed, blocks)
    _append(compressed, blocks)
    of_documents.append(np.array(names or [], dtype=np.bytes_))
    file.add("starts", np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))
    file.add("sizes", np.array(sizes, np.int32))
    file.add("first_lines", np.array(lines, np.int32))


def _append(array: ArrayPart, blocks: list[bytes]) -> None:
    array.append(np.frombuffer(b"".join(blocks), np.uint8))
    blocks.clear()


@cache
def _lz4() -> Any:
    import pyarrow as pa  # slow to import; reading a snapshot has done so before

    return pa.Codec("lz4_raw")
