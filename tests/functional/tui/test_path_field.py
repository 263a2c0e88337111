"""The path field: what it offers, what it leaves, and how one gets out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.tui.explore.panes.path_field import PathField, PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running

MEETINGS = "memory/meetings/2026/03"


def path_of(driver: Driver) -> str:
    return driver.explore.query_one(PathLine).value


async def test_tab_takes_the_completion_that_stands_behind_the_cursor(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("mem")
        await driver.until_shown(PathField, "memory/")
        for taken in ("memory/", "memory/context/"):
            await driver.press("tab")
            await driver.until(lambda at=taken: path_of(driver) == at)  # type: ignore[misc]
            await driver.until_shown(StatusLine, taken)
        assert driver.has_focus(PathLine)


async def test_all_that_would_continue_the_path_is_offered(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/m")
        await driver.until_shown(StatusLine, "memory/meetings/")
        await driver.press("tab")
        await driver.until_shown(StatusLine, "memory/meetings/2025/ memory/meetings/2026/")
        await driver.press("down")  # leaving the field takes the offer away
        await driver.until(lambda: not driver.status.display)


async def test_tab_without_a_completion_goes_to_the_next_pane(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.until_focused(PathLine)
        driver.explore.query_one(PathLine).value = "memory/people/alice-chen.md"
        await driver.until(lambda: driver.asking.path == "memory/people/alice-chen.md")
        await driver.press("tab")
        await driver.until(lambda: not driver.has_focus(PathLine))
        assert path_of(driver) == "memory/people/alice-chen.md"


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_results_all_lie_below_the_path_and_their_number_is_told(
    demo: Path, size: Size
) -> None:
    async with running(demo, size) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "f")
        await driver.until_focused(PathLine)
        await driver.narrow(MEETINGS)
        assert driver.paths
        assert all(path.startswith(f"{MEETINGS}/") for path in driver.paths)
        await driver.until_shown(PathField, MEETINGS, "6 in scope")
        await driver.press("enter")
        await driver.until_focused(ResultList)
        assert MEETINGS in driver.words_of(PathField)  # still to be seen while it counts


async def test_a_glob_means_in_the_field_what_it_means_on_the_command_line(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("rehearsal")
        await driver.narrow("memory/meetings/**/*.transcript.md")
        assert driver.paths
        assert all(path.endswith(".transcript.md") for path in driver.paths)


async def test_how_much_a_path_leaves_is_told_before_anything_is_asked(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/people/")
        await driver.until_shown(PathField, "15 in scope")
        assert not driver.watched.calls["retrieve"]
        await driver.ask("rehearsal")
        assert all(path.startswith("memory/people/") for path in driver.paths)


async def test_escape_clears_the_path_first_and_leaves_the_field_then(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        everywhere = driver.paths
        await driver.press("escape", "f")
        await driver.narrow(MEETINGS)
        await driver.press("escape")
        await driver.until(lambda: driver.paths == everywhere)
        assert path_of(driver) == ""
        assert driver.has_focus(PathLine)
        assert "in scope" not in driver.text_of(PathField)
        await driver.press("escape")
        await driver.until_focused(ResultList)


async def test_a_path_out_of_the_base_is_one_error_line(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        shown = driver.paths
        driver.explore.query_one(PathLine).value = "../elsewhere"
        await driver.until_shown(StatusLine, "✗", "../elsewhere")
        assert driver.paths == shown  # what is there stays
        assert driver.text_of(StatusLine).strip().count("\n") <= 1
        driver.explore.query_one(PathLine).value = ""
        await driver.until(lambda: not driver.status.display)


async def test_a_path_out_of_the_base_is_an_error_without_a_query_too(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        driver.explore.query_one(PathLine).value = "/etc"
        await driver.until_shown(StatusLine, "✗", "/etc")
        await driver.until_shown(ResultList, "That did not work.")
        driver.explore.query_one(PathLine).value = ""
        await driver.until(lambda: not driver.status.display)
        await driver.until_shown(ResultList, "Type to search.")


async def test_a_path_that_leaves_nothing_says_so_and_how_to_get_out(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.narrow("memory/nowhere")
        await driver.until_shown(
            ResultList, "Nothing found", "No document lies at memory/nowhere.", "f changes the path"
        )
        await driver.until_shown(PathField, "0 in scope")


async def test_a_path_of_documents_without_the_words_says_so(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "m", "m")
        await driver.ask("umbrella")
        await driver.narrow("memory/people")
        await driver.until_shown(
            ResultList, "None of the 15 documents in memory/people has these words", "all 63"
        )


async def test_while_a_name_is_typed_its_folder_counts(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "f")
        await driver.write("memory/people/bob")
        await driver.until(lambda: driver.view.scope.path == "memory/people/")
        assert driver.view.scope.in_scope == 15
        await driver.press("tab")
        await driver.until(lambda: driver.paths == ["memory/people/bob-okafor.md"])
        assert driver.explore.query_one(QueryLine).value == QUESTION


@pytest.mark.parametrize("size", [NARROW, TINY], ids=["narrow", "tiny"])
async def test_where_room_is_short_the_field_is_only_there_when_it_is_used(
    demo: Path, size: Size
) -> None:
    async with running(demo, size) as driver:
        await driver.ask(QUESTION)
        assert not driver.explore.query_one(PathField).display
        await driver.press("escape", "f")
        await driver.until(lambda: driver.explore.query_one(PathField).display)
        await driver.press("escape")
        await driver.until(lambda: not driver.explore.query_one(PathField).display)
