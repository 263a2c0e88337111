"""A worker process of Ray: one model session, which uses one thread, and the tasks of a build."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kbx_tui import __version__
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.index.build.workers import Task


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What must be the same for all workers, and where one is."""

    host: str
    version: str
    """Of this package."""
    model: str
    """Name of the embedding model, which differs for models with different vectors."""
    uses_int8: bool
    """How the bundled model is computed on this processor, which decides the last bits."""


class RayWorker:
    """Made once in each worker process."""

    def __init__(self, model: str) -> None:
        os.environ.setdefault("RAYON_NUM_THREADS", "1")  # of the tokenizer, not loaded yet
        self._model = model

    @cached_property
    def _embedder(self) -> Embedder:
        return open_embedder(self._model, threads=1)

    def facts(self) -> WorkerFacts:
        return facts_of(self._embedder)

    def run(self, task: Task[Any, Any], argument: Any) -> Any:
        return task(self._embedder, argument)


def facts_of(embedder: Embedder) -> WorkerFacts:
    """Return the facts of this process with its embedder."""
    from kbx_tui.embedding.pooled import prefers_int8

    return WorkerFacts(platform.node(), __version__, embedder.model, prefers_int8())
