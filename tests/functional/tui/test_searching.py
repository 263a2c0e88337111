"""Searching while typing: once per burst of keys, and never out of order."""

from pathlib import Path

from kbx_tui.errors import IndexFault
from kbx_tui.tui.explore.entities import EntityList
from kbx_tui.tui.explore.inputs import FilterChip, ModeBadge, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, WIDE, Driver, running
from tests.functional.tui.watched import Watched


async def test_a_slow_search_shows_a_badge_and_keeps_the_old_results(demo: Path) -> None:
    watched = Watched()
    async with running(demo, NARROW, watched=watched, asked="rollback plan") as driver:
        watched.retrieving.clear()
        driver.explore.query_one(QueryLine).value = "gangway"
        await driver.until_shown(ModeBadge, "searching")
        assert driver.titles[0] == "Rollback plan"
        watched.retrieving.set()
        await driver.until(lambda: driver.view.query == "gangway")
        await driver.until(lambda: "searching" not in driver.text_of(ModeBadge))


async def test_a_search_that_is_slow_while_the_app_ends_shows_nothing(demo: Path) -> None:
    async with running(demo, NARROW, asked="rollback plan") as driver:
        await driver.explore.query_one(ModeBadge).remove()
        driver.explore.model.on_slow()


async def test_new_query_moves_the_cursor_to_the_first_entity(demo: Path) -> None:
    async with running(demo, WIDE, asked="Alice Chen and Grace Tully") as driver:
        entities = driver.explore.query_one(EntityList)
        await driver.press("escape", "e", "down")
        assert entities.cursor == 1
        second = entities.current
        assert second is not None
        await driver.press("slash")
        await driver.until_focused(QueryLine)
        await driver.ask("what did Alice Chen and Grace Tully decide?")
        assert [entity.id for entity in entities.rows].index(second.id) == 1
        assert entities.cursor == 0


async def test_result_whose_title_is_the_query_comes_first_and_is_marked(demo: Path) -> None:
    async with running(demo, WIDE, asked="rollback plan") as driver:
        await driver.until_shown(
            ResultList, "1.00 ━━━━━━━━ Rollback plan · title asked for 2026-01-30"
        )
        await driver.until_shown(WhyPane, "1.00 title asked for: shown first")
        assert driver.titles[0] == "Rollback plan"


async def test_a_key_undoes_and_redoes_the_correction_of_a_misspelt_word(demo: Path) -> None:
    async with running(demo, WIDE, asked="linkspann") as driver:
        note = "searched for linkspan instead of linkspann; v w keeps yours"
        await driver.until_shown(StatusLine, note)
        assert "Mobile roadmap" in driver.titles
        await driver.press("escape", "v", "w")
        await driver.until_shown(ResultList, "Nothing found")
        await driver.until_shown(FilterChip, "spelled as typed")
        await driver.press("v", "w")
        await driver.until_shown(StatusLine, note)
        await driver.ask("linkspan")
        await driver.press("escape", "v", "w")
        await driver.until_shown(StatusLine, "no word of the query was corrected")


async def test_results_appear_while_typing_and_go_with_the_query(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.until_shown(ResultList, "Type to search", "for example what", "25 meetings")
        await driver.until_shown(EntityList, "What your query names")
        await driver.write("alice")
        await driver.until(lambda: "Alice Chen" in driver.titles)
        await driver.until_shown(EntityList, "● Alice Chen person 1.00")
        assert driver.has_focus(QueryLine)
        driver.explore.query_one(QueryLine).value = ""
        await driver.until_shown(ResultList, "Type to search")
        assert "●" not in driver.text_of(EntityList)


async def test_engine_error_is_shown_in_one_line_and_the_next_search_works(demo: Path) -> None:
    watched = Watched()
    async with running(demo, WIDE, watched=watched) as driver:
        watched.faults["retrieve"] = IndexFault("the index at /x is broken; run kbx index --full")
        driver.explore.query_one(QueryLine).value = "alice"
        await driver.until_shown(StatusLine, "kbx index --full")
        await driver.until_shown(ResultList, "That did not work")
        watched.faults.clear()
        await driver.ask("migration")
        await driver.until(lambda: not driver.status.display)
        assert driver.titles
        watched.faults["snippets"] = IndexFault("no snippet today")
        await driver.ask("rollback plan")
        await driver.until_shown(StatusLine, "no snippet today")
        assert driver.titles[0] == "Rollback plan"


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
