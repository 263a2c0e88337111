"""Workers for the heavy parts of a build: parsing, chunking and embedding.

A build divides the work into tasks and writes their results. Tasks are pure, so where and in which
order they run does not matter: by default in this process, or in others (`kbx_tui/bulk/`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kbx_tui.embedding.embedder import Embedder

Input = TypeVar("Input")
Output = TypeVar("Output")

Task = Callable[[Embedder, Input], Output]
"""A pure function, defined where another process can import it."""

TEXTS_PER_TASK = 32
"""Texts embedded between two progress reports; a multiple of the model's batch size, so that all
workers use the same batches."""
TEXTS_PER_COMMIT = 512


class Workers(Protocol):
    @property
    def texts_per_task(self) -> int:
        """Number of texts to embed in one task."""

    @property
    def texts_per_commit(self) -> int:
        """Number of texts per commit; uncommitted vectors are lost if the process is killed.

        The first commits are smaller.
        """

    def map(
        self, task: Task[Input, Output], inputs: Iterable[Input], *, ordered: bool = True
    ) -> Iterator[list[tuple[Input, Output]]]:
        """Yield lists of inputs with their outputs; those that finish together share a list.

        They come in the order of the inputs or, if not `ordered`, as they finish. `inputs` is read
        as workers become free; when it ends, tasks that have begun are finished.
        """


@dataclass(frozen=True, slots=True)
class OwnProcess:
    embedder: Embedder
    texts_per_task: int = TEXTS_PER_TASK
    texts_per_commit: int = TEXTS_PER_COMMIT

    def map(
        self, task: Task[Input, Output], inputs: Iterable[Input], *, ordered: bool = True
    ) -> Iterator[list[tuple[Input, Output]]]:
        for each in inputs:
            yield [(each, task(self.embedder, each))]
