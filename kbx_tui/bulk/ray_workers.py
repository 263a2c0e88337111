"""The tasks of a build on workers of Ray, here or on a cluster. Errors of Ray become EngineFault.

What a dead worker had begun is done again.
"""

from __future__ import annotations

import logging
import os
import platform
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from kbx_tui import __version__
from kbx_tui.embedding import is_remote
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.errors import ConfigError, EngineFault, KbxError
from kbx_tui.formatting import format_count
from kbx_tui.index.build.workers import TEXTS_PER_TASK, Input, Output, Task, Workers
from kbx_tui.removal import RAY_FOLDER, remove_ray_folder
from kbx_tui.system import usable_cores

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
            yield _RayWorkers(partial(self._start_pool, stack, model, embedder, notice))

    def _start_pool(
        self, stack: ExitStack, model: str, embedder: Embedder, notice: Callable[[str], None]
    ) -> RayPool:
        is_folder = Path(model).expanduser().is_dir() and model != "bundled"
        model = str(Path(model).expanduser().resolve()) if is_folder else model
        count = self.workers or usable_cores()
        notice(
            f"connecting to the Ray cluster at {self.address}"
            if self.address
            else f"starting {format_count(count, 'worker')} with Ray"
        )
        ray = stack.enter_context(ray_session(self.address, count))
        if self.address:
            count = self.workers or int(ray.cluster_resources().get("CPU", 1))
        return RayPool(ray, count, model, facts_of(embedder), notice)


class _RayWorkers:
    texts_per_task = TEXTS_PER_TASK
    texts_per_commit = 1  # what a worker has embedded is stored as soon as it arrives

    def __init__(self, start: Callable[[], RayPool]) -> None:
        self._pool = cache(start)

    def map(
        self, task: Task[Input, Output], inputs: Iterable[Input], *, ordered: bool = True
    ) -> Iterator[list[tuple[Input, Output]]]:
        remaining = iter(inputs)
        if (first := next(remaining, None)) is not None:
            yield from self._pool().map(task, chain([first], remaining), ordered=ordered)


QUEUE = 2
"""Tasks given to a worker at a time, so that it has one while a result is written."""
START_SECONDS, TASK_SECONDS = 120.0, 600.0
"""Time in which the first worker must start, and later any of them finish a task: of a minute at
most, but one that died must start again."""
POLL_SECONDS = 1.0


class RayPool:
    """Workers of Ray, which starts one that died again and gives it its tasks again."""

    def __init__(
        self,
        ray: Any,
        count: int,
        model: str,
        expected: WorkerFacts,
        notice: Callable[[str], None],
    ) -> None:
        self._ray, self._expected, self._notice = ray, expected, notice
        options = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": MAX_DEATHS - 1}
        actor = ray.remote(**options)(RayWorker)
        workers = [actor.remote(model) for _ in range(max(count, 1))]
        self._starting = {worker.facts.remote(): worker for worker in workers}
        self._started: list[Any] = []
        self._answered = time.monotonic()
        self._noticed_hosts: set[str] = set()

    def map(
        self, task: Task[Any, Any], inputs: Iterable[Any], *, ordered: bool
    ) -> Iterator[list[tuple[Any, Any]]]:
        """Yield results as `Workers.map` does. Raises EngineFault, and errors of the tasks."""
        numbered, following = enumerate(inputs), 0
        limit = AHEAD * (len(self._starting) + len(self._started))
        running: dict[Any, tuple[int, int, Any]] = {}  # worker, and number and value of the input
        finished: dict[int, tuple[Any, Any]] = {}
        while True:
            while len(running) + len(finished) < limit:
                if (worker := self._free([each for each, *_ in running.values()])) is None:
                    break
                if (new := next(numbered, None)) is None:
                    if not running:
                        return
                    break
                running[self._started[worker].run.remote(task, new[1])] = worker, *new
            for reference in self._wait(running):
                _, number, argument = running.pop(reference)
                finished[number] = argument, self._output(reference)
            numbers = sorted(finished)
            if ordered:
                numbers = [n for i, n in enumerate(numbers) if n == following + i]
            if numbers:
                following += len(numbers)
                yield [finished.pop(number) for number in numbers]

    def _free(self, busy: Sequence[int]) -> int | None:
        """Return the worker with the fewest tasks; None if all have enough, or none has started.

        `busy` has the worker of each task.
        """
        worker = min(range(len(self._started)), key=busy.count, default=None)
        return None if worker is None or busy.count(worker) >= QUEUE else worker

    def _wait(self, running: Iterable[Any]) -> list[Any]:
        """Wait briefly, and return those references whose results have arrived, perhaps none."""
        references = [*running, *self._starting]
        self._ray.wait(references, timeout=POLL_SECONDS)
        ready, _ = self._ray.wait(references, num_returns=len(references), timeout=0)
        arrived = []
        for reference in ready:
            if (worker := self._starting.pop(reference, None)) is None:
                arrived.append(reference)
            else:
                self._require_same(self._facts(reference))
                self._started.append(worker)
        if ready:
            self._answered = time.monotonic()
        else:
            self._require_running()
        return arrived

    def _output(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            raise EngineFault(
                f"{MAX_DEATHS} workers died at the same task ({last_words(error)}): what was "
                "finished is kept; look for a lack of memory, or run without --engine ray"
            ) from error
        except Exception as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, KbxError):
                raise cause from error
            raise EngineFault(f"a worker of Ray failed ({last_words(error)})") from error

    def _facts(self, reference: Any) -> WorkerFacts:
        try:
            facts: WorkerFacts = self._ray.get(reference)
            return facts
        except Exception as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, KbxError):  # its model
                raise EngineFault(f"a worker of Ray cannot start: {cause}") from error
            if missing := re.search(r"No module named '[\w.]+'", str(error)):
                raise EngineFault(
                    f"workers of Ray cannot start ({missing[0]}): install kbx-tui "
                    f"{self._expected.version} on every machine"
                ) from error
            raise EngineFault(
                f"workers of Ray cannot start ({last_words(error)}): look for a lack of "
                "memory or disk space, or run without --engine ray"
            ) from error

    def _require_same(self, facts: WorkerFacts) -> None:
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

    def _require_running(self) -> None:
        if not any(node["Alive"] for node in self._ray.nodes()):
            raise EngineFault(
                "Ray has ended on all its machines, perhaps for lack of memory: what was finished "
                "is kept, and the next run continues from there"
            )
        seconds = TASK_SECONDS if self._started else START_SECONDS
        if time.monotonic() - self._answered > seconds:
            failure = "finished no task" if self._started else "could not start any worker"
            raise EngineFault(
                f"Ray {failure} within {seconds:.0f} s: are all processors of the cluster in use? "
                "What was finished is kept"
            )


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


EXTRA = 'pip install "kbx-tui[ray]"'

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # reports of use to the makers of Ray
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # lines that it does not print on stdout: all
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # a warning on stderr about graphics cards
}
SAME_PYTHON = {"RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
"""Under `uv run`, Ray would start workers in a copy of the working folder, without our packages."""
PATIENT = {"RAY_gcs_server_port_wait_time_s": "120"}
START_ATTEMPTS = 3
"""How often Ray is started on a machine so busy that it gives up after its 30 s."""
LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Makes Ray listen on 127.0.0.1 on any system; by default it does not on Linux."""
TOKEN_VARIABLES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
"""How processes know each other; without a token given, Ray writes one to the home folder."""

STORE_BYTES = 150_000_000
"""Memory shared by the processes of Ray on this machine, for tasks and results on their way."""

CONNECT_SECONDS, JOIN_SECONDS = 5.0, 30.0
"""Time in which a cluster must answer, and in which it must accept a process."""

JOIN = """
import sys, ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level=50)
except Exception as error:
    print(error)
    sys.exit(1)
"""
"""Joins a cluster in a process of its own: Ray tries for minutes, and ends the process if it fails.
"""

SOCKET_FOLDER_LENGTH = 24
"""Longest name of the folder for temporary files in which Ray's sockets can have theirs."""


def require_ray() -> None:
    if find_spec("ray") is None:
        raise EngineFault(f"`--engine ray` needs the package ray: {EXTRA}")


@contextmanager
def ray_session(address: str | None, cpus: int) -> Iterator[Any]:
    """Yield the module `ray`, connected to the cluster at `address`, "auto" or HOST:PORT.

    Without an address Ray is started on this machine, for `cpus` workers, and ended afterwards;
    then it listens on loopback only. A connection that the program has already is used and kept.
    Raises EngineFault.
    """
    require_ray()
    variables = QUIET | SAME_PYTHON
    if not address:
        variables |= LOOPBACK_ONLY | PATIENT
        variables |= zip(TOKEN_VARIABLES, ("token", secrets.token_hex(32)), strict=True)
    if "ray" not in sys.modules:  # it reads some of them when it is imported, some later
        for name, value in variables.items():
            os.environ.setdefault(name, value)
    if address:
        _require_answer(address)
        _require_cluster(address)
    import ray

    if ray.is_initialized():
        yield ray
        return
    folder = _make_folder()
    options: dict[str, Any] = {"address": address}
    if not address:
        options = {
            "address": "local",
            "num_cpus": cpus,
            "include_dashboard": False,
            "object_store_memory": STORE_BYTES,
            "_temp_dir": str(folder / "ray"),  # Ray lets anyone read it, but not its parent
        }
    try:
        with _own_signals():
            _connect(ray, options, folder)
        yield ray
    finally:
        ray.shutdown()
        remove_ray_folder(folder)


def _connect(ray: Any, options: dict[str, Any], folder: Path) -> None:
    """Start Ray in a folder of ours: workers import first what lies in the one it is started in."""
    is_local, attempts = options["address"] == "local", 0
    while True:
        attempts += 1
        try:
            with chdir(folder), warnings.catch_warnings():  # it forks only to run its own programs
                warnings.filterwarnings("ignore", "lancedb fork support", RuntimeWarning)
                ray.init(log_to_driver=False, logging_level=logging.CRITICAL, **options)
            return
        except Exception as error:  # of any kind: ConnectionError, RuntimeError, ValueError
            ray.shutdown()
            if not is_local:
                raise _unusable(options["address"], last_words(error)) from error
            if attempts == START_ATTEMPTS or "timed out during startup" not in str(error):
                raise EngineFault(f"Ray cannot be started ({last_words(error)})") from error


def require_address(address: str) -> None:
    host, colon, port = address.rpartition(":")
    is_number = port.isascii() and port.isdigit() and int(port) < 65_536
    if address != "auto" and not (host and colon and is_number and "/" not in host):
        raise ConfigError(
            "--ray-address must be HOST:PORT, or auto on a machine of a cluster, not "
            + (address or "empty")
        )


def _require_answer(address: str) -> None:
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:  # UnicodeError: no name of a host
        reason = getattr(error, "strerror", None) or str(error) or "no answer"
        raise EngineFault(f"no Ray cluster answers at {address} ({reason})") from error


def _require_cluster(address: str) -> None:
    try:
        joined = subprocess.run(
            [sys.executable, "-P", "-c", JOIN, address],
            capture_output=True,
            timeout=JOIN_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _unusable(address, f"no answer within {JOIN_SECONDS:.0f} s") from None
    if b"InvalidAuthToken" in joined.stderr:
        raise EngineFault(
            f"the Ray cluster at {address} asks for a token: set RAY_AUTH_MODE=token, and "
            "RAY_AUTH_TOKEN unless it is in ~/.ray"
        )
    if joined.returncode:
        raise _unusable(address, last_words(joined.stdout.decode("utf-8", "replace")))


def _unusable(address: str, reason: str) -> EngineFault:
    return EngineFault(
        f"cannot use the Ray cluster at {address} ({reason}): run the command on one of its "
        "machines, with the same versions of Python and Ray"
    )


def _make_folder() -> Path:
    """Return a new folder for sockets and logs that only this user can read. Raises EngineFault."""
    parent = tempfile.gettempdir()
    if len(parent) > SOCKET_FOLDER_LENGTH and os.name == "posix":
        parent = "/tmp"
    try:
        return Path(tempfile.mkdtemp(prefix=RAY_FOLDER, dir=parent))
    except OSError as error:
        raise EngineFault(
            f"no folder for sockets and logs of Ray can be made in {parent} ({error.strerror}): "
            "make room there, or run without --engine ray"
        ) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the handler of SIGTERM, which Ray replaces by one of its own."""
    before: Any = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with suppress(ValueError):  # off the main thread, where Ray sets no handler
            signal.signal(signal.SIGTERM, before)


_CONTROL = re.compile(r"\x1b\[[0-9;]*m")


def last_words(error: BaseException | str) -> str:
    """Return an error's words, the last line of a traceback, in at most 160 characters."""
    lines = [line for text in str(error).splitlines() if (line := _CONTROL.sub("", text).strip())]
    if not lines:
        return "no reason was given" if isinstance(error, str) else type(error).__name__
    is_traceback = any("Traceback" in line for line in lines)
    return lines[-1 if is_traceback else 0][:160].rstrip(". ")
