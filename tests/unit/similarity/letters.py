"""An embedder one can compute: the vector of a text counts its letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kbx_tui.embedding.embedder import Vector, Vectors


class Letters:
    """Counts a to z; texts with the same letters have cosine 1, without a common one 0."""

    model = "letters"
    dimension = 27
    max_tokens = 256

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        counts = np.zeros((len(texts), 27), np.float32)
        for row, text in enumerate(texts):
            for letter in text.lower():
                at = ord(letter) - ord("a")
                counts[row, at if 0 <= at < 26 else 26] += 1
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        unit: Vectors = counts / np.maximum(lengths, 1e-9)
        return unit

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]
