"""Tasks on workers of Ray that die, fail or differ, with a stand-in for Ray that has faults."""

import errno
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from kbx_tui.bulk import ray_workers
from kbx_tui.bulk.ray_workers import RayEngine, RayWorker, WorkerFacts, facts_of
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.errors import ConfigError, EmbeddingError, EngineFault
from kbx_tui.index.build.workers import Workers


class ActorDied(Exception):
    """Ray's RayActorError."""


class TaskFailed(Exception):
    """Ray's RayTaskError."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"Traceback of the worker:\n\x1b[36m{cause}\x1b[39m")
        self.cause = cause


class FakeResult:
    def __init__(self, worker: RayWorker, name: str, arguments: tuple[Any, ...]) -> None:
        self.worker, self.name, self.arguments = worker, name, arguments
        self.result: Any = None

    def finish(self) -> None:
        try:
            self.result = getattr(self.worker, self.name)(*self.arguments)
        except ActorDied as error:
            self.result = error
        except Exception as error:
            self.result = TaskFailed(error)


class FakeRay:
    """Runs a task when its result is waited for, the last one first."""

    exceptions = SimpleNamespace(RayActorError=ActorDied)

    def __init__(self) -> None:
        self.started = 0
        self.is_running = True
        self.now = 0.0
        self.finishes: dict[str, float] = {}
        """The times before which a method of the workers does not finish."""

    def remote(self, **_: Any) -> Callable[[type[RayWorker]], Any]:
        return lambda worker_class: SimpleNamespace(remote=lambda model: self.start(worker_class))

    def start(self, worker_class: type[RayWorker]) -> Any:
        self.started += 1
        worker = worker_class("bundled")

        def method(name: str) -> Any:
            return SimpleNamespace(remote=lambda *arguments: FakeResult(worker, name, arguments))

        return SimpleNamespace(**{name: method(name) for name in ("facts", "run")})

    def wait(
        self, references: list[FakeResult], num_returns: int = 1, timeout: float = 0
    ) -> tuple[list[FakeResult], list[FakeResult]]:
        self.now += timeout
        assert self.now < 10_000, "it waits for ever"
        can = [each for each in references if self.now >= self.finishes.get(each.name, 0.0)]
        if self.is_running and can and not any(reference.result for reference in references):
            can[-1].finish()
        return [reference for reference in references if reference.result is not None], []

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": self.is_running}]

    def get(self, reference: FakeResult) -> Any:
        if isinstance(reference.result, Exception):
            raise reference.result
        return reference.result


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    fake = FakeRay()

    @contextmanager
    def session(address: str, cpus: int) -> Iterator[FakeRay]:
        yield fake

    monkeypatch.setattr(ray_workers, "ray_session", session)
    monkeypatch.setattr(ray_workers, "time", SimpleNamespace(monotonic=lambda: fake.now))
    monkeypatch.setattr(ray_workers, "require_ray", lambda: None)
    return fake


@contextmanager
def two_workers(notices: list[str] | None = None) -> Iterator[Workers]:
    heard = notices if notices is not None else []
    with RayEngine(workers=2).start("bundled", open_embedder(), heard.append) as workers:
        yield workers


def double(_: Embedder, number: int) -> int:
    return 2 * number


def numbers(batches: Iterator[list[tuple[int, int]]]) -> list[tuple[int, int]]:
    return [pair for batch in batches for pair in batch]


EXPECTED = [(number, 2 * number) for number in range(20)]


def test_inputs_are_read_as_workers_become_free(ray: FakeRay) -> None:
    read = 0

    def inputs() -> Iterator[int]:
        nonlocal read
        for number in range(1, 100):
            read = number
            yield number

    with two_workers() as workers:
        next(workers.map(double, inputs()))
    assert read <= 2 * ray_workers.AHEAD


def test_results_come_in_the_order_of_their_inputs_if_there_are_any(ray: FakeRay) -> None:
    with two_workers() as workers:
        assert numbers(workers.map(double, [])) == []
    assert ray.started == 0

    with two_workers() as workers:
        assert numbers(workers.map(double, range(20))) == EXPECTED
        unordered = numbers(workers.map(double, range(20), ordered=False))
    assert sorted(unordered) == EXPECTED != unordered
    assert ray.started == 2


def test_workers_that_die_again_and_again_or_a_ray_that_ended_are_errors(ray: FakeRay) -> None:
    def dies(_: Embedder, number: int) -> int:
        raise ActorDied("The actor died unexpectedly")

    with two_workers() as workers, pytest.raises(EngineFault, match="3 workers died at the same"):
        numbers(workers.map(dies, range(20)))

    ray.is_running = False
    with two_workers() as workers, pytest.raises(EngineFault, match=r"^Ray has ended on all"):
        numbers(workers.map(double, [1]))


def test_error_of_a_task_is_raised_as_it_is(ray: FakeRay) -> None:
    def fails(_: Embedder, number: int) -> int:
        raise EmbeddingError("the model cannot run")

    def breaks(_: Embedder, number: int) -> int:
        return [][number]

    with two_workers() as workers:
        with pytest.raises(EmbeddingError, match=r"^the model cannot run$"):
            numbers(workers.map(fails, range(2)))
        with pytest.raises(
            EngineFault, match=r"^a worker of Ray failed \(list index out of range\)$"
        ):
            numbers(workers.map(breaks, range(2)))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (EmbeddingError("no such model"), "a worker of Ray cannot start: no such model"),
        (
            ModuleNotFoundError("No module named 'kbx_tui'"),
            r"\(No module named 'kbx_tui'\): install kbx-tui \d",
        ),
        (OSError("disk full"), r"cannot start \(disk full\): look for a lack of memory or disk"),
    ],
    ids=["model", "package", "other"],
)
def test_workers_that_cannot_start_are_an_error(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    def fail(self: RayWorker) -> WorkerFacts:
        raise error

    monkeypatch.setattr(RayWorker, "facts", fail)
    with two_workers() as workers, pytest.raises(EngineFault, match=message):
        numbers(workers.map(double, [1]))


@pytest.mark.parametrize(
    ("stuck", "message"),
    [
        ("facts", "^Ray could not start any worker within 120 s: are all"),
        ("run", "^Ray finished no task within 600 s: are all"),
    ],
)
def test_workers_for_which_there_is_no_place_are_an_error(
    ray: FakeRay, stuck: str, message: str
) -> None:
    ray.finishes = {stuck: inf}
    with two_workers() as workers, pytest.raises(EngineFault, match=message):
        numbers(workers.map(double, range(20)))


def test_task_that_takes_long_is_waited_for(ray: FakeRay) -> None:
    ray.finishes["run"] = 4 * ray_workers.START_SECONDS
    with two_workers() as workers:
        assert numbers(workers.map(double, range(20))) == EXPECTED


def test_disk_that_is_full_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: str) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(EngineFault, match=r"\(No space left on device\): make room there"):
        ray_workers._make_folder()


def other_facts(monkeypatch: pytest.MonkeyPatch, **other: Any) -> None:
    facts = replace(facts_of(open_embedder()), host="other-host", **other)
    monkeypatch.setattr(RayWorker, "facts", lambda self: facts)


@pytest.mark.parametrize("other", [{"version": "9.9"}, {"model": "folder/other"}])
def test_workers_must_have_the_same_version_and_model(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch, other: dict[str, str]
) -> None:
    other_facts(monkeypatch, **other)
    with two_workers() as workers, pytest.raises(EngineFault, match=r"other-host has .*the same"):
        numbers(workers.map(double, [1]))


def test_processor_of_another_kind_is_noticed_once(
    ray: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_facts(monkeypatch, uses_int8=not facts_of(open_embedder()).uses_int8)
    notices: list[str] = []
    with two_workers(notices) as workers:
        assert numbers(workers.map(double, range(20))) == EXPECTED
    assert sum("other-host" in notice for notice in notices) == 1


@pytest.mark.parametrize("address", ["", "host", ":1", "host:", "host:65536", "ray://host:1"])
def test_address_of_another_form_is_refused(ray: FakeRay, address: str) -> None:
    refused = pytest.raises(ConfigError, match=r"^--ray-address must be HOST:PORT, or auto on a ma")
    with refused, RayEngine(address).start("bundled", open_embedder(), lambda text: None):
        pass


def test_model_that_is_a_service_is_refused(ray: FakeRay) -> None:
    with (
        pytest.raises(ConfigError, match="only local models"),
        RayEngine().start("gemini", open_embedder(), lambda text: None),
    ):
        pass
