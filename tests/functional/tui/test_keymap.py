"""Keys configured in kbx.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.tui.explore.inputs import PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.shell.help_screen import Help, HelpText
from kbx_tui.tui.widgets.key_bar import KeyBar
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import QUESTION, WIDE, running


def configure(root: Path, keys: str) -> Path:
    (root / "kbx.toml").write_text(f"[keys]\n{keys}\n", encoding="utf-8")
    return root


async def test_configured_key_replaces_the_default_key(demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "ctrl+t"\nfocus.path = "r,ctrl+l"')
    async with running(demo_copy, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "m", "f")
        assert driver.state.mode == "two-pass"
        assert driver.has_focus(ResultList)
        await driver.press("ctrl+t")
        await driver.until(lambda: driver.state.mode == "flat")
        await driver.press("r")
        await driver.until_focused(PathLine)
        await driver.press("down", "ctrl+l")
        await driver.until_focused(PathLine)


async def test_key_bar_help_and_palette_show_the_configured_key(
    demo_copy: Path,
) -> None:
    configure(demo_copy, 'mode.next = "ctrl+t"')
    async with running(demo_copy, WIDE) as driver:
        await driver.press("escape")
        await driver.until_shown(KeyBar, "ctrl+t mode")
        palette = list(driver.app.get_system_commands(driver.explore))
        assert any("(ctrl+t)" in command.help for command in palette)
        await driver.press("ctrl+t", "ctrl+t")
        await driver.ask("zzzz")
        await driver.until_shown(ResultList, "ctrl+t also searches by meaning.")
        await driver.press("question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        text = driver.app.screen.query_one(HelpText)
        lines = ["".join(span.text for span in line) for line in text.build(100)]
        assert any("ctrl+t" in line and "switch between two-pass" in line for line in lines)


async def test_sentences_name_the_configured_keys(demo_copy: Path) -> None:
    configure(demo_copy, 'mode.experts = "f9"\ndraft.create = "ctrl+g"')
    async with running(demo_copy, WIDE) as driver:
        await driver.ask("who knows about the migration")
        await driver.until_shown(StatusLine, "these are documents; f9 ranks people")
        driver.explore.session.review.apply()
        await driver.until_shown(StatusLine, "nothing is decided: ctrl+g creates, m merges")


async def test_click_on_the_key_bar_works_with_a_configured_key(demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "ctrl+t"')
    async with running(demo_copy, WIDE) as driver:
        await driver.press("escape")
        await driver.until_shown(KeyBar, "ctrl+t mode")
        await driver.pilot.click(KeyBar, offset=(driver.text_of(KeyBar).index("mode"), 0))
        await driver.until(lambda: driver.state.mode == "flat")


async def test_two_commands_can_swap_their_keys(demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "s"\nsort.next = "m"')
    async with running(demo_copy, WIDE) as driver:
        await driver.press("escape", "s")
        assert (driver.state.mode, driver.state.sort) == ("flat", "score")
        await driver.press("m")
        assert (driver.state.mode, driver.state.sort) == ("flat", "date")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('mode.next = "x"', ["'x'", "mode.next", "why.toggle", "give one of them another key"]),
        ('mode.nxt = "ctrl+t"', ["mode.nxt", "did you mean mode.next?"]),
        ('mode.next = ""', ["mode.next", "names no key"]),
    ],
    ids=["clash", "unknown", "empty"],
)
async def test_invalid_keys_are_one_error_line_and_keep_all_defaults(
    demo_copy: Path, keys: str, words: list[str]
) -> None:
    configure(demo_copy, f'{keys}\nsort.next = "ctrl+s"')
    async with running(demo_copy, WIDE) as driver:
        await driver.until_shown(StatusLine, "✗ [keys] in kbx.toml", *words)
        await driver.press("escape", "m", "s")
        assert (driver.state.mode, driver.state.sort) == ("flat", "date")
        await driver.until_shown(KeyBar, "m mode")
        await driver.ask(QUESTION)
        assert driver.titles


async def test_configured_keys_end_with_their_base(demo: Path, demo_copy: Path) -> None:
    configure(demo_copy, 'mode.next = "ctrl+t"')
    async with running(demo_copy, WIDE) as driver:
        await driver.app.open_base(demo)
        await driver.until(lambda: driver.explore.model.summary is not None)
        await driver.press("escape", "m")
        await driver.until(lambda: driver.state.mode == "flat")
        await driver.until_shown(KeyBar, "m mode")
        await driver.press("slash")
        await driver.until_focused(QueryLine)
