"""The dedup mode as a person uses it, on the real engine: nothing is written before one says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from kbx_tui import KnowledgeBase
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.reviewed import DraftRow
from kbx_tui.tui.screens.dedup import Dedup
from kbx_tui.tui.screens.explore import Explore
from kbx_tui.tui.widgets.diff_pane import DiffPane
from kbx_tui.tui.widgets.draft_line import DraftLine
from kbx_tui.tui.widgets.draft_list import DraftList
from kbx_tui.tui.widgets.known_list import KnownList
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, TINY, WIDE, Driver, Size, running
from tests.functional.tui.watched import Watched, WatchedBases

ALICE = "memory/people/alice-chen.md"
GANGWAY = "memory/projects/gangway-4.md"


class Review:
    """The dedup mode of one running app."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.press, self.until = driver, driver.press, driver.until

    @property
    def screen(self) -> Dedup:
        screen = self.driver.app.screen
        assert isinstance(screen, Dedup)
        return screen

    @property
    def rows(self) -> tuple[DraftRow, ...]:
        lists = self.screen.query(DraftList)  # none before the screen is composed
        return lists.first().rows if lists else ()

    @property
    def states(self) -> list[str]:
        return [row.state for row in self.rows]

    @property
    def actions(self) -> list[str]:
        return [row.action for row in self.rows]

    @property
    def known(self) -> list[str]:
        return [known.text for known in self.screen.query_one(KnownList).known]

    async def checked(self) -> None:
        """Wait until every draft has a state."""
        reviewing = self.screen.controller.reviewing
        await self.until(lambda: not reviewing.is_checking and "checking" not in self.states)

    async def paste(self, text: str) -> None:
        await self.press("slash")
        self.driver.app.post_message(events.Paste(text))
        await self.until(lambda: self.rows)
        await self.checked()

    async def go_to(self, text: str) -> None:
        """Put the cursor on the draft that begins so."""
        drafts = self.screen.query_one(DraftList)
        at = next(row for row, draft in enumerate(self.rows) if draft.text.startswith(text))
        self.screen.set_focus(drafts)
        drafts.choose(at)
        await self.until(lambda: self.screen.query_one(KnownList).subject == self.rows[at].id)

    def says(self, *words: str) -> Callable[[], bool]:
        status = self.screen.query_one(StatusLine)
        return lambda: all(word in f"{status.notice} {status.error}" for word in words)


@asynccontextmanager
async def reviewing(
    root: Path, size: Size = WIDE, *, watched: Watched | None = None
) -> AsyncIterator[Review]:
    """Run the app in its dedup mode."""
    async with running(root, size, watched=watched) as driver:
        await driver.press("f2")
        await driver.until(lambda: isinstance(driver.app.screen, Dedup))
        review = Review(driver)
        await review.until(lambda: review.screen.controller.reviewing.keeper.loaded)
        await review.press("escape")  # out of the line
        yield review


async def paste_seven(review: Review) -> None:
    root = review.screen.controller.reviewing._answers.opened().root
    await review.paste((root / "drafts.md").read_text(encoding="utf-8"))


async def test_the_seven_drafts_of_the_demo_are_written_and_taken_back(demo_copy: Path) -> None:
    files = {path: path.read_bytes() for path in (demo_copy / "memory").rglob("*.md")}
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        assert review.states == ["near", "exact", "new", "conflict", "new", "new", "repeated"]

        await review.go_to("Favours")
        await review.press("m")
        await review.until(lambda: review.driver.has_focus(DraftLine))
        line = review.screen.query_one(DraftLine)
        line.show_text("Prefers async Slack over email and calls")
        await review.press("enter")
        await review.go_to("Ships 5")
        await review.press("u")
        await review.go_to("Platform owns")
        await review.press("c")
        assert review.actions == [
            "merge", "skip", "create", "supersede", "create", "create", "create",
        ]  # fmt: skip
        assert all(row.is_settled for row in review.rows)

        await review.press("a")
        await review.until(lambda: not review.rows)
        assert review.says("4 created", "1 merged", "1 superseded", "1 skipped")()
        page = (demo_copy / ALICE).read_text(encoding="utf-8")
        assert "Prefers async Slack over email and calls" in page
        assert "Speaks Catalan" in page
        assert "~~Ships 3 releases a year~~" in (demo_copy / GANGWAY).read_text(encoding="utf-8")

        await review.press("z")
        await review.until(lambda: len(review.rows) == 7)
        assert {path: path.read_bytes() for path in files} == files


async def test_what_was_written_is_known_to_the_next_check(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan with her grandmother\n")
        await review.press("a")
        await review.until(lambda: not review.rows)
        await review.paste("# Alice Chen\nSpeaks Catalan with her grandmother\n")
        assert review.states == ["exact"]


async def test_what_is_typed_is_checked_before_it_is_a_draft(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("slash")
        review.screen.query_one(DraftLine).value = "Alice leads the platform team"
        await review.until(lambda: "Leads the platform team" in review.known)
        assert not review.rows
        await review.press("enter")
        await review.until(lambda: review.rows)
        await review.checked()
        assert review.rows[0].about.startswith("Alice Chen (guessed)")


async def test_a_threshold_decides_anew_without_a_search(demo_copy: Path) -> None:
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


async def test_drafts_and_decisions_outlive_the_app(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.go_to("Favours")
        await review.press("x")
        await review.until(lambda: review.rows[0].is_decided)
    async with reviewing(demo_copy) as review:
        await review.checked()
        assert len(review.rows) == 7
        assert review.rows[0].is_decided
        assert review.rows[0].action == "skip"


async def test_whose_a_draft_is_can_be_chosen(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("Collects ferry models\n\nReads the tide tables\n")
        assert review.rows[0].about.startswith("nobody's")
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


async def test_a_fact_becomes_an_open_item_and_a_text_another(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\ncheck migration schedule status\n")
        await review.press("t")
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


async def test_a_draft_is_dropped_and_comes_back(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.go_to("Speaks")
        await review.press("d")
        await review.until(lambda: len(review.rows) == 6)
        await review.press("z")
        await review.until(lambda: len(review.rows) == 7)


async def test_labels_are_kept_and_counted(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.go_to("Favours")
        await review.press("y")
        await review.until(review.says("1 label kept", "19 more"))
    assert len((demo_copy / ".kbx" / "labels.jsonl").read_text().splitlines()) == 1


async def test_twenty_labels_tell_how_good_the_threshold_is(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        for number in range(10):
            kb.label(f"Likes tea number {number}", f"likes tea number {number}", True)
            kb.label(f"Likes tea number {number}", f"Sold the old ferry {number}", False)
    async with reviewing(demo_copy) as review:
        await review.press("right_curly_bracket")
        slider = review.screen.query_one(NumberSlider)
        await review.until(lambda: "on your 20 labels: precision 1.00" in slider.note)


async def test_what_the_base_says_twice_opens_as_drafts(demo_copy: Path) -> None:
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
        await review.press("S")
        await review.until(lambda: review.rows)
        assert any("Prefers async Slack" in row.text for row in review.rows)
        assert "supersede" in review.actions


async def test_a_file_of_drafts_is_loaded_and_one_that_is_not_there_is_one_line(
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


async def test_a_page_that_is_missing_is_offered_and_made_only_when_asked_for(
    demo_copy: Path,
) -> None:
    (demo_copy / "memory/notes/2026-05-02-nora.md").write_text(
        "---\nteam: Harbour\n---\n# A note\n", encoding="utf-8"
    )
    page = demo_copy / "memory/people/grace-tully.md"
    page.write_text(
        page.read_text(encoding="utf-8").replace("team: '[[Platform]]'", "team: Reliability"),
        encoding="utf-8",
    )
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    made = demo_copy / "memory/teams/reliability.md"
    async with reviewing(demo_copy) as review:
        await review.paste("# Reliability\nKeeps the pager warm\n")
        assert "no page yet" in review.rows[0].about
        assert not made.exists()
        await review.press("P")
        await review.until(made.exists)
        await review.checked()
        await review.until(lambda: "no page" not in review.rows[0].about)


async def test_a_file_edited_meanwhile_is_never_overwritten(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nFavours asynchronous communication via Slack\n")
        await review.press("u")
        await review.until(lambda: review.rows[0].is_decided)
        page = demo_copy / ALICE
        edited = page.read_text(encoding="utf-8").replace(
            "Prefers async Slack over email", "Prefers a letter by mail"
        )
        page.write_text(edited, encoding="utf-8")
        await review.press("a")
        await review.until(review.says("could not be"))
        assert page.read_text(encoding="utf-8") == edited
        assert len(review.rows) == 1


async def test_an_engine_that_fails_is_one_line_and_the_drafts_stay(demo_copy: Path) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\n")
        watched.faults["apply"] = OSError("No space left on device")
        await review.press("a")
        await review.until(review.says("No space left on device"))
        assert len(review.rows) == 1
        del watched.faults["apply"]
        await review.press("a")
        await review.until(lambda: not review.rows)


async def test_markup_and_escapes_in_drafts_are_text(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\n[bold]\x1b[31mred\x1b]0;x\x07 [@click=app.quit]x[/]\n")
        assert review.rows[0].text.startswith("[bold]red")
        await review.until(lambda: "[@click=app.quit]" in review.driver.screen_text())


async def test_modes_change_and_keep_what_is_in_them(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.press("f1")
        await review.until(lambda: isinstance(review.driver.app.screen, Explore))
        await review.driver.ask("alice chen")
        await review.press("f2")
        await review.until(lambda: isinstance(review.driver.app.screen, Dedup))
        await review.until(lambda: len(review.rows) == 7)
        await review.press("escape", "escape")
        await review.until(lambda: isinstance(review.driver.app.screen, Explore))
        assert review.driver.view.query == "alice chen"


async def test_the_app_opens_on_a_file_of_drafts(demo_copy: Path) -> None:
    watched = Watched()
    app = KbxApp(demo_copy, bases=WatchedBases(watched), drafts=demo_copy / "drafts.md")
    async with app.run_test(size=WIDE) as pilot:
        review = Review(Driver(app, pilot, watched))
        await review.until(lambda: isinstance(app.screen, Dedup) and len(review.rows) == 7)
        await review.checked()


async def test_hundred_drafts_at_once_are_all_checked(demo_copy: Path) -> None:
    lines = "\n".join(f"Ferry {n} was painted in colour {n * 7}" for n in range(100))
    async with reviewing(demo_copy) as review:
        await review.paste(f"# Mobile\n{lines}\n")
        assert len(review.rows) == 100


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY])
async def test_every_pane_is_reached_with_tab(demo_copy: Path, size: Size) -> None:
    async with reviewing(demo_copy, size) as review:
        await paste_seven(review)
        review.screen.set_focus(review.screen.query_one(DraftList))
        for kind in (KnownList, DiffPane, DraftList):
            await review.press("tab")
            await review.driver.until_focused(kind)
            await review.until(lambda: review.screen.focused and review.screen.focused.region.area)


async def test_what_is_typed_after_f2_is_a_draft_and_no_command(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await driver.press("f2")
        await driver.until_focused(DraftLine)
        await driver.write("Marek likes jam, all of it")
        driver.app.simulate_key("enter")  # overtakes nothing that was typed before it
        review = Review(driver)
        await driver.until(lambda: review.rows)
        assert [row.text for row in review.rows] == ["Marek likes jam, all of it"]


@pytest.mark.parametrize("text", ["# Alice likes hash", "{not json"])
async def test_a_typed_line_is_text_whatever_it_begins_with(demo_copy: Path, text: str) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("slash")
        review.screen.query_one(DraftLine).show_text(text)
        await review.press("enter")
        await review.until(lambda: review.rows)
        assert review.rows[0].text == text


async def test_a_half_typed_draft_is_still_there_after_escape(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("slash")
        review.screen.query_one(DraftLine).show_text("Alice likes")
        await review.press("escape")
        assert review.screen.query_one(DraftLine).value == "Alice likes"


async def test_modes_changed_while_drafts_are_read_double_nothing(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.save_drafts(kb.drafts_in("drafts.md"))
    async with running(demo_copy, WIDE) as driver:
        for key in ("f2", "f1", "f2", "f1", "f2"):
            driver.app.simulate_key(key)
        review = Review(driver)
        await driver.until(lambda: isinstance(driver.app.screen, Dedup) and review.rows)
        await review.checked()
        assert len(review.rows) == 7


async def test_what_was_decided_last_is_kept_though_the_engine_is_busy(demo_copy: Path) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await paste_seven(review)
        watched.retrieving.clear()
        review.driver.explore.controller.ask(query="alice")  # the engine waits in this
        await review.until(lambda: watched.queries)
        await review.go_to("Speaks")
        await review.press("x")
        await review.until(lambda: review.rows[2].is_decided)
        await review.press("q")
        watched.retrieving.set()
    with KnowledgeBase(demo_copy) as kb:
        for _ in range(200):
            if kb.drafts() and kb.drafts()[2].choice is not None:
                break
            await asyncio.sleep(0.02)
        choice = kb.drafts()[2].choice
        assert choice is not None
        assert choice.action == "skip"


async def test_a_write_that_cannot_be_taken_back_is_not_written_again(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\n")
        await review.press("a")
        await review.until(lambda: not review.rows)
        page = demo_copy / ALICE
        written = page.read_text(encoding="utf-8")
        page.write_text(written.replace("# Alice Chen", "# Alice M. Chen"), encoding="utf-8")
        for _ in range(2):
            await review.press("z")
            await review.until(lambda: review.screen.query_one(StatusLine).error)
            assert not review.rows


async def test_nothing_unlike_is_struck_out_by_one_key(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan with her grandmother\n")
        await review.press("u")
        await review.until(lambda: "nothing known" in review.screen.query_one(StatusLine).notice)
        assert not review.rows[0].is_decided


async def test_someone_unknown_is_said_to_be_and_gets_a_page_on_demand(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Zoe New\nKeeps bees\n")
        assert review.rows[0].about.startswith("Zoe New (unknown)")
        await review.press("c")
        await review.until(lambda: "P makes the page" in review.screen.query_one(StatusLine).notice)
        await review.press("P")
        await review.until((demo_copy / "memory/people/zoe-new.md").exists)
        await review.until(lambda: review.rows[0].about.startswith("Zoe New ·"))


async def test_the_apps_own_writes_are_not_told_as_changes_on_disk(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\n")
        await review.press("a")
        await review.until(lambda: not review.rows)
        upkeep = review.screen.controller.upkeep
        await review.until(lambda: not upkeep._own)  # the watcher has seen it
        await review.until(lambda: upkeep._indexing is None)
        assert review.says("z takes it back")()
