"""The path field: completions, scope, and leaving it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.tui.explore.inputs import PathField, PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running

MEETINGS = "memory/meetings/2026/03"


def path_of(driver: Driver) -> str:
    return driver.explore.query_one(PathLine).value


async def test_tab_accepts_the_inline_completion(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("mem")
        await driver.until_shown(PathField, "memory/")
        for path in ("memory/", "memory/context/"):
            await driver.press("tab")
            await driver.until(lambda path=path: path_of(driver) == path)  # type: ignore[misc]
            await driver.until_shown(StatusLine, path)
        assert driver.has_focus(PathLine)


async def test_all_completions_of_the_path_are_listed(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/m")
        await driver.until_shown(StatusLine, "memory/meetings/")
        await driver.press("tab")
        await driver.until_shown(StatusLine, "memory/meetings/2025/ memory/meetings/2026/")
        await driver.press("down")  # leaving the field hides the completions
        await driver.until(lambda: not driver.status.display)
        assert path_of(driver) == "memory/meetings/"  # a folder is whole without its first folder


async def test_enter_completes_half_a_name_as_shown(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/meet")
        await driver.until(lambda: driver.explore.query_one(PathLine).completion)
        await driver.press("enter")
        await driver.until(lambda: driver.state.path == "memory/meetings/")
        assert path_of(driver) == "memory/meetings/"


async def test_tab_without_a_completion_goes_to_the_next_pane(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.until_focused(PathLine)
        driver.explore.query_one(PathLine).value = "memory/people/alice-chen.md"
        await driver.until(lambda: driver.state.path == "memory/people/alice-chen.md")
        await driver.press("tab")
        await driver.until(lambda: not driver.has_focus(PathLine))
        assert path_of(driver) == "memory/people/alice-chen.md"


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_results_are_limited_to_the_path_and_counted(demo: Path, size: Size) -> None:
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
        assert MEETINGS in driver.words_of(PathField)  # visible as long as it applies


async def test_path_field_accepts_globs(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("rehearsal")
        await driver.narrow("memory/meetings/**/*.transcript.md")
        assert driver.paths
        assert all(path.endswith(".transcript.md") for path in driver.paths)


async def test_scope_is_counted_before_there_is_a_query(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/people/")
        await driver.until_shown(PathField, "15 in scope")
        assert not driver.watched.calls["retrieve"]
        await driver.ask("rehearsal")
        assert all(path.startswith("memory/people/") for path in driver.paths)


async def test_escape_clears_the_path_first_then_leaves_the_field(demo: Path) -> None:
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


async def test_path_outside_the_base_gives_one_error_line(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        shown = driver.paths
        driver.explore.query_one(PathLine).value = "../elsewhere"
        await driver.until_shown(StatusLine, "✗", "../elsewhere")
        assert driver.paths == shown  # the results stay
        assert driver.text_of(StatusLine).strip().count("\n") <= 1
        driver.explore.query_one(PathLine).value = ""
        await driver.until(lambda: not driver.status.display)


async def test_path_without_documents_shows_how_to_change_it(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.narrow("memory/nowhere")
        await driver.until_shown(
            ResultList,
            "Nothing found",
            "There is no document at memory/nowhere.",
            "f changes the path",
        )
        await driver.until_shown(PathField, "0 in scope")


async def test_path_without_matching_documents_shows_how_many_there_are(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "m", "m")
        await driver.ask("umbrella")
        await driver.narrow("memory/people")
        await driver.until_shown(
            ResultList, "None of the 15 documents in memory/people contains these words", "all 63"
        )


async def test_folder_is_the_scope_while_a_file_name_is_typed(demo: Path) -> None:
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
async def test_path_field_is_hidden_on_small_terminals_unless_used(demo: Path, size: Size) -> None:
    async with running(demo, size) as driver:
        await driver.ask(QUESTION)
        assert not driver.explore.query_one(PathField).display
        await driver.press("escape", "f")
        await driver.until(lambda: driver.explore.query_one(PathField).display)
        await driver.press("escape")
        await driver.until(lambda: not driver.explore.query_one(PathField).display)
