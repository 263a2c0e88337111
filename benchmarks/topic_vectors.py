"""Made-up vectors with the structure of real ones, for bases that no model has read.

Vectors of a model are not random: they share a mean direction, vary along few directions, and
those of one document are alike. So are these: a vector is the mean, the direction of a topic and
noise of its own, both with a variance that falls as 1 / (n + 4) along the n-th axis. Topics follow
a Zipf distribution. The figures are those of the bundled model on the six labelled sets of
docs/quality.md, 34,267 chunks: length of the mean .37, shares of the variance along the first
1, 10, 50 and 200 axes .06, .28, .59 and .93, median cosine of two chunks .13.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Embedder, Vector, Vectors
from kbx_tui.index.tables import text_hash

DIMENSION, TOPICS = 384, 4000
MEAN_LENGTH, OWN_SHARE, QUERY_SHARE = 0.37, 0.5, 0.7
"""Length of the mean, and the share of the variance that is noise, in texts and in queries."""
SEED = 22


class TopicVectors:
    """Draws vectors near the directions of topics; the same in every run."""

    def __init__(self) -> None:
        seeded = np.random.default_rng(SEED)
        variance = 1.0 / (np.arange(DIMENSION) + 4.0)
        self._deviation = np.sqrt(variance / variance.sum()).astype(np.float32)
        axes = seeded.standard_normal((DIMENSION, DIMENSION), dtype=np.float32)
        self._axes, _ = np.linalg.qr(axes)
        mean = seeded.standard_normal(DIMENSION, dtype=np.float32)
        self._mean = MEAN_LENGTH * mean / np.linalg.norm(mean)
        self._topics = self._noise(TOPICS, seeded)
        self._random = np.random.default_rng(SEED + 1)

    def near(self, sources: Sequence[str], own: float = OWN_SHARE) -> Vectors:
        """Return a new vector for each source; those of one source, a hash, share a topic."""
        return self._drawn(sources, own, self._random)

    def query(self, text: str) -> Vector:
        """Return the vector of a query, the same whenever it is asked for."""
        source = text_hash(text)
        vector: Vector = self._drawn(
            [source], QUERY_SHARE, np.random.default_rng(int(source[:12], 16))
        )[0]
        return vector

    def _drawn(self, sources: Sequence[str], own: float, random: np.random.Generator) -> Vectors:
        places = np.array([int(source[:12], 16) for source in sources]) / 16.0**12
        topics = self._topics[np.exp(places * np.log(TOPICS)).astype(np.int64) - 1]
        noise = self._noise(len(sources), random)
        varied = np.sqrt(1.0 - own) * topics + np.sqrt(own) * noise
        vectors = self._mean + np.sqrt(1.0 - MEAN_LENGTH**2) * (varied @ self._axes)
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("float32")
        return unit

    def _noise(self, count: int, random: np.random.Generator) -> NDArray[np.float32]:
        drawn = random.standard_normal((count, DIMENSION), dtype=np.float32)
        noise: NDArray[np.float32] = drawn * self._deviation
        return noise


class TopicQueries:
    """An embedder whose queries lie near the topics; it takes the time of the model it wraps."""

    def __init__(self, model: Embedder) -> None:
        self._model, self._vectors = model, TopicVectors()
        self.model, self.dimension = model.model, model.dimension
        self.max_tokens = model.max_tokens

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._vectors.near([text_hash(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        self._model.embed_query(text)
        return self._vectors.query(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._model.count_tokens(texts)
