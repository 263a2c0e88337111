"""Every key runs its command wherever it should, in the order typed, as configured in kbx.toml."""

from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.widget import Widget

from kbx_tui.tui.boxes.why_not_box import WhyNotBox
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.commands.keymap import ACTIVE_TOGETHER, commands_in
from kbx_tui.tui.dedup.panes import DraftLine
from kbx_tui.tui.experts.screen import Experts, TopicLine
from kbx_tui.tui.explore.entities import EntityCard, EntityList
from kbx_tui.tui.explore.facets import FacetPane
from kbx_tui.tui.explore.inputs import PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.help_screen import Help, HelpText, meaning_lines
from kbx_tui.tui.widgets.footer import KeyBar, StatusLine
from kbx_tui.tui.widgets.input_fields import OrderedInput
from kbx_tui.tui.widgets.lines_view import ChoiceList
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, running, starting

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


def active_bindings(driver: Driver) -> dict[str, Binding]:
    """Return the binding of each key now: priority ones outside in, the others inside out."""
    chain = driver.app.screen._binding_chain
    active: dict[str, Binding] = {}
    for priority in (True, False):
        for node, bindings in reversed(chain) if priority else chain:
            for key, binding in bindings:
                action = binding.action.partition("(")[0]
                allowed = node.check_action(action, ()) and action != "app.moved"
                if binding.priority == priority and allowed and key not in active:
                    active[key] = binding
    return active


async def test_every_key_of_the_registry_works_in_every_pane(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        for widget in FOCUSED:
            await go_to(driver, widget)
            scopes = driver.explore.scopes()
            assert scopes in ACTIVE_TOGETHER
            active, seen = active_bindings(driver), set[str]()
            for scope in scopes:  # inside out: the inner scope wins
                for command in commands_in(scope):
                    for key in set(driver.app.keymap.keys(command)) - seen:
                        seen.add(key)
                        completes = widget in (PathLine, QueryLine) and key == "tab"
                        if not completes:  # a completion decides who takes the key
                            does = (active[key].action, command.action)
                            assert len({each.removeprefix("screen.") for each in does}) == 1, key


async def test_every_key_works_on_the_welcome_screen() -> None:
    async with starting(None, NARROW) as driver:
        await driver.until_focused(ChoiceList)
        active = active_bindings(driver)
        scopes: tuple[Scope, ...] = ("welcome", "app")
        for command in commands_in(*scopes):
            for key in command.keys.split(","):
                assert active[key].action == command.action, key


async def test_keys_typed_faster_than_the_app_responds_take_effect_in_order(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        for key in ("down", "j", "m", "right_square_bracket", "slash", "a", "q"):
            driver.app.simulate_key(key)
        line = driver.explore.query_one(QueryLine)
        await driver.until(lambda: line.value.endswith("q"))
        assert line.value == "aq"  # "/" selects the query
        assert (driver.state.mode, driver.state.alpha) == ("flat", 0.55)


async def test_letters_typed_before_the_base_is_open_are_searched(demo: Path) -> None:
    async with starting(demo, WIDE) as driver:
        await driver.write("alice")
        await driver.until(lambda: driver.titles)
        assert driver.explore.query_one(QueryLine).value == "alice"


async def test_down_enters_the_results_e_the_entities_and_tab_the_next_pane(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down")
        await driver.until_focused(ResultList)
        await driver.press("j", "j", "k", "up")
        assert driver.results.cursor == 0
        await driver.press("k")
        assert driver.has_focus(ResultList)
        await driver.press("up")
        await driver.until_focused(QueryLine)
        await driver.press("escape", "e")
        await driver.until_focused(EntityList)
        await driver.press("tab")
        await driver.until_focused(ResultList)
        await driver.press("shift+tab")
        await driver.until_focused(EntityList)


async def test_g_G_and_page_keys_move_through_the_results(demo: Path) -> None:  # noqa: N802
    async with running(demo, NARROW, asked=QUESTION) as driver:
        await driver.press("down", "G")
        assert driver.results.cursor == len(driver.titles) - 1
        await driver.press("home")
        assert driver.results.cursor == 0
        await driver.press("pagedown")
        page = driver.results.cursor
        assert 3 < page < 12
        await driver.press("ctrl+f", "pageup", "ctrl+b")
        assert driver.results.cursor == 0


async def test_the_key_bar_follows_the_focus(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.until_shown(KeyBar, "esc leave", "↑ example", "ctrl+q quit")
        await driver.until_shown(ResultList, "Type to search.")
        assert "results" not in driver.text_of(KeyBar)
        await driver.press("escape")
        await driver.until_shown(ResultList, "Press / and type to search.", "/ ↑ enter asks")
        assert "read" not in driver.text_of(KeyBar)  # there is nothing to read
        await driver.write("hi")  # no keys of commands
        await driver.until(lambda: driver.explore.query_one(QueryLine).value == "hi")
        await driver.press("f2", "f1")
        await driver.until_focused(QueryLine)
        await driver.ask(QUESTION)
        await driver.press("escape")
        await driver.until_shown(KeyBar, "enter read", "w why not", "y copy", "v view", "q quit")
        await driver.press("e")
        await driver.until_shown(KeyBar, "enter card", "- mute", "+ pin")
        await driver.press("f")
        await driver.until_shown(KeyBar, "tab complete", "esc leave", "ctrl+u clear")
    async with running(demo, TINY, asked=QUESTION) as driver:
        await driver.press("escape")
        await driver.until_shown(KeyBar, "enter read", "x why", "? keys", "q quit")
        await driver.press("x")
        await driver.until_shown(KeyBar, "x less")


async def test_click_selects_a_result_and_double_click_opens_it(demo: Path) -> None:
    async with running(demo, NARROW, asked=QUESTION) as driver:
        await driver.until_shown(
            ResultList, "after the Wednesday rehearsal."
        )  # its lines are there
        lines = driver.text_of(ResultList).split("\n")
        y = next(y for y, line in enumerate(lines) if driver.titles[2][:20] in line)
        await driver.pilot.click(ResultList, offset=(10, y), times=2)  # the first one moves rows
        await driver.until_focused(PreviewPane)
        assert driver.explore.query_one(PreviewPane).path == driver.paths[2]
        await driver.press("escape")
        await driver.pilot.click(ResultList, offset=(10, 1))
        await driver.until(lambda: driver.results.cursor == 0)


# Help and palette.


HELP: dict[type[Widget], list[str]] = {
    ResultList: [
        "In the results",
        "In explore, outside query and path",
        "In any list",
        "Everywhere",
    ],
    EntityList: ["In the entities", "In any list"],
    PreviewPane: ["In a document", "In any text"],
    EntityCard: ["On an entity card", "In any list"],
    NumberSlider: ["On a slider", "In explore, outside query and path"],
}


async def test_help_starts_with_the_keys_of_the_focused_pane(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        for widget, titles in HELP.items():
            await go_to(driver, widget)
            await driver.press("question_mark")
            await driver.until(lambda: isinstance(driver.app.screen, Help))
            screen = driver.app.screen
            assert isinstance(screen, Help)
            lines = ["".join(span.text for span in line).strip() for line in screen.text.build(100)]
            positions = [lines.index(title) for title in titles]
            assert positions == sorted(positions)
            assert positions[0] < 3 + len(meaning_lines(screen.meanings, 100))
            assert positions[-1] < lines.index("Signs")
            for scope_title in ("In the query line", "In drafts, outside the draft line"):
                assert scope_title not in lines
            await driver.until(lambda title=titles[0]: title in driver.screen_text())  # type: ignore[misc]
            await driver.press("escape")
            await driver.until(lambda: driver.app.screen is driver.explore)


async def test_a_question_mark_in_place_of_all_text_shows_the_keys_and_keeps_the_text(
    demo: Path,
) -> None:
    async with running(demo, NARROW, asked=QUESTION) as driver:
        fields: tuple[tuple[str, type[OrderedInput]], ...] = (
            ("", QueryLine),
            ("f2", DraftLine),
            ("f3", TopicLine),
        )
        for key, kind in fields:
            await driver.press(*filter(None, [key]))
            await driver.until_focused(kind)
            field = driver.app.screen.query_one(kind)
            field.select_all()
            text = field.value
            await driver.press("question_mark")
            await driver.until(lambda: isinstance(driver.app.screen, Help))
            assert field.value == text
            assert bool(text) == (kind is not DraftLine)
            await driver.press("escape")
            await driver.until(lambda: not isinstance(driver.app.screen, Help))
        await driver.press("end")
        await driver.write("?")
        await driver.until(lambda: field.value == f"{text}?")


async def test_help_scrolls_and_closes(demo: Path) -> None:
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


async def test_keys_of_commands_are_text_in_the_query_line(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.write("[qmsz{ 5032?")
        assert driver.explore.query_one(QueryLine).value == "[qmsz{ 5032?"
        assert (driver.state.alpha, driver.state.mode) == (0.5, "two-pass")
        assert driver.app.screen is driver.explore


async def test_palette_command_does_the_same_as_its_key(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "ctrl+p")
        await driver.write("mode")
        await driver.until(lambda: "switch between two-pass" in driver.screen_text())
        await driver.press("enter")
        await driver.until(lambda: driver.state.mode == "flat")
        await driver.press("ctrl+p")
        await driver.write("experts")
        await driver.until(lambda: "Experts  f3" in driver.screen_text())
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, Experts))


# Leaving.


@pytest.mark.parametrize("keys", [("escape", "q"), ("ctrl+q",)], ids=["q", "ctrl-q-while-typing"])
async def test_q_and_ctrl_q_quit_and_ctrl_c_says_so(demo: Path, keys: tuple[str, ...]) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("ctrl+c")
        await driver.until_shown(StatusLine, "q or ctrl+q leaves the app")
        for key in keys:
            driver.app.simulate_key(key)
        await driver.until(partial(_has_ended, driver))


def _has_ended(driver: Driver) -> bool:
    return not driver.app.is_running


def configure(root: Path, keys: str) -> Path:
    (root / "kbx.toml").write_text(f"[keys]\n{keys}\n", encoding="utf-8")
    return root


async def test_configured_key_replaces_the_default_key(demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "ctrl+t"\nfocus.path = "r,f9"')
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "m", "f")
        assert driver.state.mode == "two-pass"
        assert driver.has_focus(ResultList)
        await driver.press("ctrl+t")
        await driver.until(lambda: driver.state.mode == "flat")
        await driver.press("r")
        await driver.until_focused(PathLine)
        await driver.press("down", "f9")
        await driver.until_focused(PathLine)


async def test_key_bar_help_and_palette_show_the_configured_key(demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "ctrl+t"\nwhy_not = "f9"')
    async with running(demo_copy, WIDE) as driver:
        await driver.press("escape")
        await driver.until_shown(KeyBar, "f9 why not")
        palette = list(driver.app.palette_entries(driver.explore))
        assert any(entry.keys == "ctrl+t" for entry in palette)
        await driver.pilot.click(KeyBar, offset=(driver.text_of(KeyBar).index("why not"), 0))
        await driver.until(lambda: isinstance(driver.app.screen, WhyNotBox))
        await driver.press("escape", "ctrl+t", "ctrl+t")
        await driver.ask("zzzz")
        await driver.until_shown(ResultList, "ctrl+t also searches by meaning.")
        await driver.press("question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        text = driver.app.screen.query_one(HelpText)
        lines = ["".join(span.text for span in line) for line in text.build(100)]
        assert any("ctrl+t" in line and "switch between two-pass" in line for line in lines)


async def test_sentences_name_the_configured_keys(demo_copy: Path) -> None:
    closing = 'screen.back = "f10"\noverlay.close = "f11"'
    configure(demo_copy, f'mode.experts = "f9"\ndraft.create = "ctrl+g"\n{closing}')
    async with running(demo_copy, WIDE, asked="who knows about the migration") as driver:
        await driver.until_shown(StatusLine, "these are documents; f9 ranks people")
        driver.explore.session.review.apply()
        await driver.until_shown(StatusLine, "nothing is decided: ctrl+g creates, m merges")
        await driver.press("escape", "D")
        facets = driver.explore.query_one(FacetPane)
        await driver.until(lambda: facets.border_subtitle == "f10 closes")
        await driver.press("f10", "question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        box = driver.app.screen.query_one("Help > Vertical")
        assert str(box.border_subtitle).endswith("f11 closes")


async def test_invalid_keys_are_one_error_line_and_keep_all_defaults(demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "w"\nsort.next = "ctrl+s"')
    async with running(demo_copy, WIDE) as driver:
        words = ("'w'", "mode.next", "why_not", "give one of them another key")
        await driver.until_shown(StatusLine, "✗ [keys] in kbx.toml", *words)
        await driver.press("escape", "m", "s")
        assert (driver.state.mode, driver.state.sort) == ("flat", "date")
        await driver.until_shown(KeyBar, "w why not")
        await driver.ask(QUESTION)
        assert driver.titles


async def test_configured_keys_end_with_their_base(demo: Path, demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "ctrl+t"\nwhy_not = "f9"')
    async with running(demo_copy, WIDE) as driver:
        await driver.app.open_base(demo)
        await driver.until(lambda: driver.explore.model.summary is not None)
        await driver.press("escape", "m")
        await driver.until(lambda: driver.state.mode == "flat")
        await driver.until_shown(KeyBar, "w why not")
        await driver.press("slash")
        await driver.until_focused(QueryLine)


class Line(OrderedInput):
    BINDINGS: ClassVar = [Binding("ctrl+k", "app.bell", "Ring")]


class LineApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Line()

    def type(self, *keys: str) -> None:
        """Deliver keys as they come from a slow line: at once."""
        for key in keys:
            self.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ((*"kitchez", "backspace", "n"), "kitchen"),
        ((*"old", "ctrl+u", *"new"), "new"),
        ((*"bc", "left", "left", "a"), "abc"),
        ((*"bc", "home", "a", "end", "d"), "abcd"),
    ],
    ids=["backspace", "clear", "left", "home-end"],
)
async def test_letters_after_an_editing_key_come_after_it(keys: tuple[str, ...], text: str) -> None:
    app = LineApp()
    async with app.run_test(size=(40, 5)) as pilot:
        app.type(*keys)
        await pilot.pause()
        assert app.query_one(Line).value == text


async def test_a_binding_of_the_field_itself_replaces_the_editing_key() -> None:
    app = LineApp()
    async with app.run_test(size=(40, 5)) as pilot:
        app.type(*"abc", "home")
        await pilot.pause()
        app.type("ctrl+k")
        await pilot.pause()
        assert app.query_one(Line).value == "abc"


@pytest.mark.parametrize("keys", [("enter",), ("down",), ("down", "enter", "down")])
async def test_query_line_keeps_the_keys_while_there_is_nothing_to_go_to(
    demo: Path, keys: tuple[str, ...]
) -> None:
    async with running(demo, WIDE) as driver:
        await driver.until_focused(QueryLine)
        await driver.press(*keys)
        await driver.write("what did Ruth say?")
        assert driver.has_focus(QueryLine)
        assert driver.explore.query_line.value == "what did Ruth say?"
        await driver.until(lambda: driver.results.rows)
        await driver.press(keys[0])
        assert driver.has_focus(ResultList)
