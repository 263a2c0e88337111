"""Proposals for drafts, and deciding about them with one key."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from kbx_tui import KnowledgeBase
from kbx_tui.tui.dedup.panes import DiffPane, DraftLine, DraftList, KnownList
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, TINY, WIDE, Size
from tests.functional.tui.reviewing_drafts import ALICE, paste_seven, reviewing
from tests.functional.tui.watched import Watched


async def test_threshold_changes_states_without_a_check(demo_copy: Path) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await review.paste("# Alice Chen\nFavours asynchronous communication via Slack\n")
        assert review.states == ["near"]
        checks = watched.calls["check_drafts"]
        await review.press(*["right_curly_bracket"] * 2)
        await review.until(lambda: review.states == ["new"])
        assert watched.calls["check_drafts"] == checks
        await review.press("z")
        await review.until(lambda: review.states == ["near"])


async def test_entity_of_a_draft_can_be_chosen(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("Collects ferry models\n\nReads the tide tables\n")
        assert review.rows[0].about.startswith("unassigned")
        await review.press("e")
        await review.until(lambda: review.driver.app.screen.query(Input))
        await review.driver.write("grace")
        await review.until(lambda: "Grace Tully" in review.driver.screen_text())
        await review.press("enter")
        if not isinstance(review.driver.app.screen, Dedup):  # the first enter chose a row
            await review.press("enter")
        await review.until(lambda: isinstance(review.driver.app.screen, Dedup))
        await review.until(lambda: review.rows[0].about.startswith("Grace Tully"))
        await review.checked()
        await review.until(lambda: "grace-tully" in review.driver.text_of(DiffPane))


async def test_kind_and_text_of_a_draft_can_be_changed(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\ncheck migration schedule status\n")
        await review.press("K")
        await review.until(lambda: "open item" in review.rows[0].about)
        await review.checked()
        assert review.states == ["near"]
        await review.press("enter")
        await review.until(lambda: review.driver.has_focus(DraftLine))
        review.screen.query_one(DraftLine).show_text("water the plants")
        await review.press("enter")
        await review.checked()
        assert [row.text for row in review.rows] == ["water the plants"]
        assert review.states == ["new"]


async def test_dropped_draft_is_restored_by_undo(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.go_to("Speaks")
        await review.press("backspace")
        await review.until(lambda: len(review.rows) == 6)
        await review.press("z")
        await review.until(lambda: len(review.rows) == 7)


async def test_unrelated_fact_is_not_superseded_by_one_key(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan with her grandmother\n")
        await review.press("u")
        await review.until(lambda: "nothing known" in review.screen.query_one(StatusLine).notice)
        assert not review.rows[0].is_decided


async def test_labels_are_saved_and_counted(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.go_to("Favours")
        await review.press("y")
        await review.until(review.says("1 label saved", "19 more"))
    assert len((demo_copy / ".kbx" / "labels.jsonl").read_text().splitlines()) == 1


async def test_twenty_labels_give_precision_of_the_threshold(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        for number in range(10):
            kb.drafts.label(f"Likes tea number {number}", f"likes tea number {number}", True)
            kb.drafts.label(f"Likes tea number {number}", f"Sold the old ferry {number}", False)
    async with reviewing(demo_copy) as review:
        await review.press("right_curly_bracket")
        slider = review.screen.query_one(NumberSlider)
        await review.until(
            lambda: slider.note.startswith("precision 1.00") and "20 labels" in slider.note
        )


async def test_a_decision_moves_the_cursor_to_the_next_undecided_draft(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        drafts = review.screen.query_one(DraftList)
        await review.press("home")
        undecided = [row.id for row in review.rows if not row.is_settled]
        first = drafts.current
        assert first is not None
        await review.press("minus")
        await review.until(lambda: review.rows[0].is_decided)
        expected = next(draft_id for draft_id in undecided if draft_id != first.id)
        await review.until(lambda: drafts.current is not None and drafts.current.id == expected)


async def test_scan_adds_repeated_facts_as_drafts(demo_copy: Path) -> None:
    page = demo_copy / ALICE
    text = page.read_text(encoding="utf-8")
    line = "- [2026-02-15] Prefers async Slack over email\n"
    page.write_text(
        text.replace(line, line + "- [2026-05-01] Prefers async Slack to email\n"),
        encoding="utf-8",
    )
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    async with reviewing(demo_copy) as review:
        await review.paste("# Bob Okafor\nSpeaks Catalan\n")
        await review.press("escape", "F")
        await review.until(lambda: len(review.rows) > 1)
        assert any("Prefers async Slack" in row.text for row in review.rows)
        assert "supersede" in review.actions
        drafts = review.screen.query_one(DraftList)
        await review.until(lambda: drafts.has_focus and drafts.current is not None)
        assert drafts.cursor == 1  # the first that was found, not the draft above it
        kept = review.rows[1]
        for key in ("c", "enter", "e", "K"):
            await review.press(key)
            await review.until(review.says("it is on its page already", "- keeps both"))
            review.screen.query_one(StatusLine).show_notice("")
        assert review.rows[1] == kept
        await review.press("minus")
        await review.driver.until_shown(DraftList, "keep both ✓")
        await review.press("question_mark")
        await review.driver.until_shown(HelpText, "Both lines stay as they are")
        await review.press("escape")
        await review.press("z")
        await review.driver.until_shown(DraftList, "keep both?")
        drafts.go_to(kept.id)
        await review.press("minus", "a")
        await review.until(lambda: kept.id not in {row.id for row in review.rows})
        await review.press("F")  # what is kept is not found again
        await review.until(review.says("V lists what you keep"))
        assert kept.id not in {row.id for row in review.rows}
        await review.press("V")
        await review.until(review.says("you keep 1 fact stated more than once"))
        await review.until(lambda: drafts.current is not None and drafts.current.id == kept.id)
        assert drafts.current is not None and drafts.current.is_decided
        await review.press("minus")  # taken back
        await review.driver.until_shown(DraftList, "keep both?")
        await review.press("V")
        await review.until(review.says("you keep no duplicates"))


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY])
async def test_tab_reaches_every_pane(demo_copy: Path, size: Size) -> None:
    async with reviewing(demo_copy, size) as review:
        await paste_seven(review)
        review.screen.set_focus(review.screen.query_one(DraftList))
        for kind in (KnownList, DiffPane, DraftList):
            await review.press("tab")
            await review.driver.until_focused(kind)
            await review.until(lambda: review.screen.focused and review.screen.focused.region.area)
