"""Opening a document, and why it stands where it stands."""

from __future__ import annotations

import re
from functools import partial

from kbx_tui.tui.widgets.preview_pane import PreviewPane
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from kbx_tui.tui.widgets.why_pane import WhyPane
from tests.functional.tui.driving import NARROW, QUESTION, WIDE, Driver, running
from tests.functional.tui.fake_kb import FakeKb


def _stands_in(driver: Driver, text: str) -> bool:
    return text in driver.text_of(WhyPane)


async def test_why_follows_the_cursor_and_adds_up() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down")
        for _ in driver.titles:
            at = driver.results.current
            assert at is not None
            await driver.until(partial(_stands_in, driver, at.title[:20]))
            text = driver.text_of(WhyPane)
            score, first, second = re.findall(r"(\.\d\d|1\.00) [=d e]", text)[:3] + [""] * 0
            assert abs(float(first) / 2 + float(second) / 2 - float(score)) <= 0.005 + 1e-9
            await driver.press("j")


async def test_why_names_the_words_found_also_where_results_have_one_line() -> None:
    async with running(size=NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.press("down")
        await driver.until(lambda: "alice ×1, migration ×1" in driver.text_of(WhyPane))
        await driver.press("j", "j")
        await driver.until(lambda: "migration ×1" in driver.text_of(WhyPane))


async def test_enter_shows_the_document_at_its_best_place_and_escape_closes_it() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "enter")
        await driver.until(lambda: "▌ We cut over" in driver.text_of(PreviewPane))
        assert isinstance(driver.explore.focused, PreviewPane)
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.explore.focused, ResultList))
        assert not driver.explore.query_one(PreviewPane).display


async def test_an_open_document_follows_the_cursor() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "enter")
        await driver.until(lambda: "We cut over" in driver.text_of(PreviewPane))
        driver.results.focus()
        await driver.press("j")
        await driver.until(lambda: "Alice asked for one more" in driver.text_of(PreviewPane))


async def test_a_document_takes_the_place_of_the_results_where_room_is_short() -> None:
    async with running(size=NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "enter")
        await driver.until(lambda: "▌ We cut over" in driver.text_of(PreviewPane))
        assert not driver.results.display
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.explore.focused, ResultList))


async def test_keys_scroll_a_document() -> None:
    async with running(size=NARROW) as driver:
        await driver.ask(QUESTION)
        await driver.press("down", "enter")
        await driver.until(lambda: "▌ We cut over" in driver.text_of(PreviewPane))
        await driver.press("G")
        await driver.until(lambda: "line 59" in driver.text_of(PreviewPane))
        await driver.press("g")
        await driver.until(lambda: "date: 2026-03-17" in driver.text_of(PreviewPane))


async def test_the_page_of_an_entity_opens_too() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e", "enter")
        await driver.until(lambda: "Prefers async Slack" in driver.text_of(PreviewPane))


async def test_an_entity_without_a_page_says_so() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask("migration")
        await driver.press("escape", "e", "enter")
        await driver.until(lambda: "no page of its own" in driver.text_of(StatusLine))


async def test_a_document_that_is_gone_is_an_error_line() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        await driver.ask(QUESTION)
        kb.documents = ()
        driver.explore.controller.preview("memory/gone.md")
        await driver.until(lambda: "no document memory/gone.md" in driver.text_of(StatusLine))


async def test_x_hides_and_shows_why() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "x")
        await driver.until(lambda: not driver.explore.query_one(WhyPane).display)
        await driver.press("x")
        await driver.until(lambda: driver.explore.query_one(WhyPane).display)


async def test_an_exact_title_comes_first_and_says_so() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.until(lambda: "exact title: shown first" in driver.text_of(WhyPane))
        assert driver.titles[0] == "Rollback plan"
