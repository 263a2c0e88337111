"""The experts mode as a person uses it, on the real engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kbx_tui.tui.experts.expert_list import ExpertList
from kbx_tui.tui.experts.screen import Experts, TopicLine
from kbx_tui.tui.experts.view import ClaimRow, ExpertRow, days_at, value_of
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.functional.tui.driving import NARROW, TINY, WIDE, Driver, Size, running


@asynccontextmanager
async def asking(root: Path, topic: str, size: Size = WIDE) -> AsyncIterator[Driver]:
    """Run the app in its experts mode, with a topic that has its answer."""
    async with running(root, size) as driver:
        await driver.press("f3")
        await driver.until_focused(TopicLine)
        driver.app.screen.query_one(TopicLine).value = topic
        await driver.until(lambda: shown(driver).view is not None)
        await driver.press("down")
        yield driver


def shown(driver: Driver) -> ExpertList:
    return driver.app.screen.query_one(ExpertList)


def names(driver: Driver) -> list[str]:
    return [row.name for row in shown(driver)._rows if isinstance(row, ExpertRow)]


async def test_a_topic_ranks_who_is_known_for_it(demo: Path) -> None:
    async with asking(demo, "rollback plan") as driver:
        assert set(names(driver)[:2]) == {"Bob Okafor", "Platform"}
        assert "claim" in driver.text_of(ExpertList)


async def test_an_expert_opens_into_claims_that_add_up_to_the_score(demo: Path) -> None:
    async with asking(demo, "migration") as driver:
        await driver.press("enter")
        rows = shown(driver)._rows
        first = rows[0]
        claims = [row for row in rows if isinstance(row, ClaimRow)]
        assert isinstance(first, ExpertRow)
        assert sum(row.contribution for row in claims) == pytest.approx(first.score)
        assert any(row.status == "superseded" and not row.contribution for row in claims)
        await driver.press("enter")
        assert not any(isinstance(row, ClaimRow) for row in shown(driver)._rows)


async def test_w_goes_round_the_weights_and_ranks_move(demo: Path) -> None:
    async with asking(demo, "migration") as driver:
        for weight in ("recency", "citation", "relevance", "count"):
            await driver.press("w")
            await driver.until_shown(ExpertList, f"by {weight}")


async def test_a_half_life_changes_scores_by_recency(demo: Path) -> None:
    async with asking(demo, "migration") as driver:
        await driver.press("w")
        await driver.until_shown(ExpertList, "by recency")
        before = shown(driver)._rows[0]
        await driver.press("right_square_bracket")
        await driver.until(lambda: shown(driver)._rows[0] != before)
        days = driver.explore.controller.expertise.question.half_life_days
        assert days > 30


async def test_the_slider_stands_where_kbx_toml_says(demo: Path) -> None:
    async with asking(demo, "migration") as driver:
        slider = driver.app.screen.query_one(NumberSlider)
        await driver.until(lambda: days_at(slider.value) == 30)


async def test_nobody_known_says_so(demo: Path) -> None:
    async with asking(demo, "quantum chromodynamics") as driver:
        await driver.until_shown(ExpertList, "No fact speaks of", "relevance")


async def test_the_topic_is_still_there_after_another_mode(demo: Path) -> None:
    async with asking(demo, "migration") as driver:
        await driver.press("f1")
        await driver.until(lambda: isinstance(driver.app.screen, Explore))
        await driver.press("f3")
        await driver.until(lambda: isinstance(driver.app.screen, Experts))
        assert driver.app.screen.query_one(TopicLine).value == "migration"
        await driver.until(lambda: names(driver))
        await driver.press("escape", "escape")
        await driver.until(lambda: isinstance(driver.app.screen, Explore))


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY])
async def test_names_are_readable_at_every_size(demo: Path, size: Size) -> None:
    async with asking(demo, "migration", size) as driver:
        await driver.until_shown(ExpertList, "Bob Okafor", "Platform")


@pytest.mark.parametrize("days", [1.0, 7.0, 30.0, 365.0, 900.0])
def test_a_half_life_and_its_place_on_the_slider_agree(days: float) -> None:
    assert days_at(value_of(days)) == days
