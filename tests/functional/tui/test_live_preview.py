"""The document under the cursor, previewed all the time where the terminal is wide."""

from __future__ import annotations

from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from tests.functional.tui.driving import QUESTION, WIDE, Driver, running

LIVE = (160, 45)


def pane_of(driver: Driver) -> PreviewPane:
    return driver.explore.query_one(PreviewPane)


def follows_cursor(driver: Driver) -> bool:
    pane, current = pane_of(driver), driver.results.current
    is_laid_out = pane.laid_out.width == pane.text_width
    return current is not None and pane.path == current.path and is_laid_out


async def test_wide_terminal_previews_the_document_under_the_cursor(demo_copy: Path) -> None:
    async with running(demo_copy, LIVE, debounce=0.001) as driver:
        await driver.until_shown(PreviewPane, "The document under the cursor")
        await driver.ask(QUESTION)
        await driver.press("down")
        await driver.until_shown(
            PreviewPane, "Migration go/no-go", "Go for the Migration: cut-over"
        )
        why, pane = driver.explore.query_one(WhyPane), pane_of(driver)
        assert why.display and pane.region.y == why.region.bottom
        first = driver.watched.calls["document"]
        await driver.press(*["down"] * 6)  # read only where the cursor rests
        await driver.until(lambda: follows_cursor(driver))
        assert driver.watched.calls["document"] - first <= 2
        read = driver.watched.calls["document"]
        await driver.press("g")
        await driver.until(lambda: follows_cursor(driver))
        assert driver.watched.calls["document"] == read  # the first one was kept
        assert not driver.explore.reader.history.steps

        await driver.press("tab", "tab")
        await driver.until_focused(PreviewPane)
        path = pane.path
        await driver.press("2")
        judging = driver.explore.session.judging
        await driver.until(lambda: dict(judging.grades_of(QUESTION)) == {path: 2})
        await driver.until(lambda: follows_cursor(driver) and pane.path != path)
        assert driver.has_focus(PreviewPane) and why.display

        await driver.press("p")  # hidden, and remembered like other panes
        await driver.until_focused(ResultList)
        assert not pane.display and driver.app.app_state.base.hidden == ["preview"]
        await driver.press("p")
        await driver.until(lambda: pane.display)

        await driver.press("enter")  # reading takes the place of why, too
        await driver.until_focused(PreviewPane)
        assert not why.display
        await driver.press("escape")
        await driver.until_focused(ResultList)
        assert why.display and pane.display
        await driver.ask("zzzz qqqq type:nothing")
        await driver.until(lambda: pane.preview is None)


async def test_the_beginning_of_a_long_document_is_previewed_and_all_of_it_read(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "memory" / "notes"
    notes.mkdir(parents=True)
    lines = ["# The harbour log", "The gangway was painted."]
    lines += [
        f"Line {number} of the harbour log, on which nothing happened." for number in range(8_000)
    ]
    (notes / "log.md").write_text("\n".join([*lines, "The last line."]), encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
        view = kb.documents.view("memory/notes/log.md", most=60)
        assert view.title == "The harbour log" and view.text == "".join(f"{x}\n" for x in lines[:2])
        assert view.left_out == (notes / "log.md").stat().st_size - len(view.text)
    async with running(tmp_path, LIVE, debounce=0.001) as driver:
        await driver.ask("gangway")
        await driver.press("down")
        await driver.until_shown(PreviewPane, "The gangway was painted.")
        preview = pane_of(driver).preview
        assert preview is not None and len(preview.lines) < 5_000
        assert any("kB more appear when the page is read" in line for line in preview.lines[-2:])
        await driver.press("enter")
        await driver.until(lambda: pane_of(driver).laid_out.preview.lines[-1] == "The last line.")


async def test_narrower_terminal_reads_no_document_by_itself(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "down")
        await driver.until_shown(WhyPane, driver.titles[1])
        assert not driver.watched.calls["document"]
        await driver.pilot.resize_terminal(*LIVE)
        await driver.until(lambda: follows_cursor(driver))
        await driver.pilot.resize_terminal(*WIDE)
        await driver.until(lambda: not pane_of(driver).display)
        read = driver.watched.calls["document"]
        await driver.press("down")
        await driver.until_shown(WhyPane, driver.titles[2])
        assert driver.watched.calls["document"] == read
