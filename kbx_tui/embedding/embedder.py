"""The Embedder protocol: all that other packages know of an embedding model. Needs numpy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One unit vector: shape (dimension,)."""

Vectors = NDArray[np.float32]
"""Unit vectors, one per row: shape (n, dimension), row i belongs to text i."""


def normalize(vectors: Vectors) -> Vectors:
    """Return the rows of ``vectors`` scaled to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit


class Embedder(Protocol):
    """Turns text into unit vectors. Thread-safe.

    Every member except ``model`` may load the model, and therefore raise EmbeddingError.
    """

    @property
    def model(self) -> str:
        """Stable name, stored with the index: vectors of different models are not comparable."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    @property
    def max_tokens(self) -> int:
        """Tokens per chunk including the two special ones, at most 256."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one float32 unit vector per text, in order: shape (n, dimension), n >= 0.

        Longer texts than the model accepts are truncated.
        """

    def embed_query(self, text: str) -> Vector:
        """Return the float32 unit vector of a query, with low latency."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, untruncated, without special tokens."""
