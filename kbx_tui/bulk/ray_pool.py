"""The worker processes of one run: which of them are free, and what replaces a dead one."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kbx_tui import __version__
from kbx_tui.bulk.ray_session import last_words
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.errors import EngineFault, KbxError
from kbx_tui.index.build.workers import Task

QUEUE = 2
"""Tasks given to a worker at a time, so that it has one while a result is written."""
START_SECONDS = 120.0
"""Time in which a worker must start, where there is no other."""
LOOK_SECONDS = 5.0
"""Time without any worker after which Ray is asked whether it has machines."""
MAX_FAILED_STARTS = 3
POLL_SECONDS = 1.0


@dataclass(eq=False, slots=True)
class PooledWorker:
    handle: Any
    starting: Any
    """Reference to its facts; None once it has started."""
    tasks: list[Any] = field(default_factory=list)
    """References to the results of its tasks, the running one first."""


class RayPool:
    def __init__(
        self,
        ray: Any,
        count: int,
        model: str,
        expected: WorkerFacts,
        notice: Callable[[str], None],
    ) -> None:
        self._ray, self._model, self._expected, self._notice = ray, model, expected, notice
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        self._workers: list[PooledWorker] = []
        self._failed_starts, self._waiting_since = 0, time.monotonic()
        self._noticed_hosts: set[str] = set()
        for _ in range(max(count, 1)):
            self._add()

    def __len__(self) -> int:
        return len(self._workers)

    def _add(self) -> None:
        handle = self._actor.remote(self._model)
        self._workers.append(PooledWorker(handle, handle.facts.remote()))

    def free(self) -> PooledWorker | None:
        """Return the worker with the fewest tasks; None if all have enough, or none has started."""
        started = [worker for worker in self._workers if worker.starting is None]
        worker = min(started, key=lambda worker: len(worker.tasks), default=None)
        return worker if worker and len(worker.tasks) < QUEUE else None

    def submit(self, worker: PooledWorker, task: Task[Any, Any], argument: Any) -> Any:
        reference = worker.handle.run.remote(task, argument)
        worker.tasks.append(reference)
        return reference

    def wait(self, running: Iterable[Any]) -> list[Any]:
        """Return those of the references whose results are there, perhaps none, after a second.

        `running` are all that have not been received, also those of workers that were replaced: the
        tasks of a dead worker fail one after the other. Raises EngineFault if no worker can be
        started.
        """
        starting = {w.starting: w for w in self._workers if w.starting is not None}
        references = [*running, *starting]
        self._ray.wait(references, timeout=POLL_SECONDS)
        ready, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        for reference in ready:
            if reference in starting:
                self._started(starting[reference])
        if any(worker.starting is None for worker in self._workers):
            self._waiting_since = time.monotonic()
        else:
            self._require_start(time.monotonic() - self._waiting_since)
        return [reference for reference in ready if reference not in starting]

    def _require_start(self, waited: float) -> None:
        if waited > LOOK_SECONDS and not any(node["Alive"] for node in self._ray.nodes()):
            raise EngineFault(
                "Ray has ended on all its machines, perhaps for lack of memory: what was finished "
                "is kept, and the next run continues from there"
            )
        if waited > START_SECONDS:
            raise EngineFault(
                f"no worker of Ray has started within {START_SECONDS:.0f} s: are all processors of "
                "the cluster in use?"
            )

    def _started(self, worker: PooledWorker) -> None:
        try:
            facts: WorkerFacts = self._ray.get(worker.starting)
        except Exception as error:
            self._failed_starts += 1
            cause = getattr(error, "cause", None)
            if isinstance(cause, KbxError):  # its model
                raise EngineFault(f"a worker of Ray cannot start: {cause}") from error
            if missing := re.search(r"No module named '[\w.]+'", str(error)):
                raise EngineFault(
                    f"workers of Ray cannot start ({missing[0]}): install kbx-tui "
                    f"{self._expected.version} on every machine"
                ) from error
            if self._failed_starts >= MAX_FAILED_STARTS:
                raise EngineFault(
                    f"workers of Ray cannot start ({last_words(error)}): look for a lack of "
                    "memory or disk space, or run without --engine ray"
                ) from error
            self.replace(worker)
            return
        expected = self._expected
        if (facts.version, facts.model) != (expected.version, expected.model):
            raise EngineFault(
                f"the worker on {facts.host} has kbx-tui {facts.version} and model {facts.model}, "
                f"this machine {expected.version} and {expected.model}: they must be the same"
            )
        if facts.uses_int8 != expected.uses_int8 and facts.host not in self._noticed_hosts:
            self._noticed_hosts.add(facts.host)
            self._notice(
                f"the processor of {facts.host} is of another kind: its vectors differ from those "
                "of this machine in the last digits"
            )
        worker.starting = None

    def replace(self, worker: PooledWorker) -> None:
        if worker in self._workers:
            self._workers.remove(worker)
            self._add()


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """What must be the same for all workers, and where one is."""

    host: str
    version: str
    model: str
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
    from kbx_tui.embedding.local import prefers_int8

    return WorkerFacts(platform.node(), __version__, embedder.model, prefers_int8())
