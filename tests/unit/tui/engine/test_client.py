"""The engine client: calls in turn, cancellation, errors, and the end."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextvars import Context, ContextVar
from typing import cast

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from tests.waiting import until


class FakeEngine:
    """Notes calls, and holds them at a gate while it is closed."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.called: list[str] = []
        self.threads: set[str] = set()
        self.is_closed = threading.Event()

    def call(self, name: str) -> str:
        self.threads.add(threading.current_thread().name)
        self.called.append(name)
        self.gate.wait(10.0)
        return name

    def close(self) -> None:
        self.is_closed.set()


class Setup:
    """A client on a fake engine, with what it reports."""

    def __init__(self) -> None:
        self.engine = FakeEngine()
        self.errors: list[Exception] = []
        self.answers: list[str] = []
        self.client = EngineClient(
            lambda: cast(KnowledgeBase, self.engine), on_error=self.errors.append
        )

    async def request(self, name: str) -> None:
        self.answers.append(await self.client.run(lambda _: self.engine.call(name)))

    async def until_called(self, name: str) -> None:
        await until(lambda: name in self.engine.called)

    async def drain(self) -> None:
        """Wait until the engine has answered everything asked so far."""
        await self.client.run(lambda _: None)
        await asyncio.sleep(0)


@pytest.fixture
async def setup() -> AsyncIterator[Setup]:
    setup = Setup()
    yield setup
    setup.engine.gate.set()
    if not setup.client.closed.is_set():
        setup.client.close(lambda engine: None)


async def test_calls_run_in_order_on_one_thread(setup: Setup) -> None:
    await asyncio.gather(*(setup.request(name) for name in "abc"))
    assert setup.engine.called == ["a", "b", "c"]
    assert len(setup.engine.threads) == 1
    assert setup.engine.threads != {threading.current_thread().name}


async def test_newer_request_discards_the_answer_of_an_older_one(setup: Setup) -> None:
    latest = LatestOnly(setup.client)
    setup.engine.gate.clear()
    latest.start(setup.request("old"))
    await setup.until_called("old")
    latest.start(setup.request("new"))
    setup.engine.gate.set()
    await setup.until_called("new")
    await setup.drain()
    assert setup.answers == ["new"]


async def test_superseded_request_in_the_queue_is_never_called(setup: Setup) -> None:
    latest, other = LatestOnly(setup.client), LatestOnly(setup.client)
    setup.engine.gate.clear()
    other.start(setup.request("long"))
    await setup.until_called("long")
    for name in ("a", "b", "c"):
        latest.start(setup.request(name))
        await asyncio.sleep(0)
    setup.engine.gate.set()
    await setup.drain()
    assert setup.engine.called == ["long", "c"]


async def test_guards_of_different_kinds_do_not_cancel_each_other(setup: Setup) -> None:
    first, second = LatestOnly(setup.client), LatestOnly(setup.client)
    first.start(setup.request("a"))
    second.start(setup.request("b"))
    assert first.is_running
    await setup.until_called("b")
    await setup.drain()
    assert setup.answers == ["a", "b"]
    assert not first.is_running


async def test_error_of_a_background_request_is_reported(setup: Setup) -> None:
    async def fail() -> None:
        await setup.client.run(lambda _: 1 / 0)

    setup.client.start(fail())
    await until(lambda: setup.errors)
    assert isinstance(setup.errors[0], ZeroDivisionError)


async def test_error_of_a_cancelled_request_is_not_reported(setup: Setup) -> None:
    latest = LatestOnly(setup.client)
    setup.engine.gate.clear()

    async def fail() -> None:
        await setup.client.run(lambda _: setup.engine.call("failing") and 1 / 0)

    latest.start(fail())
    await setup.until_called("failing")
    latest.cancel()
    setup.engine.gate.set()
    await setup.drain()
    assert not setup.errors


async def test_engine_that_fails_to_open_is_opened_again_by_the_next_call() -> None:
    attempts: list[None] = []

    def open_engine() -> KnowledgeBase:
        attempts.append(None)
        if len(attempts) == 1:
            raise OSError("no disk")
        return cast(KnowledgeBase, FakeEngine())

    client = EngineClient(open_engine, on_error=lambda error: None)
    with pytest.raises(OSError, match="no disk"):
        await client.run(lambda engine: None)
    assert await client.run(lambda engine: 7) == 7
    client.close(lambda engine: None)


async def test_closing_skips_waiting_calls_runs_the_last_one_and_closes_the_engine(
    setup: Setup,
) -> None:
    setup.engine.gate.clear()
    setup.client.start(setup.request("running"))
    await setup.until_called("running")
    setup.client.start(setup.request("waiting"))
    await asyncio.sleep(0)
    setup.client.close(lambda engine: setup.engine.called.append("last"))
    setup.engine.gate.set()
    await asyncio.to_thread(setup.engine.is_closed.wait, 10.0)
    assert setup.engine.called == ["running", "last"]
    assert setup.answers == []


async def test_closing_opens_the_engine_for_a_last_call_that_saves_work() -> None:
    engine = FakeEngine()
    client = EngineClient(lambda: cast(KnowledgeBase, engine), on_error=lambda error: None)
    client.close(lambda _: engine.called.append("save"))
    await asyncio.to_thread(engine.is_closed.wait, 10.0)
    assert engine.called == ["save"]


async def test_closing_without_a_last_call_opens_nothing() -> None:
    opened: list[None] = []
    client = EngineClient(
        lambda: cast(KnowledgeBase, opened.append(None)), on_error=lambda error: None
    )
    client.close()
    for thread in threading.enumerate():
        if thread.name.startswith("kbx-engine"):
            await asyncio.to_thread(thread.join, 10.0)
    assert opened == []


async def test_a_call_from_a_thread_runs_in_the_context_of_the_last_request() -> None:
    app: ContextVar[str] = ContextVar("app")
    app.set("the app")
    client, seen = EngineClient(lambda: cast(KnowledgeBase, None), on_error=print), asyncio.Event()
    client.start(asyncio.sleep(0))
    found: list[str] = []

    def callback() -> None:
        found.append(app.get())
        seen.set()

    await asyncio.to_thread(Context().run, client.call_on_loop, callback)
    await seen.wait()
    assert found == ["the app"]
    client.close()
