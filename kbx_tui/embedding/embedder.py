"""What the rest of the house knows of an embedding model. Needs numpy and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One unit vector: shape (dimension,)."""

Vectors = NDArray[np.float32]
"""Unit vectors, one per row: shape (n, dimension), row i belongs to text i."""


class Embedder(Protocol):
    """Turns text into unit vectors; safe to call from several threads.

    Every member but ``model`` may load the model, and so raise EmbeddingError.
    """

    @property
    def model(self) -> str:
        """Stable name, stored with the index: vectors of two names are not comparable."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens a chunk may have, at most 256, the two special ones included."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one float32 unit vector per text, (n, dimension), in order; n = 0 included.

        What a text holds beyond the model's length is cut.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """Return the float32 unit vector of a query, tuned for a quick answer to one text."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return per text its number of tokens, without special ones and untruncated."""
        ...
