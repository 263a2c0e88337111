"""Who does the heavy work of a build: parsing, chunking and embedding.

A build divides it into tasks and writes what they return. Tasks are pure, so it does not matter
where they run, nor in which order: by default in this process, or in others (`kbx_tui/bulk/`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kbx_tui.embedding.embedder import Embedder

Input = TypeVar("Input")
Output = TypeVar("Output")

Task = Callable[[Embedder, Input], Output]
"""Pure, and defined where another process can import it."""

TEXTS_PER_TASK = 32
"""Texts embedded between two progress reports; a multiple of the model's batch, so that all workers
run it on the same batches."""
TEXTS_PER_COMMIT = 512


class Workers(Protocol):
    @property
    def texts_per_task(self) -> int:
        """Texts to embed with one task."""

    @property
    def texts_per_commit(self) -> int:
        """Texts to embed before they are committed, lost if the process is killed meanwhile.

        The first commits are smaller.
        """

    def map(
        self, task: Task[Input, Output], inputs: Iterable[Input], *, ordered: bool = True
    ) -> Iterator[list[tuple[Input, Output]]]:
        """Yield each input with its output; those that are finished at the same time in one list.

        They are in the order of the inputs, or without `ordered`, as they are finished. `inputs`
        is read as workers become free; where it ends, what was begun is finished.
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
