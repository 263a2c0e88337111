"""Indexing beside the app: its progress in words, and its end when the app closes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from kbx_tui.api import KnowledgeBase
from kbx_tui.index.build.progress import Progress
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.engine.index_sync import IndexSync, describe_progress


class BlockingEngine:
    """An engine whose run of indexing lasts until it is cancelled."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.runs = 0

    def index(self, listen: object, *, cancelled: Callable[[], bool], **options: Any) -> object:
        self.runs += 1
        self.has_begun.set()
        while not cancelled():
            threading.Event().wait(0.001)
        return SimpleNamespace(repaired=())

    def close(self) -> None:
        pass


class RecordingStatus:
    """Keeps everything it is asked to show."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def show_notice(self, text: str) -> None:
        self.texts.append(text)

    show_error = show_progress = show_notice


def test_progress_shows_stage_count_and_time_left() -> None:
    progress = Progress("vectors", 312, 1204, 40.0, 26.2, True)
    assert describe_progress(progress) == "indexing: vectors 312 of 1,204, 26 s left"


async def test_run_cancelled_by_closing_announces_nothing_and_is_not_repeated() -> None:
    engine, status = BlockingEngine(), RecordingStatus()
    grown: list[frozenset[str]] = []

    def open_engine() -> KnowledgeBase:
        return cast(KnowledgeBase, engine)

    client = EngineClient(open_engine, on_error=lambda error: None)
    index_sync = IndexSync(client, open_engine, status, on_growth=grown.append)
    index_sync.index(maybe_changed=["memory/a.md"])
    await asyncio.to_thread(engine.has_begun.wait, 10.0)
    index_sync.index()  # again afterwards
    client.closed.set()
    await index_sync.stop()
    client.close(lambda engine: None)
    assert not index_sync.is_indexing
    assert (engine.runs, grown, status.texts) == (1, [], [])
