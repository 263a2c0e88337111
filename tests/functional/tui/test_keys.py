"""Every key of the registry does what the registry says, wherever it should work."""

from __future__ import annotations

import pytest
from textual.widget import Widget

from kbx_tui.tui.commands import Scope, commands_in
from kbx_tui.tui.screens.help import Help, HelpText
from kbx_tui.tui.widgets.entity_list import EntityList
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.preview_pane import PreviewPane
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.why_pane import WhyPane
from tests.functional.tui.driving import QUESTION, WIDE, running

FOCUS: list[tuple[type[Widget], list[Scope]]] = [
    (QueryLine, ["query", "app"]),
    (ResultList, ["list", "screen", "app"]),
    (EntityList, ["list", "screen", "app"]),
    (WhyPane, ["text", "screen", "app"]),
    (PreviewPane, ["preview", "text", "screen", "app"]),
    (NumberSlider, ["slider", "screen", "app"]),
]


@pytest.mark.parametrize(("widget", "scopes"), FOCUS, ids=lambda one: getattr(one, "__name__", ""))
async def test_no_widget_swallows_a_key_of_the_registry(
    widget: type[Widget], scopes: list[Scope]
) -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        if widget is PreviewPane:
            await driver.press("down", "enter")
        driver.explore.query(widget).first().focus()
        await driver.until(lambda: isinstance(driver.explore.focused, widget))
        active = driver.explore.active_bindings
        seen: set[str] = set()
        for scope in scopes:  # from the inside out: the inner scope wins
            for command in commands_in(scope):
                for key in command.keys.split(","):
                    if key not in seen:
                        seen.add(key)
                        assert active[key].binding.action == command.action, key


async def test_slash_and_escape_move_between_typing_and_commands() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.explore.focused, ResultList))
        await driver.press("slash")
        await driver.until(lambda: isinstance(driver.explore.focused, QueryLine))
        assert driver.explore.query_one(QueryLine).value == QUESTION


async def test_keys_typed_faster_than_the_app_answers_go_where_they_should() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        for key in ("down", "j", "m", "right_square_bracket", "slash", "a", "q"):
            driver.app.simulate_key(key)
        await driver.until(lambda: driver.explore.query_one(QueryLine).value.endswith("q"))
        assert driver.explore.query_one(QueryLine).value == "aq"  # "/" selects what is there
        assert not driver.explore.controller.knobs.hierarchy
        assert driver.explore.controller.knobs.alpha == 0.55


async def test_down_goes_into_the_results_and_up_from_the_first_back() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down")
        await driver.until(lambda: isinstance(driver.explore.focused, ResultList))
        await driver.press("j", "j", "k", "up")
        assert driver.results.cursor == 0
        await driver.press("k")
        assert isinstance(driver.explore.focused, ResultList)
        await driver.press("up")
        await driver.until(lambda: isinstance(driver.explore.focused, QueryLine))


async def test_g_and_G_go_to_the_ends() -> None:  # noqa: N802
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "G")
        assert driver.results.cursor == len(driver.titles) - 1
        await driver.press("g")
        assert driver.results.cursor == 0


async def test_e_goes_to_the_entities_and_tab_goes_on() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e")
        await driver.until(lambda: isinstance(driver.explore.focused, EntityList))
        await driver.press("tab")
        await driver.until(lambda: isinstance(driver.explore.focused, ResultList))


async def test_help_opens_on_question_mark_and_closes_again() -> None:
    async with running(size=WIDE) as driver:
        await driver.press("escape", "question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        assert "two-pass and flat" in driver.screen_text()
        await driver.press("j", "G", "question_mark")
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert not driver.app.query(HelpText)


async def test_the_key_bar_follows_the_focus() -> None:
    async with running(size=WIDE) as driver:
        await driver.until(lambda: "esc commands" in driver.text_of(KeyBar))
        await driver.press("escape")
        await driver.until(lambda: "q quit" in driver.text_of(KeyBar))


async def test_a_click_on_the_key_bar_is_as_good_as_the_key() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape")
        await driver.until(lambda: "e entities" in driver.text_of(KeyBar))
        await driver.pilot.click(KeyBar, offset=(driver.text_of(KeyBar).index("entities"), 0))
        await driver.until(lambda: isinstance(driver.explore.focused, EntityList))


async def test_the_palette_holds_the_commands_of_the_registry() -> None:
    async with running(size=WIDE) as driver:
        titles = {command.title for command in driver.app.get_system_commands(driver.explore)}
        assert {"Mode", "Entities", "Query", "Why", "Theme"} <= titles


async def test_q_quits() -> None:
    async with running(size=WIDE) as driver:
        await driver.press("escape", "q")
        await driver.until(lambda: not driver.app.is_running)
