"""Indexing beside the app: its progress in words, and its end when the app closes."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import IndexLocked
from kbx_tui.index.build.progress import Progress
from kbx_tui.index.index_status import IndexQuestion
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.engine.index_sync import LOCK_RETRY_SECONDS, IndexSync, describe_progress
from tests.waiting import until


class BlockingEngine:
    """An engine whose run of indexing lasts until it is cancelled."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.runs = self.steps = 0
        self.question: IndexQuestion | None = None
        self.is_locked = False

    def index(
        self, listen: Callable[[Progress], None], *, cancelled: Callable[[], bool], **options: Any
    ) -> object:
        self.runs += 1
        self.has_begun.set()
        if self.is_locked:
            raise IndexLocked("another run is indexing")
        while not cancelled():
            listen(Progress("reading", self.steps, 100, 1.0, 1.0, False))
            self.steps += 1
            threading.Event().wait(0.001)
        return SimpleNamespace(repaired=())

    def index_question(self) -> IndexQuestion | None:
        return self.question

    def close(self) -> None:
        pass


class RecordingStatus:
    """Keeps everything it is asked to show."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def show_notice(self, text: str, *, yields: bool = False) -> None:
        self.texts.append(text)

    show_error = show_progress = show_notice


def test_progress_shows_stage_count_and_time_left() -> None:
    progress = Progress("vectors", 312, 1204, 40.0, 26.2, True)
    assert describe_progress(progress) == "indexing: meaning 312 of 1,204, 26 s left"


class Indexing:
    """An `IndexSync` over a blocking engine."""

    def __init__(self) -> None:
        self.engine, self.status = BlockingEngine(), RecordingStatus()
        self.grown: list[frozenset[str]] = []
        self.questions: list[IndexQuestion] = []

        def open_engine() -> KnowledgeBase:
            return cast(KnowledgeBase, self.engine)

        self.client = EngineClient(open_engine, on_error=lambda error: None)
        self.sync = IndexSync(
            self.client,
            open_engine,
            self.status,
            on_growth=self.grown.append,
            on_question=self.questions.append,
        )

    async def close(self) -> None:
        self.client.closed.set()
        await self.sync.stop()
        self.client.close(lambda engine: None)


async def test_run_cancelled_by_closing_announces_nothing_and_is_not_repeated() -> None:
    indexing = Indexing()
    indexing.sync.index(maybe_changed=["memory/a.md"])
    await asyncio.to_thread(indexing.engine.has_begun.wait, 10.0)
    indexing.sync.index()  # again afterwards
    await indexing.close()
    assert not indexing.sync.is_indexing
    assert (indexing.engine.runs, indexing.grown) == (1, [])


async def test_paused_run_waits_and_goes_on() -> None:
    indexing = Indexing()
    indexing.sync.index()
    await until(lambda: indexing.sync.run.state == "running")
    indexing.sync.pause()
    assert indexing.sync.run.state == "paused"
    seen = -1
    while seen != indexing.engine.steps:  # the current step ends
        seen = indexing.engine.steps
        await asyncio.to_thread(threading.Event().wait, 0.02)
    assert indexing.sync.is_indexing
    indexing.sync.resume()
    await until(lambda: indexing.engine.steps > seen)
    await indexing.close()


async def test_stopped_run_is_repeated_only_when_the_user_begins_it() -> None:
    indexing = Indexing()
    indexing.sync.index()
    await until(lambda: indexing.sync.run.state == "running")
    indexing.sync.pause()
    indexing.sync.halt()  # ends a paused run, too
    await until(lambda: not indexing.sync.is_indexing)
    assert indexing.sync.run.state == "stopped"
    indexing.sync.index()  # as after a change on disk
    assert not indexing.sync.is_indexing
    indexing.sync.index(by_user=True)
    await until(lambda: indexing.engine.runs == 2)
    await indexing.close()


async def test_run_to_confirm_begins_with_the_answer() -> None:
    indexing = Indexing()
    indexing.engine.question = IndexQuestion(Path("notes"), 34_057, "a folder", is_first=True)
    indexing.sync.index()
    await until(lambda: indexing.questions)
    indexing.sync.index()  # as after a change on disk: it is not asked twice
    assert indexing.sync.run.state == "asking"
    await until(lambda: not indexing.sync.is_indexing)
    indexing.sync.answer(confirmed=False)
    assert (indexing.sync.run.state, indexing.engine.runs) == ("stopped", 0)
    indexing.sync.index(by_user=True)
    await until(lambda: len(indexing.questions) == 2)
    await until(lambda: not indexing.sync.is_indexing)
    indexing.sync.answer(confirmed=True)
    await until(lambda: indexing.engine.runs == 1)
    await indexing.close()


async def test_changes_during_another_run_do_not_multiply_the_attempts_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, attempts = asyncio.get_running_loop(), list[asyncio.TimerHandle]()
    call_later = loop.call_later

    def record(delay: float, *arguments: Any) -> asyncio.TimerHandle:
        handle = call_later(delay, *arguments)
        if delay == LOCK_RETRY_SECONDS:
            attempts.append(handle)
        return handle

    monkeypatch.setattr(loop, "call_later", record)
    indexing = Indexing()
    indexing.engine.is_locked = True
    for _ in range(8):
        indexing.sync.index()
        await until(lambda: not indexing.sync.is_indexing)
    assert [attempt.cancelled() for attempt in attempts].count(False) == 1
    await indexing.close()
