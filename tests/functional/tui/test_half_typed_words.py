"""A word that is being typed finds what the whole word will find."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import WIDE, Driver, running


def line_of(driver: Driver) -> QueryLine:
    return driver.explore.query_one(QueryLine)


async def test_half_a_word_finds_what_the_whole_word_finds(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.write("migr")
        await driver.until(lambda: driver.titles)
        assert (line_of(driver).value, line_of(driver).completion) == ("migr", "migration")
        await driver.until_shown(StatusLine, "searching for migration; tab completes it")
        assert driver.state.query == driver.view.query == "migration"
        found = driver.paths
        await driver.write("ation")
        await driver.until(lambda: not driver.explore.model.is_searching)
        assert driver.paths == found
        assert line_of(driver).completion in ("", "migration")
        await driver.until(lambda: "searching for" not in driver.words_of(StatusLine))


async def test_tab_or_leaving_the_line_takes_the_whole_word(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.write("rollb")
        await driver.until(lambda: line_of(driver).completion == "rollback")
        await driver.press("tab")
        assert line_of(driver).value == "rollback"
        await driver.write(" migr")
        await driver.until(lambda: line_of(driver).completion == "rollback migration")
        await driver.press("down")
        await driver.until_focused(ResultList)
        await driver.until(lambda: line_of(driver).value == "rollback migration")
        assert driver.state.query == "rollback migration"


async def test_a_space_searches_for_the_letters_alone(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.write("migr")
        await driver.until(lambda: driver.state.query == "migration")
        await driver.write(" ")
        await driver.until(lambda: driver.explore.view is not None and driver.view.query == "migr")
        await driver.press("down")
        await driver.until_focused(ResultList)
        assert (line_of(driver).value.strip(), driver.state.query) == ("migr", "migr")


async def test_a_shorter_word_withdraws_the_completion(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.write("migr")
        await driver.until(lambda: line_of(driver).completion == "migration")
        await driver.press("backspace", "backspace")
        await driver.until(lambda: driver.state.query == "mi")
        await driver.until(lambda: not driver.explore.model.is_searching)
        assert line_of(driver).completion in ("", "mi")
        await driver.press("down")
        await driver.pilot.pause()
        assert line_of(driver).value == "mi"


async def test_a_word_left_before_its_answer_is_completed_with_it(demo: Path) -> None:
    async with running(demo, WIDE, debounce=0.05) as driver:
        await driver.write("migr")
        await driver.press("down")
        await driver.until(lambda: line_of(driver).value == "migration")
        assert driver.state.query == "migration"
