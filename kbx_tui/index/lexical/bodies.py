"""Bodies of all documents in a few arrays, from which snippets are cut without reading a table.

Each is compressed with LZ4: half the bytes, and about as fast to expand as to decode.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        block = self.compressed[self.starts[doc_id] : self.starts[doc_id + 1]]
        text = _lz4().decompress(block, int(self.sizes[doc_id]), asbytes=True)
        return text.decode(), int(self.first_lines[doc_id])


def make_bodies(documents: Iterable[tuple[str, str, int]]) -> Bodies:
    """Return the bodies of documents, each given as (version, body, first line)."""
    rows = [(version.encode(), body.encode("utf-8", "replace"), line)
            for version, body, line in documents]  # fmt: skip
    versions, texts, lines = zip(*rows, strict=True) if rows else ((), (), ())
    blocks = [_lz4().compress(text, asbytes=True) for text in texts]
    return Bodies(
        versions=np.array(versions, dtype=np.bytes_),
        compressed=np.frombuffer(b"".join(blocks), np.uint8),
        starts=np.concatenate(([0], np.cumsum([len(block) for block in blocks], dtype=np.int64))),
        sizes=np.array([len(text) for text in texts], np.int32),
        first_lines=np.array(lines, np.int32),
    )


@cache
def _lz4() -> Any:
    import pyarrow as pa  # slow to import; reading a snapshot has done so before

    return pa.Codec("lz4_raw")
