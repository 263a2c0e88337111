"""Every key of the registry does what the registry says, wherever it should work."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.widget import Widget

from kbx_tui.tui.commands.registry import ACTIVE_TOGETHER, Scope, commands_in
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.path_field import PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.explore.screen import scopes_of
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.help_screen import Help, HelpText
from kbx_tui.tui.widgets.choices import Choices
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, WIDE, Driver, running, starting

FOCUSED: list[type[Widget]] = [
    QueryLine,
    PathLine,
    ResultList,
    EntityList,
    WhyPane,
    PreviewPane,
    EntityCard,
    NumberSlider,
]


async def go_to(driver: Driver, widget: type[Widget]) -> None:
    await driver.ask(QUESTION)
    if driver.explore.panes.read:
        await driver.press("p")
        await driver.until(lambda: not driver.explore.panes.read)
    driver.explore.query_one(QueryLine).focus()
    await driver.until_focused(QueryLine)
    if widget is PreviewPane:
        await driver.press("down", "enter")
    elif widget is EntityCard:
        await driver.press("escape", "e", "enter")
    elif widget is PathLine:
        await driver.press("escape", "f")
    else:
        driver.explore.query(widget).first().focus()
    await driver.until_focused(widget)


def heard(driver: Driver) -> dict[str, Binding]:
    """Return what each key does now: what has priority from the outside in, the rest inside out."""
    chain = driver.app.screen._binding_chain
    found: dict[str, Binding] = {}
    for priority in (True, False):
        for node, bindings in reversed(chain) if priority else chain:
            for key, binding in bindings:
                allowed = node.check_action(binding.action.partition("(")[0], ())
                if binding.priority == priority and allowed and key not in found:
                    found[key] = binding
    return found


async def test_no_widget_swallows_a_key_of_the_registry(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        for widget in FOCUSED:
            await go_to(driver, widget)
            scopes = scopes_of(driver.explore.focused)
            assert scopes in ACTIVE_TOGETHER
            active, seen = heard(driver), set[str]()
            for scope in scopes:  # from the inside out: the inner scope wins
                for command in commands_in(scope):
                    for key in set(command.keys.split(",")) - seen:
                        seen.add(key)
                        same = {"close": "back"}  # a pane's escape and the screen's do the same
                        does = active[key].action
                        if (widget, key) != (PathLine, "tab"):  # whose it is, completions decide
                            assert does in (command.action, same.get(command.action)), key


async def test_no_key_of_the_first_screen_is_swallowed() -> None:
    async with starting(None, NARROW) as driver:
        await driver.until_focused(Choices)
        active = heard(driver)
        scopes: tuple[Scope, ...] = ("welcome", "app")
        for command in commands_in(*scopes):
            for key in command.keys.split(","):
                assert active[key].action == command.action, key


async def test_slash_and_escape_move_between_typing_and_commands(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape")
        await driver.until_focused(ResultList)
        await driver.press("slash")
        await driver.until_focused(QueryLine)
        assert driver.explore.query_one(QueryLine).value == QUESTION


async def test_keys_typed_faster_than_the_app_answers_go_where_they_should(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        for key in ("down", "j", "m", "right_square_bracket", "slash", "a", "q"):
            driver.app.simulate_key(key)
        line = driver.explore.query_one(QueryLine)
        await driver.until(lambda: line.value.endswith("q"))
        assert line.value == "aq"  # "/" selects what is there
        assert (driver.asking.mode, driver.asking.alpha) == ("flat", 0.55)


async def test_letters_typed_before_the_base_is_open_are_searched(demo: Path) -> None:
    async with starting(demo, WIDE) as driver:
        await driver.write("alice")
        await driver.until(lambda: driver.titles)
        assert driver.explore.query_one(QueryLine).value == "alice"


async def test_down_goes_into_the_results_and_up_from_the_first_back(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down")
        await driver.until_focused(ResultList)
        await driver.press("j", "j", "k", "up")
        assert driver.results.cursor == 0
        await driver.press("k")
        assert driver.has_focus(ResultList)
        await driver.press("up")
        await driver.until_focused(QueryLine)


async def test_g_and_G_go_to_the_ends_and_pages_between(demo: Path) -> None:  # noqa: N802
    async with running(demo, NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "G")
        assert driver.results.cursor == len(driver.titles) - 1
        await driver.press("g")
        assert driver.results.cursor == 0
        await driver.press("pagedown")
        page = driver.results.cursor
        assert 3 < page < 12
        await driver.press("ctrl+f", "pageup", "ctrl+b")
        assert driver.results.cursor == 0


async def test_e_goes_to_the_entities_and_tab_goes_on(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e")
        await driver.until_focused(EntityList)
        await driver.press("tab")
        await driver.until_focused(ResultList)
        await driver.press("shift+tab")
        await driver.until_focused(EntityList)


async def test_the_key_bar_follows_the_focus(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.until_shown(KeyBar, "esc commands")
        await driver.press("escape")
        await driver.until_shown(KeyBar, "enter read", "m mode", "q quit")
        await driver.press("e")
        await driver.until_shown(KeyBar, "enter card", "- mute", "+ pin")
        await driver.press("f")
        await driver.until_shown(KeyBar, "tab complete", "esc clear")


async def test_a_click_on_the_key_bar_is_as_good_as_the_key(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape")
        await driver.until_shown(KeyBar, "e entities")
        await driver.pilot.click(KeyBar, offset=(driver.text_of(KeyBar).index("entities"), 0))
        await driver.until_focused(EntityList)


async def test_a_click_chooses_a_result_and_a_double_click_reads_it(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.pilot.click(ResultList, offset=(10, 3))
        await driver.until(lambda: driver.results.cursor == 2)
        await driver.pilot.click(ResultList, offset=(10, 3), times=2)
        await driver.until_focused(PreviewPane)
        assert driver.explore.query_one(PreviewPane).path == driver.paths[2]


# Help and palette.


HELP: dict[type[Widget], list[str]] = {
    ResultList: [
        "In the results",
        "In every list",
        "In explore, outside query and path",
        "Everywhere",
    ],
    EntityList: ["In the entities", "In every list"],
    PreviewPane: ["In a document", "In every text"],
    EntityCard: ["On an entity card", "In every list"],
    NumberSlider: ["On a slider", "In explore, outside query and path"],
}


async def test_help_begins_with_the_keys_of_the_pane_one_is_at(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        for widget, titles in HELP.items():
            await go_to(driver, widget)
            await driver.press("question_mark")
            await driver.until(lambda: isinstance(driver.app.screen, Help))
            text = driver.app.screen.query_one(HelpText)
            lines = ["".join(span.text for span in line).strip() for line in text.build(100)]
            at = [lines.index(title) for title in titles]
            assert at == sorted(at)
            assert at[0] < 3
            assert at[-1] < lines.index("Signs") < lines.index("Elsewhere")
            for scope_title in ("In the query line", "On the first screen"):
                assert lines.index("Elsewhere") < lines.index(scope_title)
            await driver.until(lambda title=titles[0]: title in driver.screen_text())  # type: ignore[misc]
            await driver.press("escape")
            await driver.until(lambda: driver.app.screen is driver.explore)


async def test_help_scrolls_and_closes_again(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        await driver.press("escape", "question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        assert "↓ more" in driver.screen_text()
        await driver.press("j", "G")
        await driver.until(lambda: "↓ more" not in driver.screen_text())
        for key in ("question_mark", "escape", "q"):
            await driver.press(key)
            await driver.until(lambda: driver.app.screen is driver.explore)
            assert not driver.app.screen.query(HelpText)
            await driver.press("question_mark")
            await driver.until(lambda: isinstance(driver.app.screen, Help))


async def test_a_question_mark_in_the_query_line_is_text(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("who")
        await driver.press("?")
        line = driver.explore.query_one(QueryLine)
        await driver.until(lambda: "?" in line.value)
        assert driver.app.screen is driver.explore


async def test_f1_in_explore_stays_there(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("f1")
        assert driver.app.screen is driver.explore


async def test_the_palette_holds_the_commands_of_the_registry_with_their_keys(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        commands = {one.title: one.help for one in driver.app.get_system_commands(driver.explore)}
        assert {"Mode", "Entities", "Query", "Why", "Theme", "Undo", "Sort"} <= commands.keys()
        assert commands["Mode"].endswith("(m)")


async def test_a_command_of_the_palette_does_what_its_key_does(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "ctrl+p")
        await driver.write("mode")
        await driver.until(lambda: "go round two-pass" in driver.screen_text())
        await driver.press("enter")
        await driver.until(lambda: driver.asking.mode == "flat")


# Leaving.


@pytest.mark.parametrize("keys", [("escape", "q"), ("ctrl+q",)], ids=["q", "ctrl-q-while-typing"])
async def test_quitting(demo: Path, keys: tuple[str, ...]) -> None:
    async with running(demo, WIDE) as driver:
        for key in keys:
            driver.app.simulate_key(key)
        await driver.until(partial(_has_ended, driver))


def _has_ended(driver: Driver) -> bool:
    return not driver.app.is_running


async def test_ctrl_c_says_which_keys_leave(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "ctrl+c")
        await driver.until_shown(StatusLine, "q or ctrl+q leaves the app")
