"""Searching while typing: once per burst of keys, and never out of order."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.errors import IndexFault
from kbx_tui.tui.explore.entities import EntityList
from kbx_tui.tui.explore.inputs import ModeBadge, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, WIDE, Driver, running
from tests.functional.tui.watched import Watched


async def test_results_appear_while_typing(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.write("alice")
        await driver.until(lambda: "Alice Chen" in driver.titles)
        await driver.until_shown(EntityList, "● Alice Chen person 1.00")
        assert driver.has_focus(QueryLine)


async def test_a_slow_search_shows_a_badge_and_keeps_the_old_results(demo: Path) -> None:
    watched = Watched()
    async with running(demo, NARROW, watched=watched) as driver:
        await driver.ask("rollback plan")
        watched.retrieving.clear()
        driver.explore.query_one(QueryLine).value = "gangway"
        await driver.until_shown(ModeBadge, "searching")
        assert driver.titles[0] == "Rollback plan"
        watched.retrieving.set()
        await driver.until(lambda: driver.view.query == "gangway")
        await driver.until(lambda: "searching" not in driver.text_of(ModeBadge))


async def test_badge_shows_search_mode_and_reason(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.until_shown(QueryLine, "two-pass · Alice Chen + Migration · ", " ms")
        assert driver.titles[0] == "Migration go/no-go"
        await driver.ask("yellow umbrella")
        await driver.until_shown(QueryLine, "flat · no entity named")
        await driver.ask("how long may rehearsal copies be kept")
        await driver.until_shown(QueryLine, "flat · entities below the threshold")
        assert driver.titles


async def test_badge_is_shortened_to_the_room_available(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        await driver.ask("yellow umbrella")
        await driver.until_shown(ModeBadge, "flat")
        assert "no entity named" not in driver.words_of(ModeBadge)
        await driver.ask(QUESTION)
        await driver.until_shown(ModeBadge, "two-pass")


async def test_badge_shows_the_share_of_vectors_while_some_are_missing(demo: Path) -> None:
    async with running(demo, WIDE, watched=Watched(vector_share=0.34)) as driver:
        await driver.ask("rehearsal")
        await driver.until_shown(QueryLine, "meaning 34 %")


async def test_entities_show_score_reason_and_threshold(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.until_shown(EntityList, "threshold .50")
        lines = [line.strip("│ ") for line in driver.text_of(EntityList).split("\n")]
        assert lines[1].startswith("● Alice Chen")
        assert lines[1].endswith("person 1.00")
        assert lines[2].startswith("name “Alice Chen”")
        assert lines[3].startswith("● Migration")
        assert "threshold .50" in lines[5]
        assert lines[6].startswith("○ ")


async def test_new_query_moves_the_cursor_to_the_first_entity(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("Alice Chen and Grace Tully")
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


async def test_focused_entity_keeps_the_cursor_when_it_is_pinned(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("Alice Chen and Grace Tully")
        entities = driver.explore.query_one(EntityList)
        await driver.press("escape", "e", "down")
        second = entities.current
        await driver.press("plus")
        await driver.until(lambda: any(entity.pinned for entity in entities.rows))
        assert entities.current is not None
        assert second is not None
        assert entities.current.id == second.id


async def test_snippet_is_shown_below_the_title(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.until_shown(ResultList, "Go for the Migration: cut-over on Thursday")
        assert driver.watched.calls["retrieve"] == 1


async def test_result_whose_title_is_the_query_comes_first_and_is_marked(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.until_shown(ResultList, "1.00 ████████ Rollback plan = title 2026-01-30")
        await driver.until_shown(WhyPane, "1.00 exact title: shown first")
        assert driver.titles[0] == "Rollback plan"


async def test_empty_query_shows_suggestions_and_clears_the_results(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.until_shown(ResultList, "Type to search", "for example what", "25 meetings")
        await driver.until_shown(EntityList, "What your query names:")
        await driver.ask("alice")
        await driver.until_shown(EntityList, "Alice Chen")
        driver.explore.query_one(QueryLine).value = ""
        await driver.until_shown(ResultList, "Type to search")
        assert "Alice Chen" not in driver.text_of(EntityList)


async def test_search_without_results_suggests_what_to_do(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "m", "m")
        await driver.ask("zzzz")
        await driver.until_shown(
            ResultList,
            "Nothing found for “zzzz”",
            "None of the 63 documents",
            "m also searches by meaning",
        )
        assert "fast · " in driver.text_of(QueryLine)
        assert "meaning" not in driver.text_of(QueryLine)
        await driver.until_shown(EntityList, "A fast search looks for no people")


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


async def test_engine_error_keeps_the_results_shown(demo: Path) -> None:
    watched = Watched()
    async with running(demo, WIDE, watched=watched) as driver:
        await driver.ask("rollback plan")
        watched.faults["retrieve"] = IndexFault("the disk is gone")
        driver.explore.query_one(QueryLine).value = "alice"
        await driver.until_shown(StatusLine, "the disk is gone")
        assert driver.titles[0] == "Rollback plan"


async def test_unexpected_error_is_shown_in_one_line_with_its_type(demo: Path) -> None:
    watched = Watched()
    async with running(demo, WIDE, watched=watched) as driver:
        watched.faults["retrieve"] = ZeroDivisionError("oh\x1b[31m no")
        driver.explore.query_one(QueryLine).value = "alice"
        await driver.until_shown(StatusLine, "ZeroDivisionError: oh no")


async def test_failing_snippet_keeps_the_results(demo: Path) -> None:
    watched = Watched()
    watched.faults["snippets"] = IndexFault("no snippet today")
    async with running(demo, WIDE, watched=watched) as driver:
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
