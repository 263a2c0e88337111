"""Drafts are typed, pasted and loaded from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.dedup.panes import DraftLine, DraftList, KnownList
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import WIDE, Driver, running
from tests.functional.tui.reviewing_drafts import Review, paste_seven, reviewing
from tests.functional.tui.watched import Watched, WatchedBases


async def test_text_is_checked_while_it_is_typed(demo_copy: Path) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await review.press("slash")
        review.screen.query_one(DraftLine).value = "Alice leads the platform team"
        await review.until(lambda: "Leads the platform team" in review.known)
        assert not review.rows
        watched.checking.clear()
        await review.press("enter")
        await review.until(lambda: review.rows)
        await review.go_to("Alice")
        await review.driver.until_shown(KnownList, "is being compared")
        watched.checking.set()
        await review.checked()
        assert review.rows[0].about.startswith("Alice Chen (guessed)")
        await review.until(lambda: "Leads the platform team" in review.known)


async def test_keys_typed_right_after_f2_go_into_the_draft_line(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await driver.press("f2")
        await driver.until_focused(DraftLine)
        await driver.write("Marek likes jam, all of it")
        driver.app.simulate_key("enter")  # after the keys still waiting
        review = Review(driver)
        await driver.until(lambda: review.rows)
        assert [row.text for row in review.rows] == ["Marek likes jam, all of it"]


@pytest.mark.parametrize("text", ["# Alice likes hash", "{not json"])
async def test_typed_heading_or_brace_is_text_of_the_draft(demo_copy: Path, text: str) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("slash")
        review.screen.query_one(DraftLine).show_text(text)
        await review.press("enter")
        await review.until(lambda: review.rows)
        assert review.rows[0].text == text


async def test_escape_keeps_a_half_typed_draft(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("slash")
        review.screen.query_one(DraftLine).show_text("Alice likes")
        await review.press("escape")
        assert review.screen.query_one(DraftLine).value == "Alice likes"


async def test_draft_can_be_decided_while_another_is_half_typed(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.go_to("Favours")
        draft = review.screen.query_one(DraftList).current
        await review.press("slash")
        await review.driver.write("half a thought")
        await review.until(lambda: not review.screen.query_one(KnownList).subject)
        await review.press("escape")
        await review.until(lambda: draft and review.screen.query_one(KnownList).subject == draft.id)
        await review.press("u")
        await review.until(lambda: "supersede" in review.actions)


async def test_markup_and_escape_sequences_in_drafts_have_no_effect(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\n[bold]\x1b[31mred\x1b]0;x\x07 [@click=app.quit]x[/]\n")
        assert review.rows[0].text.startswith("[bold]red")
        await review.until(lambda: "[@click=app.quit]" in review.driver.screen_text())


async def test_a_hundred_pasted_drafts_are_all_checked(demo_copy: Path) -> None:
    lines = "\n".join(f"Ferry {n} was painted in colour {n * 7}" for n in range(100))
    async with reviewing(demo_copy) as review:
        await review.paste(f"# Mobile\n{lines}\n")
        assert len(review.rows) == 100


async def test_drafts_are_loaded_from_a_file_and_a_missing_file_gives_one_error_line(
    demo_copy: Path, tmp_path: Path
) -> None:
    file = tmp_path / "my drafts.md"
    file.write_text("- Alice Chen collects stamps\n")
    async with reviewing(demo_copy) as review:
        for name, condition in (
            (str(tmp_path / "none.md"), review.says("cannot be read")),
            (str(file), lambda: len(review.rows) == 1),
        ):
            await review.press("f")
            review.screen.query_one(DraftLine).show_text(name)
            await review.press("enter")
            await review.until(condition)


async def test_app_starts_with_a_file_of_drafts(demo_copy: Path) -> None:
    watched = Watched()
    app = KbxApp(demo_copy, bases=WatchedBases(watched), drafts=demo_copy / "drafts.md")
    async with app.run_test(size=WIDE) as pilot:
        review = Review(Driver(app, pilot, watched))
        await review.until(lambda: isinstance(app.screen, Dedup) and len(review.rows) == 7)
        await review.checked()


async def test_tab_completes_the_name_of_a_draft_file(demo_copy: Path) -> None:
    (demo_copy / "inbox").mkdir()
    (demo_copy / "inbox" / "monday.md").write_text("- Alice Chen collects stamps\n")
    (demo_copy / "inbox" / "tuesday.md").write_text("- Alice Chen rows\n")
    async with reviewing(demo_copy) as review:
        await review.press("f")
        await review.driver.until_focused(DraftLine)
        line, status = review.screen.query_one(DraftLine), review.screen.query_one(StatusLine)
        await review.until(lambda: "inbox/" in status.hint)
        await review.driver.write("inb")
        await review.until(lambda: line.completion == "inbox/")
        await review.press("tab")
        await review.until(lambda: status.hint == "inbox/monday.md   inbox/tuesday.md")
        assert (line.value, review.driver.has_focus(DraftLine)) == ("inbox/", True)
        await review.until(lambda: line.completion == "inbox/monday.md")
        await review.press("tab", "enter")
        await review.until(lambda: len(review.rows) == 1)
        assert review.rows[0].text == "Alice Chen collects stamps"
        await review.until(lambda: not status.hint)  # the line is for drafts again


async def test_tab_without_a_completion_goes_to_the_next_pane(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("slash")
        await review.driver.write("inb")
        await review.press("tab")
        await review.until(lambda: not review.driver.has_focus(DraftLine))
        assert review.screen.query_one(DraftLine).value == "inb"
