"""Narrowing in the app: filters typed in the query, their chips, and facets."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.tui.explore.chips import FilterChip
from kbx_tui.tui.explore.facet_list import FacetList
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, WIDE, running


async def test_filters_are_completed_shown_as_chips_and_removed(demo_kb_path: Path) -> None:
    async with running(demo_kb_path, WIDE) as driver:
        await driver.ask("rollback")
        matched, line = driver.view.matched, driver.explore.query_one(QueryLine)
        line.show_query("rollback type:mee")
        await driver.until(lambda: line.completion == "rollback type:meeting")
        assert driver.state.query == "rollback"  # half a type narrows nothing
        await driver.press("tab")
        await driver.until(lambda: driver.view.query == "rollback type:meeting")
        assert driver.view.filters == ("type:meeting",)
        assert driver.view.matched < matched
        line.show_query("rollback type:meeting @alcie")
        await driver.press("down")
        await driver.until_shown(ResultList, "There is no document with type:meeting and @alcie")
        assert "no entity is called alcie; did you mean Alice Chen?" in driver.view.note
        await driver.press("backspace")
        await driver.until(lambda: driver.view.query == "rollback type:meeting")
        await driver.until_shown(FilterChip, "[type:meeting x]", "backspace remove")
        await driver.pilot.click(FilterChip, offset=(3, 0))
        await driver.until(lambda: driver.view.query == "rollback")
        assert not driver.explore.query_one(FilterChip).display
        await driver.press("backspace", "z")
        await driver.until(lambda: driver.view.query == "rollback type:meeting")


async def test_facets_narrow_by_one_key_and_undo(demo_kb_path: Path) -> None:
    async with running(demo_kb_path, NARROW) as driver:
        await driver.press("escape", "D")
        await driver.until_shown(StatusLine, "no results to narrow")
        await driver.ask("migration")
        await driver.press("down", "D")
        await driver.until_shown(FacetList, "Types", "meeting", "Tags")
        facets = driver.app.screen.query_one(FacetList)
        count = facets.rows[0].count
        await driver.press("enter")
        await driver.until(lambda: driver.view.query == "migration type:meeting")
        await driver.until(lambda: facets.rows[0].is_on)
        assert driver.view.matched == count == facets.total
        await driver.press("z")
        await driver.until(lambda: driver.view.query == "migration")
        await driver.until(lambda: not facets.rows[0].is_on)
        await driver.press("left", "left", "shift+right", "enter")
        await driver.until(lambda: "from:" in driver.view.query)
        assert "to:" in driver.view.query
        assert driver.view.results
        await driver.press("escape")
        await driver.until_focused(ResultList)
