"""Bodies of all documents in a few arrays, from which snippets are cut without reading a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Body = tuple[str, int]
"""The text below the frontmatter, and the 1-based line of the file where it starts."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """All bodies, concatenated. Read-only."""

    versions: NDArray[np.bytes_]
    """Version of each document, shape (documents,)."""
    utf8: NDArray[np.uint8]
    """The text of all bodies, in UTF-8."""
    starts: NDArray[np.int64]
    """Where each body starts in `utf8`, shape (documents + 1,)."""
    first_lines: NDArray[np.int32]
    """Line of its file where each body starts, shape (documents,)."""

    def __getitem__(self, doc_id: int) -> Body:
        text = self.utf8[self.starts[doc_id] : self.starts[doc_id + 1]]
        return text.tobytes().decode(), int(self.first_lines[doc_id])


def make_bodies(documents: Iterable[tuple[str, str, int]]) -> Bodies:
    """Return the bodies of documents, each given as (version, body, first line)."""
    rows = [(version.encode(), body.encode("utf-8", "replace"), line)
            for version, body, line in documents]  # fmt: skip
    versions, texts, lines = zip(*rows, strict=True) if rows else ((), (), ())
    return Bodies(
        versions=np.array(versions, dtype=np.bytes_),
        utf8=np.frombuffer(b"".join(texts), np.uint8),
        starts=np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64))),
        first_lines=np.array(lines, np.int32),
    )
