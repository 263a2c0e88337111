"""How dedup and experts look, at the three sizes the app is made for, on answers recorded once."""

from __future__ import annotations

from kbx_tui.tui.dedup.diff_pane import DiffPane
from kbx_tui.tui.dedup.draft_line import DraftLine
from kbx_tui.tui.dedup.draft_list import DraftList
from kbx_tui.tui.dedup.known_list import KnownList
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.experts.expert_list import ExpertList
from kbx_tui.tui.experts.screen import Experts, TopicLine
from tests.functional.tui.driving import NARROW, TINY, Driver, Size
from tests.snapshots.looking import WIDE, Looks, sizes
from tests.snapshots.questions import TOPIC
from tests.snapshots.recorded_kb import RecordedKb


async def review(driver: Driver, kb: RecordedKb) -> None:
    """Open the dedup mode with the seven drafts of the demo, checked."""
    reviewing = driver.explore.controller.reviewing
    kb.save_drafts(kb.drafts_in("drafts.md"))
    await driver.press("f2")
    await driver.until(lambda: isinstance(driver.app.screen, Dedup))
    await driver.press("down")  # out of the line
    drafts = driver.app.screen.query_one(DraftList)
    await driver.until(lambda: len(drafts.rows) == 7 and not reviewing.is_checking)
    await driver.until(lambda: driver.app.screen.query_one(DiffPane).lines)


async def go_to(driver: Driver, number: int) -> None:
    """Put the cursor on a draft, counted from 1, and wait for what would be written."""
    drafts = driver.app.screen.query_one(DraftList)
    diff = driver.app.screen.query_one(DiffPane)
    before = diff.lines
    drafts.choose(number - 1)
    await driver.until(lambda: diff.lines != before)
    known = driver.app.screen.query_one(KnownList)
    await driver.until(lambda: known.subject == drafts.rows[number - 1].id)


@sizes(WIDE, NARROW, TINY)
def test_drafts_that_are_checked(looks_as_before: Looks, size: Size) -> None:
    assert looks_as_before(review, size)


@sizes(WIDE, NARROW)
def test_a_conflict(looks_as_before: Looks, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await go_to(driver, 4)

    assert looks_as_before(play, size)


def test_what_is_known_in_a_tiny_terminal(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await go_to(driver, 4)
        await driver.press("tab")
        await driver.until_focused(KnownList)

    assert looks_as_before(play, TINY)


def test_drafts_that_are_decided(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await driver.press("x")
        await go_to(driver, 4)
        await driver.press("u")
        rows = driver.app.screen.query_one(DraftList)
        await driver.until(lambda: sum(row.is_decided for row in rows.rows) == 2)
        await go_to(driver, 7)

    assert looks_as_before(play, WIDE)


def test_a_merged_text(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await driver.press("m")
        await driver.until_focused(DraftLine)

    assert looks_as_before(play, NARROW)


def test_no_drafts(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.press("f2")
        await driver.until(lambda: isinstance(driver.app.screen, Dedup))
        await driver.until_shown(DraftList, "No drafts.")

    assert looks_as_before(play, NARROW)


async def ask_for_experts(driver: Driver, kb: RecordedKb) -> None:
    """Open the experts mode on one topic."""
    await driver.press("f3")
    await driver.until(lambda: isinstance(driver.app.screen, Experts))
    driver.app.screen.query_one(TopicLine).value = TOPIC
    await driver.until(lambda: driver.app.screen.query_one(ExpertList).view is not None)
    await driver.press("down")
    await driver.until_focused(ExpertList)


@sizes(WIDE, NARROW, TINY)
def test_experts(looks_as_before: Looks, size: Size) -> None:
    assert looks_as_before(ask_for_experts, size)


def test_an_expert_with_claims(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask_for_experts(driver, kb)
        await driver.press("enter")

    assert looks_as_before(play, WIDE)
