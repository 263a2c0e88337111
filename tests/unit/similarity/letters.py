"""An embedder simple enough to compute by hand."""

from collections.abc import Sequence

import numpy as np

from kbx_tui.embedding.embedder import Vector, Vectors


class Letters:
    """Counts the letters a to z and all others: equal counts give cosine 1, none in common 0."""

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
                column = ord(letter) - ord("a")
                counts[row, column if 0 <= column < 26 else 26] += 1
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        unit: Vectors = counts / np.maximum(lengths, 1e-9)
        return unit

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed([text])[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]
