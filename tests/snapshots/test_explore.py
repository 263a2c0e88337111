"""How the explore screen looks, at the three sizes it is made for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import pytest
from textual.pilot import Pilot

from kbx_tui.errors import IndexFault
from kbx_tui.index.progress import Progress
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.widgets.preview_pane import PreviewPane
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver
from tests.functional.tui.fake_kb import FakeKb

Play = Callable[[Driver, FakeKb], Awaitable[None]]
SIZES = pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["140x40", "80x24", "50x16"])


class Compare(Protocol):
    def __call__(
        self,
        app: KbxApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


@pytest.fixture
def looks_as_before(snap_compare: Compare) -> Callable[..., bool]:
    """Play something on the fake engine and compare the screen with the one kept."""

    def compare(play: Play, size: tuple[int, int], kb: FakeKb | None = None) -> bool:
        engine = kb or FakeKb()
        app = KbxApp(lambda: engine, debounce=0.0)

        async def run_before(pilot: Pilot[Any]) -> None:
            driver = Driver(app, pilot)
            await driver.until(
                lambda: (
                    driver.explore.summary is not None
                    and (driver.explore.summary.documents or not engine.is_indexed())
                )
            )
            driver.results.SETTLE_SECONDS = 3600.0
            driver.explore.query_one(StatusLine).NOTICE_SECONDS = 3600.0
            await play(driver, engine)
            await driver.pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=run_before)

    return compare


async def nothing(driver: Driver, kb: FakeKb) -> None:
    pass


async def question(driver: Driver, kb: FakeKb) -> None:
    await driver.ask(QUESTION)
    await driver.press("down")
    await driver.until(lambda: driver.explore.controller.snippet(driver.results.results[0].path))
    if driver.results.two_lines:
        await driver.until(lambda: "The first rehearsal overran" in driver.text_of(ResultList))


@SIZES
def test_nothing_typed(looks_as_before: Callable[..., bool], size: tuple[int, int]) -> None:
    assert looks_as_before(nothing, size)


@SIZES
def test_two_pass(looks_as_before: Callable[..., bool], size: tuple[int, int]) -> None:
    assert looks_as_before(question, size)


@SIZES
def test_exact_title_in_a_flat_search(
    looks_as_before: Callable[..., bool], size: tuple[int, int]
) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await driver.ask("rollback plan")
        await driver.press("escape")
        await driver.until(
            lambda: driver.explore.controller.snippet(driver.results.results[0].path)
        )

    assert looks_as_before(play, size)


@SIZES
def test_reading_a_document(looks_as_before: Callable[..., bool], size: tuple[int, int]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await question(driver, kb)
        await driver.press("enter")
        await driver.until(lambda: "▌ We cut over" in driver.text_of(PreviewPane))

    assert looks_as_before(play, size)


@SIZES
def test_help(looks_as_before: Callable[..., bool], size: tuple[int, int]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await driver.press("escape", "question_mark")
        await driver.until(lambda: driver.app.screen is not driver.explore)

    assert looks_as_before(play, size)


def test_rows_that_moved(looks_as_before: Callable[..., bool]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await question(driver, kb)
        for _ in range(8):
            await driver.press("left_square_bracket")
        await driver.until(lambda: "▲" in driver.text_of(ResultList))

    assert looks_as_before(play, WIDE)


def test_light_theme(looks_as_before: Callable[..., bool]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        driver.app.theme = "textual-light"
        await question(driver, kb)

    assert looks_as_before(play, WIDE)


def test_entities_in_a_tiny_terminal(looks_as_before: Callable[..., bool]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await question(driver, kb)
        await driver.press("tab")

    assert looks_as_before(play, TINY)


def test_why_in_a_tiny_terminal(looks_as_before: Callable[..., bool]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await question(driver, kb)
        await driver.press("x")

    assert looks_as_before(play, TINY)


def test_an_error(looks_as_before: Callable[..., bool]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await question(driver, kb)
        kb.fails = IndexFault("the index in .kbx/index is damaged; run kbx index --full")
        driver.explore.query_one(QueryLine).value = "kiosk"
        await driver.until(lambda: driver.explore.query_one(StatusLine).error)

    assert looks_as_before(play, NARROW)


def test_indexing(looks_as_before: Callable[..., bool]) -> None:
    kb = FakeKb(indexed=False, vector_share=0.25)
    kb.steps = (
        Progress("vectors", 5, 20, 10.0, 26.0, True),
        Progress("vectors", 9, 20, 1, 1, True),
    )

    async def play(driver: Driver, kb: FakeKb) -> None:
        kb.step_gate.release()
        await driver.until(lambda: driver.explore.query_one(StatusLine).progress)
        await question(driver, kb)

    assert looks_as_before(play, WIDE, kb)


def test_hostile_and_wide_text(looks_as_before: Callable[..., bool]) -> None:
    async def play(driver: Driver, kb: FakeKb) -> None:
        await driver.ask("hostile kiosk text")
        await driver.press("down")
        await driver.until(lambda: "says anything" in driver.text_of(ResultList))

    assert looks_as_before(play, WIDE)
