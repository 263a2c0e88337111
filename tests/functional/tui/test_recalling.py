"""Recalling queries with their settings, saving one by name, and what is new in it."""

from __future__ import annotations

from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.tui.boxes.recall_box import RecallList
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import WIDE, running


async def test_a_past_query_is_found_and_run_with_its_settings(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.press("down", "right_square_bracket", "m")
        await driver.until(lambda: (driver.state.alpha, driver.state.mode) == (0.55, "flat"))
        await driver.press("enter")
        await driver.until(lambda: driver.explore.panes.read)
        with KnowledgeBase(demo_copy) as other:
            (past, *_) = other.queries.asked()
        assert past.found == driver.view.matched
        assert past.first[0] == driver.paths[0]
        assert past.settings["mode"] == "flat"
        await driver.press("escape", "m", "m", "left_square_bracket")
        await driver.until(lambda: (driver.state.alpha, driver.state.mode) == (0.5, "two-pass"))
        await driver.ask("rehearsal")
        await driver.press("slash", "ctrl+r")  # from the query line
        await driver.write("plan roll")
        await driver.until_shown(RecallList, "› rollback plan", "alpha .55", "found memory/")
        await driver.press("enter")
        await driver.until(lambda: driver.view.query == "rollback plan")
        assert (driver.state.mode, driver.state.alpha) == ("flat", 0.55)
        await driver.press("z")
        await driver.until(lambda: driver.view.query == "rehearsal")
        assert (driver.state.mode, driver.state.alpha) == ("two-pass", 0.5)


async def test_a_saved_query_lists_what_is_new_and_is_removed(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.press("down", "asterisk")
        await driver.write("rollbacks")
        await driver.press("enter")
        await driver.until_shown(StatusLine, "saved as rollbacks")
        page = demo_copy / "memory/notes/second-rollback.md"
        page.write_text("# Rollback plan, second\n\nThe rollback plan.\n", encoding="utf-8")
        await driver.press("R", "ctrl+r")
        await driver.until(lambda: "memory/notes/second-rollback.md" in driver.paths)
        await driver.until_shown(RecallList, "› rollbacks rollback plan")
        await driver.press("enter")
        await driver.until_shown(RecallList, "› new Rollback plan, second")
        await driver.press("enter")
        await driver.until(lambda: "1 new since" in driver.status.last)
        await driver.until_focused(ResultList)
        await driver.until(lambda: driver.results.current is not None)
        await driver.press("ctrl+r")
        await driver.until_shown(RecallList, "› rollbacks")
        await driver.press("ctrl+x")
        await driver.until(lambda: "rollbacks" not in driver.words_of(RecallList))
        await driver.press("escape")
        await driver.press("z")
        await driver.until_shown(StatusLine, "rollbacks is saved again")
        with KnowledgeBase(demo_copy) as other:
            await driver.until(lambda: [one.name for one in other.queries.saved()] == ["rollbacks"])
