"""`v` marks a result; on any other one the why pane says what makes the difference."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running

BY = re.compile(r"beats .* by (\.\d{3}|\d\.\d{3})(?:: (.*))?$")
PART = re.compile(r"[a-z ]+ ([+-]\d?\.\d{3})")


async def marked_first(driver: Driver) -> WhyPane:
    """Ask a question and mark the first result."""
    await driver.ask(QUESTION)
    await driver.press("down")
    await driver.until_focused(ResultList)
    await driver.press("v")
    assert driver.results.marked == driver.paths[0]
    return driver.explore.query_one(WhyPane)


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=str)
async def test_difference_from_the_marked_result_is_shown(demo: Path, size: Size) -> None:
    async with running(demo, size) as driver:
        why = await marked_first(driver)
        assert why.difference == ""
        await driver.press("down")
        await driver.until(lambda: why.difference)
        assert why.difference.startswith(f"{driver.titles[0]} beats {driver.titles[1]} by .")
        if size == TINY:
            await driver.press("x")
        await driver.until_shown(WhyPane, why.difference)


async def test_parts_sum_to_the_difference_as_printed(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        why = await marked_first(driver)
        seen = 0
        for keys in (["j"] * 6, ["right_square_bracket"] * 4, ["m"], ["j"] * 3):
            for key in keys:
                await driver.press(key)
                match = BY.search(why.difference)
                if match is not None:
                    parts = map(Decimal, PART.findall(match[2] or ""))
                    assert sum(parts) == Decimal(match[1]), why.difference
                    seen += 1
        assert seen >= 10


async def test_the_mark_is_removed_by_the_same_key_escape_and_another_query(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        why = await marked_first(driver)
        await driver.press("v")
        assert driver.results.marked == ""
        await driver.press("v", "j")
        await driver.until(lambda: why.difference)
        await driver.press("escape")
        assert (driver.results.marked, why.difference) == ("", "")
        await driver.press("v", "j")
        await driver.ask("rollback plan")
        assert driver.results.marked == ""


async def test_a_mark_that_is_filtered_out_makes_no_difference(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        why = await marked_first(driver)
        await driver.press("j")
        await driver.until(lambda: why.difference)
        driver.explore.model.apply(doc_types=("person",))
        await driver.until(lambda: driver.explore.model.displayed.answers(driver.state))
        await driver.until(lambda: not why.difference)
