"""What a file says is shown, and does nothing."""

from __future__ import annotations

import pytest

from kbx_tui.tui.widgets.preview_pane import PreviewPane
from kbx_tui.tui.widgets.result_list import ResultList
from tests.functional.tui.driving import NARROW, WIDE, running

ACTING = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_a_title_with_markup_and_escapes_is_text(size: tuple[int, int]) -> None:
    async with running(size=size) as driver:
        await driver.ask("hostile text")
        await driver.until(lambda: "[red]not red[/red] and" in driver.text_of(ResultList))
        await driver.press("down", "enter")
        await driver.until(lambda: "[@click=app.quit]quit[/]" in driver.text_of(PreviewPane))
        text = driver.screen_text()
        assert not any(character in text for character in ACTING)


async def test_no_cell_of_the_screen_carries_a_link_or_an_action_from_a_file() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask("hostile text")
        await driver.press("down", "enter")
        await driver.until(lambda: "[@click=app.quit]quit[/]" in driver.text_of(PreviewPane))
        for strip in driver.app.screen._compositor.render_strips():
            for segment in strip:
                assert segment.style is None or segment.style.link is None
                assert segment.style is None or "@click" not in segment.style.meta


async def test_wide_characters_keep_the_columns_straight() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask("kiosk")
        await driver.until(lambda: "港のキオスク" in driver.text_of(ResultList))
        results = driver.results
        lines = [results.draw(results.line_at(y, 60), 60) for y in range(2)]
        assert [line.cell_length for line in lines] == [60, 60]
        assert lines[0].text.rstrip().endswith("2026-02-11")
