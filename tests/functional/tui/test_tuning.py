"""Sliders and the mode key rank again; they never search again."""

from __future__ import annotations

from kbx_tui.search.tuning import Tuning
from kbx_tui.tui.widgets.mode_badge import ModeBadge
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, WIDE, Driver, running
from tests.functional.tui.fake_kb import FakeKb


def alpha_of(driver: Driver) -> float:
    assert driver.explore.view is not None
    return driver.explore.view.knobs.alpha


async def test_sliders_rank_again_and_never_retrieve() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        await driver.ask(QUESTION)
        before = list(driver.titles)
        await driver.press("down")
        for _ in range(8):
            await driver.press("left_square_bracket")
        for _ in range(4):
            await driver.press("left_curly_bracket")
        await driver.until(lambda: alpha_of(driver) == 0.1)
        assert driver.titles != before
        assert kb.calls["retrieve"] == 1
        assert kb.calls["rank"] > 1


async def test_no_step_of_a_held_key_is_lost() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape")
        for _ in range(9):
            driver.app.simulate_key("right_square_bracket")
        await driver.until(lambda: alpha_of(driver) == 0.95)


async def test_a_row_that_moved_says_by_how_much_for_a_moment() -> None:
    async with running(size=WIDE) as driver:
        driver.results.SETTLE_SECONDS = 0.3
        await driver.ask(QUESTION)
        await driver.press("down")
        for _ in range(10):
            await driver.press("right_square_bracket")
        await driver.until(lambda: "▲" in driver.text_of(ResultList))
        await driver.until(lambda: "▲" not in driver.text_of(ResultList))


async def test_the_document_under_the_cursor_stays_under_it() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "down", "down")
        chosen = driver.results.current
        for _ in range(10):
            await driver.press("right_square_bracket")
        await driver.until(lambda: alpha_of(driver) == 1.0)
        assert chosen is not None
        assert driver.results.current is not None
        assert driver.results.current.row == chosen.row


async def test_a_slider_has_fine_steps_and_ends() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        slider = driver.explore.query_one("#alpha", NumberSlider)
        slider.focus()
        await driver.press("right", "l", "shift+right", "L")
        await driver.until(lambda: alpha_of(driver) == 0.62)
        await driver.press("home")
        await driver.until(lambda: alpha_of(driver) == 0.0)
        await driver.press("left", "end", "h", "shift+left", "H")
        await driver.until(lambda: alpha_of(driver) == 0.93)


async def test_brackets_in_the_query_are_text() -> None:
    async with running(size=WIDE) as driver:
        await driver.press("left_square_bracket", "q", "m")
        assert driver.explore.query_one(QueryLine).value == "[qm"
        assert driver.explore.controller.knobs.alpha == 0.5


async def test_m_switches_to_flat_and_back() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "m")
        await driver.until(lambda: "flat · entities switched off" in driver.text_of(ModeBadge))
        await driver.press("m")
        await driver.until(lambda: "two-pass" in driver.text_of(ModeBadge))
        assert kb.calls["retrieve"] == 1


async def test_knobs_turned_before_a_query_count_for_it() -> None:
    async with running(size=WIDE) as driver:
        await driver.press("escape", "right_square_bracket", "right_square_bracket")
        await driver.ask(QUESTION)
        assert alpha_of(driver) == 0.6


async def test_knobs_start_where_the_configuration_says() -> None:
    async with running(FakeKb(tuning=Tuning(alpha=0.7, entity_threshold=0.3)), size=WIDE) as driver:
        slider = driver.explore.query_one("#alpha", NumberSlider)
        await driver.until(lambda: slider.value == 0.7)
        await driver.ask(QUESTION)
        assert alpha_of(driver) == 0.7
        assert slider.value == 0.7


async def test_an_alpha_without_effect_says_so_beside_the_slider() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask("rehearsal")
        await driver.until(lambda: "alpha has no effect" in driver.screen_text())


async def test_an_alpha_without_effect_says_so_when_moved_where_room_is_short() -> None:
    async with running(size=NARROW) as driver:
        await driver.ask("rehearsal")
        assert "alpha has no effect" not in driver.screen_text()
        await driver.press("down", "right_square_bracket")
        await driver.until(lambda: "alpha has no effect" in driver.text_of(StatusLine))
