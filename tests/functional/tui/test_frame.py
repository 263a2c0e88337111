"""The frame of every mode: tabs at the top, and the status line over the bottom."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.filter import Monochrome, NoColor

from kbx_tui import KnowledgeBase
from kbx_tui.tui.dedup.panes import DraftList
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.experts.screen import Experts
from kbx_tui.tui.explore.entity_list import EntityList
from kbx_tui.tui.explore.inputs import Knobs, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.shell.mode_tabs import ModeTabs
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running

README_QUESTION = "what did the platform team decide about migration?"
LONG = "kbx.toml: search.hierarchy_alpha = 7 is not valid: " + "use a number from 0 to 1, " * 8


async def test_tabs_show_modes_drafts_and_base_and_open_a_mode_on_a_click(
    demo_copy: Path,
) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.drafts.save(kb.drafts.in_file("drafts.md"))
    async with running(demo_copy, WIDE) as driver:
        await driver.until_shown(ModeTabs, "› F1 Explore F2 Drafts (7)", "63 documents")
        await click_tab(driver, "Experts")
        await driver.until(lambda: isinstance(driver.app.screen, Experts))
        await driver.until_shown(ModeTabs, "F1 Explore F2 Drafts (7) › F3 Experts")
        await click_tab(driver, "Drafts")
        await driver.until(lambda: isinstance(driver.app.screen, Dedup))
        drafts = driver.app.screen.query_one(DraftList)
        await driver.until(lambda: len(drafts.rows) == 7)
        await driver.press("escape", "delete")
        await driver.until_shown(ModeTabs, "› F2 Drafts (6)")
        await driver.press("f1")
        await driver.until_shown(ModeTabs, "› F1 Explore F2 Drafts (6)")


async def test_messages_move_nothing_and_long_ones_are_whole_while_they_are_read(
    demo: Path,
) -> None:
    async with running(demo, NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape")
        before = places(driver)
        driver.status.show_notice("one")
        await driver.until_shown(StatusLine, "one")
        assert places(driver) == before
        driver.app.show_error(LONG)
        await driver.until_shown(StatusLine, "✗ kbx.toml: ", "0 to 1, use a number")
        assert driver.status.size.height > 1
        assert driver.status.region.bottom == driver.explore.query_one(KeyBar).region.y
        assert places(driver) == before
        driver.status.show_notice("two")  # a notice comes before an error, then goes
        await driver.until_shown(StatusLine, "two")
        assert driver.status.size.height == 1
        assert places(driver) == before


async def test_last_message_is_shown_again(demo: Path) -> None:
    async with running(demo, TINY) as driver:
        await driver.press("escape", "m")
        await driver.until_shown(StatusLine, "flat search")
        await driver.until(lambda: not driver.status.notice, seconds=30.0)
        await driver.until_shown(KeyBar, "? help")
        await driver.press("exclamation_mark")
        await driver.until_shown(StatusLine, "flat search")


async def test_tabs_are_shown_at_every_size(demo: Path) -> None:
    sizes: tuple[Size, ...] = (TINY, NARROW, WIDE)
    async with running(demo, WIDE) as driver:
        for size in sizes:
            await driver.pilot.resize_terminal(*size)
            await driver.until(lambda size=size: driver.explore.size.width == size[0])  # type: ignore[misc]
            await driver.until_shown(ModeTabs, "› F1 Explore")
            assert driver.explore.query_one(ModeTabs).region.y == 0


async def click_tab(driver: Driver, title: str) -> None:
    line = driver.text_of(ModeTabs)
    await driver.pilot.click(ModeTabs, offset=(line.index(title), 0))


def places(driver: Driver) -> list[object]:
    kinds = (ModeTabs, Knobs, KeyBar)
    return [driver.results.region, *(driver.explore.query_one(kind).region for kind in kinds)]


async def test_zoomed_pane_fills_the_screen_until_the_focus_leaves_it(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e", "Z")
        entities = driver.explore.query_one(EntityList)
        await driver.until(lambda: entities.region.width == WIDE[0])
        assert driver.explore.query_one(ModeTabs).region.y == 0
        assert entities.region.height == WIDE[1] - 2
        await driver.press("Z")
        await driver.until(lambda: entities.region.width < 40)
        await driver.press("Z", "slash")  # a field cannot be used while it is hidden
        await driver.until(lambda: driver.results.region.width > 40)
        await driver.until(lambda: driver.explore.maximized is None)


async def test_question_of_the_readme_is_whole_at_80_columns(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        await driver.ask(README_QUESTION)
        await driver.until_shown(QueryLine, README_QUESTION)
        assert len(README_QUESTION) == 50


async def test_no_color_shows_text_in_a_theme_of_terminal_colours(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(demo, NARROW) as driver:
        for theme, kind in (("ansi-dark", NoColor), ("textual-dark", Monochrome)):
            driver.app.theme = theme
            await driver.pilot.pause()
            filters = [type(each) for each in driver.app.get_line_filters()]
            assert [each for each in filters if each in (NoColor, Monochrome)] == [kind]
        await driver.ask(README_QUESTION)
        await driver.press("escape")
        await driver.until_focused(ResultList)
        why = driver.explore.query_one(WhyPane)
        await driver.until(lambda: driver.results.styles.border_title_style.reverse)
        assert not why.styles.border_title_style.reverse  # the title says who has the focus
