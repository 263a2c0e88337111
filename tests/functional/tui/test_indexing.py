"""Indexing in the background: progress is shown, search works as soon as it can."""

from __future__ import annotations

import pytest

from kbx_tui.errors import IndexLocked, NotFound
from kbx_tui.index.progress import Progress
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import WIDE, Driver, running
from tests.functional.tui.fake_kb import FakeKb

STEPS = (
    Progress("reading", 4, 8, 10.0, 3.0, False),
    Progress("vectors", 5, 20, 10.0, 26.0, True),
    Progress("vectors", 20, 20, 10.0, 0.0, True),
)


def unindexed() -> FakeKb:
    kb = FakeKb(indexed=False)
    kb.steps = STEPS
    return kb


async def test_progress_is_shown_and_the_query_is_answered_once_text_is_there() -> None:
    kb = unindexed()
    async with running(kb, size=WIDE) as driver:
        driver.explore.query_one(QueryLine).value = "alice"
        kb.step_gate.release()
        await driver.until(lambda: "reading 4 of 8, 3 s left" in driver.text_of(StatusLine))
        assert kb.calls["retrieve"] == 0
        assert "The index is being made" not in driver.titles
        kb.step_gate.release()
        await driver.until(lambda: "Alice Chen" in driver.titles)
        assert "vectors 5 of 20, 26 s left" in driver.text_of(StatusLine)
        kb.step_gate.release()
        await driver.until(lambda: not driver.explore.query_one(StatusLine).display)
        assert kb.calls["index"] == 1


async def test_an_unindexed_base_says_what_is_going_on() -> None:
    kb = unindexed()
    async with running(kb, size=WIDE) as driver:
        await driver.until(lambda: "The index is being made" in driver.text_of(ResultList))


async def test_quitting_ends_indexing() -> None:
    kb = unindexed()
    async with running(kb, size=WIDE) as driver:
        await driver.until(lambda: kb.calls["index"] == 1)
    assert kb.calls["index cancelled"] == 1
    assert kb.calls["close"] >= 1


async def test_another_process_indexing_is_no_error() -> None:
    kb = unindexed()
    kb.index_fails = IndexLocked("another process is indexing")
    async with running(kb, size=WIDE) as driver:
        await driver.until(lambda: kb.calls["index"] == 1)
        await driver.pilot.pause(0.05)
        assert not driver.explore.query_one(StatusLine).error


async def test_the_app_looks_again_until_another_process_has_indexed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kbx_tui.tui.controller.LOCKED_PATIENCE", 0.05)
    kb = FakeKb(indexed=False)
    kb.index_fails = IndexLocked("another process is indexing")
    async with running(kb, size=WIDE) as driver:
        await driver.until(lambda: kb.calls["index"] >= 2)
        driver.explore.query_one(QueryLine).value = "alice"
        kb.index_fails = None
        await driver.until(lambda: bool(driver.titles))


async def test_a_base_that_cannot_be_opened_says_why_and_is_tried_again() -> None:
    kb, ready = FakeKb(), [False]

    def open_kb() -> FakeKb:
        if not ready[0]:
            raise NotFound("no knowledge base at /nowhere")
        return kb

    app = KbxApp(open_kb, debounce=0.0)
    async with app.run_test(size=WIDE) as pilot:
        driver = Driver(app, pilot)
        await driver.until(lambda: "no knowledge base at /nowhere" in driver.text_of(ResultList))
        ready[0] = True
        await driver.ask("alice")
        assert driver.titles
