"""The experts mode, on the real engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kbx_tui.experts.expert_engine import Expert, Receipt
from kbx_tui.tui.drawing.lines import format_place
from kbx_tui.tui.experts.model import ClaimRow, ExpertRow, half_life_at, slider_value
from kbx_tui.tui.experts.screen import (
    ExpertList,
    Experts,
    TopicLine,
    aligned,
    expert_line,
    widths_of,
)
from kbx_tui.tui.explore.entities import EntityCard, EntityList, EntityStrip
from kbx_tui.tui.explore.inputs import DateChip
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.footer import KeyBar, StatusLine
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running


@asynccontextmanager
async def running_experts(root: Path, topic: str, size: Size = WIDE) -> AsyncIterator[Driver]:
    """Run the app in the experts mode, with a topic that has been answered."""
    async with running(root, size) as driver:
        await driver.press("f3")
        await driver.until_focused(TopicLine)
        driver.app.screen.query_one(TopicLine).value = topic
        await driver.until(lambda: expert_list(driver).view is not None)
        await driver.press("down")
        yield driver


def expert_list(driver: Driver) -> ExpertList:
    return driver.app.screen.query_one(ExpertList)


def names(driver: Driver) -> list[str]:
    return [row.expert.name for row in expert_list(driver).rows if isinstance(row, ExpertRow)]


async def test_topics_with_experts_are_suggested(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("f3")
        await driver.until_shown(ExpertList, "choose one below", "migration")
        rows = expert_list(driver).rows
        row = next(n for n, each in enumerate(rows) if each == "migration")
        await driver.press("down", *("j" for _ in range(row)), "enter")
        await driver.until(lambda: "Bob Okafor" in names(driver))
        assert driver.app.screen.query_one(TopicLine).value == "migration"
        await driver.until_shown(ExpertList, "most facts first")
        driver.app.screen.query_one(TopicLine).value = ""
        await driver.until_shown(ExpertList, "choose one below", "migration")
        assert expert_list(driver).border_title == "Experts"


async def test_claims_of_an_expert_add_up_to_the_score(demo: Path) -> None:
    async with running_experts(demo, "migration") as driver:
        await driver.until_shown(ExpertList, "most facts first", "▾")  # all fit
        rows = expert_list(driver).rows
        first = rows[0]
        claims = [row for row in rows if isinstance(row, ClaimRow)]
        assert isinstance(first, ExpertRow)
        contributions = [row.receipt.contribution for row in claims]
        assert sum(contributions) == pytest.approx(first.expert.score)
        assert any(row.status == "superseded" and not row.receipt.contribution for row in claims)
        await driver.until_shown(ExpertList, "named as lead 2026-03-19 projects/migration.md:30")
        await driver.press("enter")
        assert not any(isinstance(row, ClaimRow) for row in expert_list(driver).rows)


@pytest.mark.parametrize("size", [(140, 40), NARROW], ids=str)
async def test_facts_of_the_first_expert_are_open_where_all_names_fit(
    demo: Path, size: Size
) -> None:
    async with running_experts(demo, "migration", size) as driver:
        own = ("11 facts", "2 on own page", "9 sources")
        await driver.until_shown(ExpertList, "▾ Bob Okafor", "▸ Yusuf Demir", *own)
        # A fact has the room of the columns that the others leave free.
        whole = "+ A backfill for the migration caused INC-0117"
        await driver.until_shown(ExpertList, whole, "– The cut-over is on 12 March 2026 superseded")


async def test_claims_that_would_hide_the_other_experts_wait_for_a_key(demo: Path) -> None:
    async with running_experts(demo, "migration", (120, 16)) as driver:
        await driver.until_shown(ExpertList, "▸ Bob Okafor", "11 facts", "▸ Yusuf Demir")
        await driver.press("enter")
        await driver.until_shown(ExpertList, "▾ Bob Okafor")
        assert isinstance(expert_list(driver).rows[6], ClaimRow)
        await driver.press("enter")
        assert not any(isinstance(row, ClaimRow) for row in expert_list(driver).rows)


async def test_a_claim_is_read_in_its_document(demo: Path) -> None:
    async with running_experts(demo, "migration") as driver:
        await driver.press("down")
        claim = expert_list(driver).current
        assert isinstance(claim, ClaimRow)
        await driver.press("enter")
        await driver.until_focused(PreviewPane)
        line = f"▌ - [{claim.receipt.date}] {claim.receipt.text[:20]}"
        await driver.until_shown(PreviewPane, claim.receipt.path, line)


async def test_back_from_a_page_returns_to_the_claim_it_was_opened_from(demo: Path) -> None:
    async with running_experts(demo, "migration", NARROW) as driver:
        await driver.press("j", "j")
        claim = expert_list(driver).current
        assert isinstance(claim, ClaimRow)
        place = format_place(claim.receipt.path, claim.receipt.line)
        await driver.until_shown(ExpertList, f"› + {claim.receipt.text[:20]}", claim.receipt.date)
        assert claim.receipt.text[-10:] in driver.words_of(ExpertList)  # it is whole
        assert driver.words_of(ExpertList).count(place) == 1  # for the row under the cursor alone
        assert isinstance(driver.app.screen, Experts)
        assert next(iter(driver.app.screen.meanings()))[0] == "+"  # as shown, not 1.00
        before = driver.text_of(ExpertList)
        await driver.press("enter")
        await driver.until_focused(PreviewPane)
        await driver.press("escape")
        await driver.until_focused(ExpertList)
        assert expert_list(driver).current == claim
        await driver.until(lambda: driver.text_of(ExpertList) == before)
        await driver.press("f1", "escape")  # it returns only once
        await driver.until(lambda: driver.app.screen is driver.explore)


@pytest.mark.parametrize("size", [(140, 40), NARROW, TINY], ids=str)
async def test_card_of_an_expert_is_read_alone_and_back_returns_to_the_row(
    demo: Path, size: Size
) -> None:
    async with running_experts(demo, "migration", size) as driver:
        await driver.ask("meetings in march 2026")
        await driver.until_shown(KeyBar, "enter facts", "e card")
        if not expert_list(driver).expanded_ids:
            await driver.press("enter")
        await driver.press("j", "j")
        await driver.until_shown(KeyBar, "enter read")
        claim = expert_list(driver).current
        await driver.press("e")
        await driver.until_focused(EntityCard)
        await driver.until_shown(EntityCard, "● Bob Okafor", "9 facts")
        for other in (ResultList, EntityList, EntityStrip, DateChip):
            assert not driver.shows(other)  # they belong to another question
        await driver.press("end", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("escape")
        await driver.until_focused(EntityCard)
        await driver.press("escape")
        await driver.until_focused(ExpertList)
        assert expert_list(driver).current == claim
        await driver.press("f1")
        await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.until(lambda: driver.shows(ResultList))


async def test_keys_change_kind_weight_and_half_life_of_the_ranking(demo: Path) -> None:
    async with running_experts(demo, "migration") as driver:
        await driver.until_shown(KeyBar, "K kind")
        shown = [row for row in expert_list(driver).rows if isinstance(row, ExpertRow)]
        assert {row.expert.type for row in shown} == {"person"}
        await driver.press("K")
        await driver.until(lambda: "Platform" in names(driver))
        slider = driver.app.screen.query_one(NumberSlider)
        await driver.until(lambda: half_life_at(slider.value) == 30)  # as in kbx.toml
        assert not slider.display  # by count, it has no effect
        await driver.press("right_square_bracket")
        await driver.until_shown(StatusLine, "by recency only: s chooses that")
        await driver.press("s")
        await driver.until(lambda: slider.display)
        await driver.until_shown(ExpertList, "most and newest facts first")
        before = expert_list(driver).rows[0]
        await driver.press("right_square_bracket")
        await driver.until(lambda: expert_list(driver).rows[0] != before)
        assert driver.explore.session.experts.question.half_life_days > 30
        for order in ("most sources first", "most relevant first", "most facts first"):
            await driver.press("s")
            await driver.until_shown(ExpertList, order)


async def test_experts_open_on_the_query_in_explore_until_a_topic_is_typed(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        for asked, topic in (
            (QUESTION, "Migration"),  # of a sentence, what it names
            ("who knows about rollback?", "who knows about rollback"),
            ("ferries", "ferries"),
        ):
            await driver.ask(asked)
            await driver.press("f3")
            await driver.until_shown(TopicLine, topic)
            assert driver.app.screen.query_one(TopicLine).value == topic
            await driver.press("f1")
            await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.press("f3")
        await driver.until_shown(TopicLine, "ferries")
        driver.app.screen.query_one(TopicLine).value = "migration"
        await driver.until(lambda: driver.app.screen.query_one(ExpertList).view is not None)
        await driver.press("f1", "f3")
        await driver.until_shown(TopicLine, "migration")


async def test_typing_replaces_the_topic_that_is_taken_from_the_query(demo: Path) -> None:
    async with running(demo, WIDE, asked="who is working on") as driver:
        await driver.press("f3")
        await driver.until_shown(TopicLine, "who is working on")
        await driver.write("rollback")
        await driver.until_shown(TopicLine, "rollback")
        assert driver.app.screen.query_one(TopicLine).value == "rollback"


async def test_topic_is_kept_when_switching_modes(demo: Path) -> None:
    async with running_experts(demo, "migration") as driver:
        await driver.press("f1")
        await driver.until(lambda: isinstance(driver.app.screen, Explore))
        await driver.press("f3")
        await driver.until(lambda: isinstance(driver.app.screen, Experts))
        assert driver.app.screen.query_one(TopicLine).value == "migration"
        await driver.until_focused(ExpertList)
        await driver.until(lambda: names(driver))
        await driver.press("escape", "escape", "escape")
        await driver.until_shown(StatusLine, "f1 goes to explore")
        assert isinstance(driver.app.screen, Experts)


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY])
async def test_expert_names_are_readable_at_every_size(demo: Path, size: Size) -> None:
    async with running_experts(demo, "migration", size) as driver:
        await driver.until_shown(ExpertList, "Bob Okafor", "Yusuf Demir")


@pytest.mark.parametrize("days", [1.0, 7.0, 30.0, 365.0, 900.0])
def test_half_life_and_slider_value_are_inverse(days: float) -> None:
    assert half_life_at(slider_value(days)) == days


def expert_row(name: str, *receipts: Receipt, claims: int = 2, sources: int = 2) -> ExpertRow:
    expert = Expert("person:b", name, "person", claims, sources, 5.0, (), receipts, ())
    return ExpertRow(expert, 2, 0.5, is_expanded=False, says_part=not receipts)


def test_columns_are_aligned_however_much_is_said_of_an_expert() -> None:
    whole = Receipt(1, "", "", "", 1, "active", (), 1.0)
    rows = [expert_row("Bob", whole, sources=3), expert_row("Bob", sources=2)]
    widths = widths_of(rows)
    spans = [expert_line(row, 110, " ", 0, "5.00", aligned(row.columns, widths)) for row in rows]
    lines = ["".join(span.text for span in line) for line in spans]
    assert len({line.index("person ") for line in lines}) == 1
    assert len({line.index("2 facts") for line in lines}) == 1
    assert lines[1].endswith("on a part of the topic")


async def test_people_without_a_score_end_under_one_line(demo: Path) -> None:
    async with running_experts(demo, "pricing", (140, 40)) as driver:
        await driver.press("s", "s", "s")
        await driver.until_shown(ExpertList, "more without a score")
        rows = expert_list(driver).rows
        scores = [row.expert.score for row in rows if isinstance(row, ExpertRow)]
        assert scores and min(scores) >= 0.005
