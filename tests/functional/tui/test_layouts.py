"""The same app at three sizes."""

from __future__ import annotations

from functools import partial

import pytest
from textual.widget import Widget

from kbx_tui.tui.widgets.entity_list import EntityList, EntityStrip
from kbx_tui.tui.widgets.mode_badge import ModeBadge
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.why_pane import WhyPane
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, running


async def test_wide_shows_all_panes_side_by_side() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.pilot.pause()
        panes = [driver.explore.query_one(kind) for kind in (EntityList, ResultList, WhyPane)]
        assert [pane.region.x for pane in panes] == sorted(pane.region.x for pane in panes)
        assert sum(pane.region.width for pane in panes) == WIDE[0]
        assert not driver.explore.query_one(EntityStrip).display


async def test_narrow_shows_entities_in_one_line_and_why_below() -> None:
    async with running(size=NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.until(
            lambda: "● Alice Chen 1.00  ● Migration 1.00" in driver.text_of(EntityStrip)
        )
        why, results = driver.explore.query_one(WhyPane), driver.results
        assert why.region.y == results.region.bottom
        assert results.line_room >= 8
        assert ".80 = .50 × .60 document" in driver.text_of(WhyPane)
        assert "entity 1.00" in driver.text_of(WhyPane)


async def test_narrow_lists_the_entities_when_asked() -> None:
    async with running(size=NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e")
        await driver.until(lambda: isinstance(driver.explore.focused, EntityList))
        assert not driver.results.display
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.explore.focused, ResultList))


def _has_focus(driver: Driver, kind: type[Widget]) -> bool:
    return isinstance(driver.explore.focused, kind)


async def test_tiny_shows_one_pane_and_tab_goes_round() -> None:
    async with running(size=TINY) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape")
        panes: list[type[Widget]] = [ResultList, EntityList, WhyPane, ResultList]
        for kind in panes:
            await driver.until(partial(_has_focus, driver, kind))
            shown = [pane for pane in panes[:3] if driver.explore.query_one(pane).display]
            assert shown == [kind]
            assert driver.explore.query_one(QueryLine).region.height == 1
            assert "two-pass" in driver.text_of(ModeBadge)
            await driver.press("tab")


@pytest.mark.parametrize("size", [(200, 60), WIDE, (100, 30), NARROW, TINY, (40, 12), (20, 6)])
async def test_no_size_breaks_the_app(size: tuple[int, int]) -> None:
    async with running(size=size) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "j", "tab", "right_square_bracket", "question_mark", "escape")
        assert driver.app.is_running


async def test_a_terminal_that_changes_its_size_changes_the_layout() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.pilot.resize_terminal(*NARROW)
        await driver.until(lambda: driver.explore.query_one(EntityStrip).display)
        await driver.pilot.resize_terminal(*WIDE)
        await driver.until(lambda: driver.explore.query_one(EntityList).display)
        await driver.until(lambda: "2026-03-17" in driver.text_of(ResultList))
