"""The tasks of a build on workers of Ray. What a dead worker had begun is given to another one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from kbx_tui.bulk.ray_pool import PooledWorker, RayPool, facts_of
from kbx_tui.bulk.ray_session import last_words, ray_session, require_address, require_ray
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import is_remote, usable_cores
from kbx_tui.errors import ConfigError, EngineFault, KbxError
from kbx_tui.formatting import format_count
from kbx_tui.index.build.workers import TEXTS_PER_TASK, Input, Output, Task, Workers

MAX_DEATHS = 3
"""Workers that may die at the same task."""
AHEAD = 4
"""Tasks per worker whose results may wait for an earlier one."""


@dataclass(frozen=True, slots=True)
class RayEngine:
    address: str | None = None
    """HOST:PORT of a cluster, or "auto"; None: Ray is started on this machine for the run."""
    workers: int | None = None
    """Worker processes; by default one per processor of the machine or cluster."""

    @contextmanager
    def start(
        self, model: str, embedder: Embedder, notice: Callable[[str], None]
    ) -> Iterator[Workers]:
        """Yield the workers of one run. Ray is imported and started when there is a first task.

        `model` is the setting, `embedder` that of this process. Raises ConfigError for a model
        that is a service or an address of another form, and EngineFault where Ray is not
        installed; the workers raise EngineFault, and errors of the tasks.
        """
        require_ray()
        if self.address is not None:
            require_address(self.address)
        if is_remote(model):
            raise ConfigError(f"[embedding] model is {model}: workers of Ray run only local models")
        with ExitStack() as stack:
            yield _RayWorkers(self, model, embedder, notice, stack)


@dataclass(slots=True)
class _Assignment:
    number: int
    argument: Any
    deaths: int = 0


class _RayWorkers:
    texts_per_task = TEXTS_PER_TASK
    texts_per_commit = 1  # what a worker has embedded is stored as soon as it arrives

    def __init__(
        self,
        engine: RayEngine,
        model: str,
        embedder: Embedder,
        notice: Callable[[str], None],
        stack: ExitStack,
    ) -> None:
        is_folder = Path(model).expanduser().is_dir() and model != "bundled"
        self._model = str(Path(model).expanduser().resolve()) if is_folder else model
        self._engine, self._embedder, self._notice = engine, embedder, notice
        self._stack = stack
        self._started: tuple[Any, RayPool] | None = None

    def map(
        self, task: Task[Input, Output], inputs: Iterable[Input], *, ordered: bool = True
    ) -> Iterator[list[tuple[Input, Output]]]:
        remaining = iter(inputs)
        if (first := next(remaining, None)) is not None:
            ray, pool = self._start()
            yield from _Run(ray, pool, task, chain([first], remaining)).results(ordered=ordered)

    def _start(self) -> tuple[Any, RayPool]:
        if self._started is None:
            engine = self._engine
            count = engine.workers or usable_cores()
            self._notice(
                f"connecting to the Ray cluster at {engine.address}"
                if engine.address
                else f"starting {format_count(count, 'worker')} with Ray"
            )
            ray = self._stack.enter_context(ray_session(engine.address, count))
            if engine.address:
                count = engine.workers or int(ray.cluster_resources().get("CPU", 1))
            pool = RayPool(ray, count, self._model, facts_of(self._embedder), self._notice)
            self._started = ray, pool
        return self._started


class _Run:
    def __init__(
        self, ray: Any, pool: RayPool, task: Task[Any, Any], inputs: Iterator[Any]
    ) -> None:
        self._ray, self._pool, self._task = ray, pool, task
        self._inputs = (_Assignment(*numbered) for numbered in enumerate(inputs))
        self._interrupted: deque[_Assignment] = deque()
        self._running: dict[Any, tuple[_Assignment, PooledWorker]] = {}
        self._finished: dict[int, tuple[Any, Any]] = {}

    def results(self, *, ordered: bool) -> Iterator[list[tuple[Any, Any]]]:
        try:
            yield from self._results(ordered=ordered)
        finally:  # of a run that failed, others need not wait for the rest
            for _, worker in self._running.values():
                worker.tasks.clear()

    def _results(self, *, ordered: bool) -> Iterator[list[tuple[Any, Any]]]:
        following, limit = 0, AHEAD * len(self._pool)
        while True:
            is_over = self._assign(limit)
            if is_over and not self._running and not self._interrupted:
                return
            for reference in self._pool.wait(list(self._running)):
                self._receive(reference)
            numbers = sorted(self._finished)
            if ordered:
                numbers = [n for i, n in enumerate(numbers) if n == following + i]
            if numbers:
                following += len(numbers)
                yield [self._finished.pop(number) for number in numbers]

    def _assign(self, limit: int) -> bool:
        """Give tasks to free workers; return whether there are no more inputs."""
        while len(self._running) + len(self._finished) < limit:
            if (worker := self._pool.free()) is None:
                return False
            if self._interrupted:
                assignment = self._interrupted.popleft()
            elif (new := next(self._inputs, None)) is not None:
                assignment = new
            else:
                return True
            reference = self._pool.submit(worker, self._task, assignment.argument)
            self._running[reference] = assignment, worker
        return False

    def _receive(self, reference: Any) -> None:
        assignment, worker = self._running.pop(reference)
        is_first = worker.tasks[0] == reference
        try:
            output = self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            if is_first:  # the others had only been waiting
                assignment.deaths += 1
            if assignment.deaths >= MAX_DEATHS:
                raise EngineFault(
                    f"{MAX_DEATHS} workers died at the same task ({last_words(error)}): what was "
                    "finished is kept; look for a lack of memory, or run without --engine ray"
                ) from error
            self._interrupted.append(assignment)
            self._pool.replace(worker)
        except Exception as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, KbxError):
                raise cause from error
            raise EngineFault(f"a worker of Ray failed ({last_words(error)})") from error
        else:
            worker.tasks.remove(reference)
            self._finished[assignment.number] = assignment.argument, output
