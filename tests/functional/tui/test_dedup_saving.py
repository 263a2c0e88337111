"""Drafts and decisions survive a change of mode and a restart."""

from __future__ import annotations

from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.explore.screen import Explore
from tests.functional.tui.driving import WIDE, running
from tests.functional.tui.reviewing_drafts import Review, paste_seven, reviewing
from tests.functional.tui.watched import Watched
from tests.waiting import until


async def test_drafts_and_decisions_are_restored_after_a_restart(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.go_to("Favours")
        await review.press("minus")
        await review.until(lambda: review.rows[0].is_decided)
    async with reviewing(demo_copy) as review:
        await review.checked()
        assert len(review.rows) == 7
        assert review.rows[0].is_decided
        assert review.rows[0].action == "skip"


async def test_switching_modes_keeps_drafts_and_query(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.press("f1")
        await review.until(lambda: isinstance(review.driver.app.screen, Explore))
        await review.driver.ask("alice chen")
        await review.press("f2")
        await review.until(lambda: isinstance(review.driver.app.screen, Dedup))
        await review.until(lambda: len(review.rows) == 7)
        await review.press("escape", "escape", "f1")
        await review.until(lambda: isinstance(review.driver.app.screen, Explore))
        assert review.driver.view.query == "alice chen"


async def test_switching_modes_while_drafts_load_adds_no_duplicates(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.drafts.save(kb.drafts.in_file("drafts.md"))
    async with running(demo_copy, WIDE) as driver:
        for key in ("f2", "f1", "f2", "f1", "f2"):
            driver.app.simulate_key(key)
        review = Review(driver)
        await driver.until(lambda: isinstance(driver.app.screen, Dedup) and review.rows)
        await review.checked()
        assert len(review.rows) == 7


async def test_last_decision_is_saved_on_quit_while_the_engine_is_busy(demo_copy: Path) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await paste_seven(review)
        watched.retrieving.clear()
        review.driver.explore.model.update(query="alice")  # keeps the engine busy
        await review.until(lambda: watched.queries)
        await review.go_to("Speaks")
        await review.press("minus")
        await review.until(lambda: review.rows[2].is_decided)
        await review.press("q")
        watched.retrieving.set()
    with KnowledgeBase(demo_copy) as kb:
        await until(lambda: kb.drafts.stored() and kb.drafts.stored()[2].choice is not None)
        choice = kb.drafts.stored()[2].choice
        assert choice is not None
        assert choice.action == "skip"
