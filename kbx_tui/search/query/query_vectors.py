"""Vectors of queries, each embedded once, in the background while other stages run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

from kbx_tui.embedding.embedder import Embedder, Vector
from kbx_tui.errors import EmbeddingError
from kbx_tui.search.lru_cache import LruCache

KEPT = 256
HAND_OVER = 0.05
"""Maximum time in seconds to wait for a thread to start embedding; it usually starts at once."""

THREADS = 2
"""Texts of one search embedded at the same time: the query as typed and that of pass 2."""


class QueryVectors:
    """Embeds queries and caches the latest 256.

    Each is embedded in a run of its own: in a batch, queries would be padded to the longest, and
    the model, which uses one thread, would leave a second core idle. A vector thus depends on its
    own text alone.
    """

    def __init__(self, open_embedder: Callable[[], Embedder]) -> None:
        self._open_embedder = open_embedder
        self._futures: LruCache[str, Future[Vector]] = LruCache(KEPT)
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, text: str) -> None:
        """Start embedding a text unless it is cached. Raises EmbeddingError without a model."""
        if self._futures.get(text) is None:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(THREADS, "kbx-query")
            embedder, begun = self._open_embedder(), Event()

            def embed() -> Vector:
                begun.set()
                return embedder.embed_query(text)

            self._futures.put(text, self._threads.submit(embed))
            begun.wait(HAND_OVER)  # yields the interpreter lock, or the thread would start late

    def vector(self, text: str) -> Vector:
        """Return the vector of a text, waiting for it. Raises EmbeddingError."""
        self.begin(text)
        future = self._futures.get(text)
        assert future is not None  # begun above
        try:
            return future.result()
        except EmbeddingError:
            self._futures.drop(text)  # the next search tries again
            raise

    def known(self, text: str) -> Vector | None:
        """Return the vector of a text if it is cached or being computed, else None."""
        return self.vector(text) if self._futures.get(text) is not None else None
