"""The chip for the time that a query asks for, its keys, and undo."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.search.request import command_line
from kbx_tui.tui.explore.chips import DateChip
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, TINY, WIDE, Driver, running
from tests.functional.tui.watched import Watched

DATED = "platform sync in March 2026"


def chip(driver: Driver) -> DateChip:
    return driver.explore.query_one(DateChip)


async def test_chip_shows_the_time_that_was_read(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("platform sync")
        assert not chip(driver).display
        await driver.ask(DATED)
        await driver.until_shown(DateChip, "prefers March 2026", "t remove", "T only")
        await driver.press("down")
        await driver.until_shown(WhyPane, "date", "of that time")


async def test_d_removes_the_preference_and_z_brings_it_back(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        await driver.ask(DATED)
        preferred = driver.paths
        driver.results.show_grades({preferred[0]: 3})
        assert "of the" not in str(driver.results.border_title)  # cut, it would read as 1 of 1
        await driver.press("escape", "t")
        await driver.until_shown(DateChip, "date words are not read", "t read them")
        await driver.press("z")
        await driver.until_shown(DateChip, "prefers March 2026")
        await driver.until_shown(StatusLine, "documents of that time are preferred again")
        assert driver.paths == preferred


async def test_capital_d_filters_by_the_time(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(DATED)
        await driver.press("escape", "T")
        await driver.until_shown(DateChip, "only March 2026", "T prefer", "t remove")
        assert {result.date[:7] for result in driver.results.rows} == {"2026-03"}
        usual = driver.explore.model.defaults.request()
        command = command_line(driver.state.request(), usual)
        assert command == "kbx search --dates filter 'platform sync in March 2026'"
        await driver.press("T")
        await driver.until_shown(DateChip, "prefers March 2026")
        assert len({result.date[:7] for result in driver.results.rows}) > 1


async def test_removed_date_is_read_again_in_the_next_query(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(DATED)
        await driver.press("escape", "t")
        await driver.until_shown(DateChip, "date words are not read")
        driver.explore.query_one(QueryLine).value = ""
        await driver.until(lambda: not chip(driver).display)
        await driver.ask("migration in January 2026")
        await driver.until_shown(DateChip, "prefers January 2026")


async def test_keys_say_so_where_the_query_has_no_date_words(demo: Path) -> None:
    watched = Watched()
    async with running(demo, WIDE, watched=watched) as driver:
        watched.retrieving.clear()
        await driver.write(DATED)
        await driver.until(lambda: watched.queries)
        await driver.press("escape", "t")
        await driver.until_shown(StatusLine, "still searching")
        watched.retrieving.set()
        await driver.press("slash")
        await driver.ask("platform sync")
        await driver.press("escape", "t")
        await driver.until_shown(StatusLine, "the query has no date words")
        await driver.press("T")
        assert driver.state.dates == "prefer"


async def test_time_alone_lists_its_documents_newest_first(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("in March 2026")
        dates = [result.date for result in driver.results.rows]
        assert dates == sorted(dates, reverse=True)
        assert {day[:7] for day in dates} == {"2026-03"}
        await driver.until_shown(ResultList, "= date 2026-03-26")


async def test_time_without_documents_is_shown_as_such(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("platform sync in March 2019")
        await driver.until_shown(DateChip, "no document is dated March 2019")


async def test_a_chip_names_no_keys_where_they_would_be_cut(demo: Path) -> None:
    async with running(demo, TINY) as driver:
        await driver.ask(DATED)
        await driver.until_shown(DateChip, "prefers March 2026")
        assert "t rem" not in driver.text_of(DateChip)
