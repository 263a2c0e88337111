"""The vectors of texts, of which the recent ones are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Embedder

VECTOR_CACHE_SIZE = 1024
"""Vectors kept: while one draft is edited, the others do not change."""


class TextVectors:
    """Embeds texts, each once while it is recent."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vector_of: dict[str, NDArray[np.float32]] = {}

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each text, shape (texts, dimension). Raises EmbeddingError."""
        new = sorted({text for text in texts if text not in self._vector_of})
        if new:
            self._vector_of |= zip(new, self._embedder.embed(new), strict=True)
        vectors = [self._vector_of[text] for text in texts]
        while len(self._vector_of) > VECTOR_CACHE_SIZE:
            del self._vector_of[next(iter(self._vector_of))]
        return np.stack(vectors) if vectors else np.zeros((0, self._embedder.dimension), np.float32)
