"""Vectors of queries: each embedded once, at the side of what needs no vector."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

from kbx_tui.embedding.embedder import Embedder, Vector
from kbx_tui.errors import EmbeddingError
from kbx_tui.search.lru_cache import Recent

KEPT = 256
HAND_OVER = 0.05
"""Seconds at most until a thread that is asked to embed begins: usually .0001."""

WORDINGS = 2
"""Texts of one search that are embedded at once: the query as typed and the one of pass 2."""


class QueryVectors:
    """Embeds queries, the latest 256 of which are known.

    Each is a run of its own: two wordings in one batch would be padded to the longer, and the
    model, which takes one thread, leaves a second processor idle. So a vector depends on its own
    text alone.
    """

    def __init__(self, open_embedder: Callable[[], Embedder]) -> None:
        self._open_embedder = open_embedder
        self._known: Recent[str, Future[Vector]] = Recent(KEPT)
        self._threads: ThreadPoolExecutor | None = None

    def begin(self, text: str) -> None:
        """Start embedding a text, unless it is known. Raises EmbeddingError for a missing model."""
        if self._known.get(text) is None:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(WORDINGS, "kbx-query")
            embedder, begun = self._open_embedder(), Event()

            def embed() -> Vector:
                begun.set()
                return embedder.embed_query(text)

            self._known.put(text, self._threads.submit(embed))
            begun.wait(HAND_OVER)  # else the thread would wait until this one pauses by itself

    def vector(self, text: str) -> Vector:
        """Return the vector of a text, waiting for it. Raises EmbeddingError."""
        self.begin(text)
        started = self._known.get(text)
        assert started is not None  # just begun
        try:
            return started.result()
        except EmbeddingError:
            self._known.drop(text)  # the next search tries anew
            raise

    def known(self, text: str) -> Vector | None:
        """Return the vector of a text that was embedded before."""
        return self.vector(text) if self._known.get(text) is not None else None
