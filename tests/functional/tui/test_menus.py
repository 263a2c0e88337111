"""Menus, the keys from before them, the palette, jump mode and the filter of the help."""

from functools import partial
from pathlib import Path

import pytest
from textual.events import Click
from textual.widget import Widget
from textual.widgets import OptionList

from kbx_tui.tui.dedup.panes import DraftList
from kbx_tui.tui.explore.entities import EntityCard
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.tour import TourBubble
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.shell.help_screen import Help, HelpText
from kbx_tui.tui.shell.menu import Jump, Menu, MenuEntries, ThemePalette
from kbx_tui.tui.shell.questions import QuestionScreen
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running


def is_menu(driver: Driver) -> bool:
    return isinstance(driver.app.screen, Menu)


@pytest.mark.parametrize("size", [WIDE, TINY])
async def test_a_menu_runs_a_command_by_key_or_click_and_closes(demo: Path, size: Size) -> None:
    async with running(demo, size, asked=QUESTION) as driver:
        await driver.press("down", "v")
        await driver.until_shown(
            MenuEntries, "Query", "Results", "Window", "s sort", "b other base"
        )
        assert "date" not in driver.text_of(MenuEntries)  # the query has no date words
        await driver.press("T")  # its key is answered nevertheless
        await driver.until(lambda: "has no date words" in driver.status.notice)
        assert not is_menu(driver)
        await driver.press("v")
        await driver.until_shown(MenuEntries, "s sort")
        await driver.press("s")
        await driver.until(lambda: driver.state.sort == "date")
        assert not is_menu(driver)
        await driver.press("v")
        await driver.until(lambda: "sort" in driver.text_of(MenuEntries))
        lines = driver.text_of(MenuEntries).split("\n")
        y = next(y for y, line in enumerate(lines) if "s sort" in line)
        await driver.pilot.click(MenuEntries, offset=(lines[y].index("sort"), y))
        await driver.until(lambda: driver.state.sort == "score")
        assert not is_menu(driver)
        await driver.press("v", "escape")
        await driver.until(lambda: not is_menu(driver))


async def test_the_menu_of_grades_stays_until_another_key(judged_demo: Path) -> None:
    query = "cut-over rehearsal"
    async with running(judged_demo, TINY, asked=query) as driver:
        await driver.press("down", "g")
        await driver.until(lambda: is_menu(driver))
        await driver.press("2", "0")
        judging, title = driver.explore.session.judging, driver.titles[3]
        await driver.until(lambda: len(judging.grades_of(query)) == 2)
        await driver.press("down", "g", "1")  # the row under the cursor
        await driver.until(lambda: judging.grades_of(query).get(driver.paths[3]) == 1)
        assert is_menu(driver)
        assert f"graded 1: {title[:20]}" in driver.screen_text()
        await driver.press("question_mark")  # another key acts as it does without a menu
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, Help))
        await driver.press("g")
        await driver.until(lambda: is_menu(driver))
        await driver.press("f2")
        await driver.until(lambda: driver.app.screen.query(DraftList))


async def test_a_key_that_moved_still_works_and_only_the_help_says_the_new_one(demo: Path) -> None:
    async with running(demo, (140, 200), asked=QUESTION) as driver:
        await driver.press("down", "s")
        assert driver.state.sort == "date"
        await driver.press("G", "ctrl+b")
        assert driver.results.cursor < len(driver.titles) - 1
        assert "v s" not in driver.status.text and "pgup" not in driver.status.text
        await driver.press("question_mark")
        await driver.until_shown(HelpText, "s: v s", "ctrl+b: pgup")
        assert "g: home" not in driver.words_of(HelpText)


async def test_a_key_given_to_a_command_of_a_menu_works_at_once(demo_copy: Path) -> None:
    keys = '[keys]\n"sort.next" = "ctrl+e"\nedit = "T"\n'
    (demo_copy / "kbx.toml").write_text(keys, encoding="utf-8")
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "ctrl+e")
        await driver.until(lambda: driver.state.sort == "date")
        await driver.press("T")  # its former command does not answer to it
        assert driver.state.dates == "prefer"


async def test_jump_mode_goes_to_the_pane_of_a_letter_also_from_a_field(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        assert driver.has_focus(QueryLine)
        await driver.press("ctrl+l")
        await driver.until(lambda: isinstance(driver.app.screen, Jump))
        jump = driver.app.screen
        assert isinstance(jump, Jump)
        letters = {type(pane): letter for letter, pane in jump.targets.items()}
        await driver.press(letters[WhyPane])
        await driver.until_focused(WhyPane)
        await driver.press("ctrl+l", letters[ResultList])
        await driver.until_focused(ResultList)
        await driver.press("ctrl+l", "escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert driver.has_focus(ResultList)
        why = driver.explore.query_one(WhyPane)
        await driver.until(lambda: why.region)
        order = [*Jump(driver.explore).targets.values()]
        for hidden in (why, why.parent):  # while a pane has no place yet, the letters stay
            assert isinstance(hidden, Widget)
            hidden.display = False
            await driver.until(lambda: not why.region)
            hidden.display = True
            assert [*Jump(driver.explore).targets.values()] == order
            await driver.until(lambda: why.region)


async def click_twice(driver: Driver, widget: Widget, x: int, y: int) -> None:
    """Click as a busy app sees it: the second click waits while the first is handled."""
    at = widget.content_region.offset
    for _ in range(2):
        click = Click(widget, x + 1, y + 1, 0, 0, 1, False, False, False, at.x + x, at.y + y)
        widget.post_message(click)
    await driver.pilot.pause()


async def test_what_covers_a_screen_closes_once(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "v")
        await driver.until_shown(MenuEntries, "s sort")
        lines = driver.text_of(MenuEntries).split("\n")
        y = next(y for y, line in enumerate(lines) if "s sort" in line)
        x = lines[y].index("sort") - 1
        await click_twice(driver, driver.app.screen.query_one(MenuEntries), x, y - 1)
        assert (driver.app.screen, driver.state.sort) == (driver.explore, "date")
        for key, kind in (("v", Menu), ("ctrl+l", Jump)):
            await driver.press(key)
            await driver.until(lambda kind=kind: isinstance(driver.app.screen, kind))  # type: ignore[misc]
            await click_twice(driver, driver.app.screen, 0, 0)
            assert driver.app.screen is driver.explore
        await driver.press("ctrl+l")
        await driver.pilot.resize_terminal(*NARROW)
        await driver.until(lambda: driver.app.screen is driver.explore)
        driver.app.push_screen(QuestionScreen("Allow it", "nothing changes", "it may"))
        await driver.press("enter", "enter")
        assert driver.app.screen is driver.explore


async def test_the_palette_shows_keys_and_first_what_was_used_most(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        for _ in range(2):
            await driver.press("ctrl+p")
            await driver.write("only that date")
            await driver.until(lambda: "Only that date  v T" in driver.screen_text())
            await driver.press("enter")
            await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.press("ctrl+p")
        await driver.until(lambda: "Why not  w" in driver.screen_text())
        shown = driver.screen_text()
        assert shown.index("Only that date  v T") < shown.index("Query  /")


async def test_the_palette_finds_commands_by_the_words_people_use_and_no_others(demo: Path) -> None:
    found = {
        "export": "Copy: Web page",
        "options": "Save settings",
        "directory": "Folder",
        "delete": "Drop filter",
        "manual": "Keys",
        "date": "View: Only that date",
    }
    async with running(demo, WIDE, asked=QUESTION) as driver:

        def shows(title: str) -> bool:
            return f"{title}  " in driver.screen_text()

        await driver.press("escape", "ctrl+p")
        for word, title in found.items():
            await driver.press("ctrl+u")
            await driver.write(word)
            await driver.until(partial(shows, title))
        await driver.press("ctrl+u")
        await driver.write("tourist")
        await driver.until(lambda: "No matches found" in driver.screen_text())
        await driver.press(*["backspace"] * 3)
        await driver.until(lambda: "Start the tour" in driver.screen_text())
        await driver.press("enter")
        await driver.until_shown(TourBubble, "2/6 Press ↓")  # a question is asked already
        assert driver.has_focus(QueryLine)


async def test_the_palette_opens_cards_and_runs_commands_of_the_focused_pane(demo: Path) -> None:
    async with running(demo, NARROW, asked=QUESTION) as driver:
        await driver.press("escape", "e", "ctrl+p")
        await driver.write("mute")
        await driver.until(lambda: "Mute  -" in driver.screen_text())
        await driver.press("enter")
        await driver.until(lambda: driver.state.muted)
        await driver.press("f3", "ctrl+p")
        await driver.write("bob")
        await driver.until(lambda: "Open card: Bob Okafor" in driver.screen_text())
        await driver.press("enter")
        await driver.until_shown(EntityCard, "Bob Okafor", "Open items")


async def test_themes_are_shown_at_the_cursor_and_esc_goes_back(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        before, kept = driver.app.theme, driver.app.app_state.user.theme
        driver.app.search_themes()
        await driver.until(lambda: "nord" in driver.screen_text())
        await driver.press("down")
        await driver.until(lambda: driver.app.theme != before)
        driver.app.post_message(ThemePalette.Closed(option_selected=False))
        driver.app.theme = "nord"  # a preview while the palette closes
        await driver.press("escape")
        await driver.until(lambda: driver.app.theme == before)
        await driver.pilot.pause()
        assert driver.app.app_state.user.theme == kept
        driver.app.search_themes()
        await driver.until(lambda: isinstance(driver.app.screen, ThemePalette))
        await driver.until(lambda: driver.app.screen.query_one(OptionList).option_count > 5)
        last = driver.app.screen.query_one(OptionList).options[-1].prompt
        assert "ansi" in str(last)  # its colours are the terminal's, whatever its name says
        await driver.write("light")
        await driver.until(lambda: "catppuccin-latte · light" in driver.screen_text())
        assert "nord" not in driver.screen_text()
        await driver.press("ctrl+u")
        await driver.write("nord")
        await driver.until(lambda: driver.app.theme == "nord")
        await driver.press("enter")
        await driver.until(lambda: driver.app.app_state.user.theme == "nord")
        assert driver.app.theme == "nord"


async def test_the_help_shows_only_what_has_the_typed_word(demo: Path) -> None:
    async with running(demo, NARROW, asked=QUESTION) as driver:
        await driver.press("down", "question_mark")
        await driver.until_shown(HelpText, "how well the result answers")
        await driver.press("slash")
        await driver.write("citation")
        await driver.until_shown(HelpText, "y c", "as a Markdown link")
        assert "go to the next pane" not in driver.text_of(HelpText)
        assert "esc shows all again" in driver.screen_text()
        await driver.press("escape")
        await driver.until_shown(HelpText, "how well the result answers")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
