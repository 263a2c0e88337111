"""The app asks before a base from elsewhere does anything outside itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.containers import VerticalScroll

from kbx_tui.base_trust import trusted_bases
from kbx_tui.tui.shell.questions import TrustQuestion
from kbx_tui.tui.widgets.rows_view import ChoiceList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, TINY, WIDE, Driver, Size, starting

ELSEWHERE = '[index]\nuri = "../outside"\n'
COMMITS = "[writes]\nauto_commit = true\n"


def configure(base: Path, text: str) -> Path:
    (base / "kbx.toml").write_text(text, encoding="utf-8")
    return base


async def until_asked(driver: Driver) -> None:
    await driver.until(lambda: isinstance(driver.app.screen, TrustQuestion))
    await driver.until_focused(ChoiceList)


async def until_back(driver: Driver) -> None:
    await driver.until(lambda: driver.app.screen is driver.app.explore)


def asked(driver: Driver) -> bool:
    return any(isinstance(screen, TrustQuestion) for screen in driver.app.screen_stack)


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_the_question_says_what_the_base_asks_for(fresh_demo: Path, size: Size) -> None:
    async with starting(configure(fresh_demo, ELSEWHERE), size) as driver:
        await until_asked(driver)
        await driver.until_shown(ChoiceList, "› Not now", "Allow it")
        await driver.press("tab", "end")  # what it asks for scrolls where there is little room
        shown = set[str]()
        for key in ("home", *["down"] * 12):
            await driver.press(key)
            shown.update(driver.words_of(VerticalScroll).split())
        assert {'"../outside":', "keeps"} <= shown


async def test_an_allowed_base_is_opened_and_never_asks_again(fresh_demo: Path) -> None:
    async with starting(configure(fresh_demo, ELSEWHERE), WIDE) as driver:
        await until_asked(driver)
        await driver.press("down", "enter")
        await until_back(driver)
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
    assert (fresh_demo.parent / "outside" / "documents.lance").is_dir()
    async with starting(fresh_demo, WIDE) as driver:
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
        assert not asked(driver)


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_a_refused_base_stays_closed_and_the_reason_is_shown(
    fresh_demo: Path, key: str
) -> None:
    async with starting(configure(fresh_demo, ELSEWHERE), WIDE) as driver:
        await until_asked(driver)
        await driver.press(key)
        await until_back(driver)
        await driver.until_shown(StatusLine, "is not trusted with [index] uri")
        await driver.write("alice")  # another attempt to open it
        await driver.until_shown(StatusLine, "is not trusted with [index] uri")
        assert not asked(driver)
        await driver.press("escape", "b")  # another base can be opened
        await driver.until_shown(ChoiceList, "Choose a folder")
    assert not (fresh_demo.parent / "outside").exists()


async def test_without_git_everything_else_works_and_the_question_is_not_repeated(
    demo_copy: Path,
) -> None:
    async with starting(configure(demo_copy, COMMITS), WIDE) as driver:
        await until_asked(driver)
        await driver.until_shown(ChoiceList, "writes are not committed")
        await driver.press("enter")
        await until_back(driver)
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
    (known,) = trusted_bases().values()
    assert known.granted == {}
    async with starting(demo_copy, WIDE) as driver:
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
        assert not asked(driver)


async def test_the_app_says_that_a_write_is_not_committed(demo_copy: Path) -> None:
    async with starting(configure(demo_copy, COMMITS), WIDE) as driver:
        await until_asked(driver)
        await driver.press("escape")
        await until_back(driver)
        client = driver.explore.session.client
        write = client.run(lambda kb: kb.memory_add("Speaks Catalan", entity="Alice Chen"))
        notice = driver.until_shown(StatusLine, "saved, but not committed")
        await asyncio.gather(write, notice)  # it is shown for a moment only
