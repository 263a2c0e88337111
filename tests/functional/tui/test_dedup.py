"""Drafts in the app: typed, decided, written, undone, and kept over a restart."""

from itertools import product
from pathlib import Path

import pytest
from textual.widgets import Input

from kbx_tui import KnowledgeBase
from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import DraftCheck, drafts_from_text
from kbx_tui.tui.dedup.panes import WORKED_OUT, DiffPane, DraftLine, DraftList, KnownList
from kbx_tui.tui.dedup.rows import known_rows
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.explore.entities import EntityCard
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.shell.overlay import ConfirmText
from kbx_tui.tui.widgets.footer import KeyBar, StatusLine
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.functional.tui.driving import NARROW, TINY, WIDE, Size, running, starting
from tests.functional.tui.reviewing_drafts import ALICE, GANGWAY, Review, paste_seven, reviewing
from tests.functional.tui.watched import Watched
from tests.waiting import until


def judge_by_rules(base: Path) -> None:
    """Let scores and rules alone decide about drafts, as these tests move the threshold."""
    with (base / "kbx.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[dedup]\njudge = "rules"\n')


async def test_text_is_checked_while_it_is_typed(demo_copy: Path) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await review.press("slash")
        watched.checking.clear()
        review.screen.query_one(DraftLine).value = "Alice leads the platform team"
        await review.driver.until_shown(KnownList, "Checking: your draft")
        watched.checking.set()
        await review.until(lambda: "Leads the platform team" in review.known)
        await review.driver.until_shown(DiffPane, "already in people/alice-chen.md:13")
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


async def test_nothing_is_said_of_a_draft_before_its_check_has_ended(demo_copy: Path) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await review.press("slash")
        line = review.screen.query_one(DraftLine)
        line.value = "Zoltan likes tea"
        await review.driver.until_shown(DiffPane, "its entity is unknown; choose one")
        assert review.driver.words_of(DiffPane).count("its entity is unknown") == 1
        watched.checking.clear()
        line.value = "Zoltan likes tea a lot"
        await review.until(lambda: "its entity" not in review.driver.words_of(DiffPane))
        await review.press("enter")
        await review.until(lambda: review.rows)
        await review.go_to("Zoltan")
        assert review.screen.query_one(DiffPane).lines in ((), (WORKED_OUT,))
        watched.checking.set()
        await review.checked()
        line.value = "Alice Chen likes tea"
        await review.press("slash", "enter")
        await review.until(lambda: len(review.rows) == 2)
        await review.checked()
        assert review.rows[1].about == "Alice Chen · fact"


async def test_hint_without_drafts_is_true_of_the_focus(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.driver.until_shown(DraftList, "/ goes to the line for one", " f loads a file")
        await review.press("slash", "slash")
        assert not review.screen.query_one(DraftLine).value
        await review.driver.until_shown(
            DraftList, "enter makes what you type a draft", "esc f loads"
        )
        await review.press("escape", "f")
        await review.until(lambda: "makes what you type" not in review.driver.words_of(DraftList))


async def test_where_nothing_would_be_written_no_pane_says_so_and_only_keys_that_work_are_offered(
    demo_copy: Path,
) -> None:
    async with reviewing(demo_copy) as review:
        diff = review.screen.query_one(DiffPane)
        await review.until(lambda: not diff.display)
        assert review.screen.pane_names() == ["drafts", "known"]
        await review.driver.until_shown(KeyBar, "/ new", "f load file", "F scan")
        assert "create" not in review.driver.words_of(KeyBar)
        await review.press("slash")
        await review.driver.write("Alice Chen sings in a choir")
        await review.driver.until_shown(DiffPane, "Alice Chen sings in a choir")
        await review.driver.until_shown(KnownList, "About others")
        known = review.screen.query_one(KnownList).rows
        assert known and not any(row.difference or row.why for row in known)


async def test_keys_typed_right_after_f2_go_into_the_draft_line(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await driver.press("f2")
        await driver.until_focused(DraftLine)
        await driver.write("Marek likes jam, all of it")
        driver.app.simulate_key("enter")  # after the keys still waiting
        review = Review(driver)
        await driver.until(lambda: review.rows)
        assert [row.text for row in review.rows] == ["Marek likes jam, all of it"]


@pytest.mark.parametrize("size", [(140, 40), NARROW, TINY], ids=str)
async def test_after_enter_the_next_fact_is_typed_and_keys_decide_once_the_list_is_entered(
    demo_copy: Path, size: Size
) -> None:
    async with reviewing(demo_copy, size) as review:
        await review.press("slash")
        await review.driver.write("Alice Chen leads the growth team")
        await review.press("enter")
        await review.driver.write("cccc")  # text, not commands
        assert review.screen.query_one(DraftLine).value == "cccc"
        await review.press("ctrl+u", "down")
        await review.driver.until_focused(DraftList)
        await review.checked()
        await review.driver.until_shown(DiffPane, "- - [2025-11-04] Leads the platform team")
        await review.driver.until_shown(DiffPane, "Alice Chen leads the growth")
        await review.press("minus")
        await review.until(lambda: review.actions == ["skip"])


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
        assert review.screen.query_one(DraftLine).value == "half a thought"
        await review.press("u")
        await review.until(lambda: "supersede" in review.actions)


async def test_what_is_typed_after_the_example_replaces_it(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("slash", "up", "up")
        assert review.screen.line.value == review.screen.line.example
        await review.driver.write("Bob")
        assert review.screen.line.value == "Bob"


async def test_the_selected_draft_is_shown_whole(demo_copy: Path) -> None:
    text = "Favours asynchronous communication via Slack over every meeting that has no agenda"
    async with reviewing(demo_copy, (120, 36)) as review:
        await review.paste(f"# Alice Chen\nSpeaks Catalan\n{text}\n")
        await review.go_to("Speaks")
        await review.driver.until(lambda: "no agenda" not in review.driver.words_of(DraftList))
        await review.go_to("Favours")
        await review.driver.until_shown(DraftList, text)


async def test_headings_braces_markup_and_escape_sequences_are_text(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\n[bold]\x1b[31mred\x1b]0;x\x07 [@click=app.quit]x[/]\n")
        assert review.rows[0].text.startswith("[bold]red")
        await review.until(lambda: "[@click=app.quit]" in review.driver.screen_text())
        for text in ("# Alice likes hash", "{not json"):
            await review.press("slash")
            review.screen.query_one(DraftLine).show_text(text)
            await review.press("enter")
            await review.until(lambda text=text: text in [row.text for row in review.rows])  # type: ignore[misc]


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


async def test_name_of_a_file_typed_as_a_draft_is_asked_about(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        line = review.screen.query_one(DraftLine)
        await review.press("slash")
        await review.driver.write("drafts.md")
        await review.press("enter")
        await review.driver.until_shown(DraftLine, "names a file · enter loads its drafts")
        await review.press("escape", "enter")  # it is a draft after all
        await review.until(lambda: [row.text for row in review.rows] == ["drafts.md"])
        await review.press("slash")
        await review.driver.write("./drafts.md")
        await review.press("enter", "enter")
        await review.until(lambda: len(review.rows) == 8)
        assert line.use == "new"


async def test_app_starts_with_a_file_of_drafts(demo_copy: Path) -> None:
    async with starting(demo_copy, WIDE, drafts=demo_copy / "drafts.md") as driver:
        review = Review(driver)
        await review.until(lambda: isinstance(driver.app.screen, Dedup) and len(review.rows) == 7)
        await review.checked()


async def test_tab_completes_the_name_of_a_draft_file_or_goes_to_the_next_pane(
    demo_copy: Path,
) -> None:
    (demo_copy / "inbox").mkdir()
    (demo_copy / "inbox" / "monday.md").write_text("- Alice Chen collects stamps\n")
    (demo_copy / "inbox" / "tuesday.md").write_text("- Alice Chen rows\n")
    async with reviewing(demo_copy) as review:
        await review.press("f")
        await review.driver.until_focused(DraftLine)
        line, status = review.screen.query_one(DraftLine), review.screen.query_one(StatusLine)
        await review.until(lambda: "inbox/" in status.hint)
        assert status.hint.index("drafts.md") < status.hint.index("inbox/")  # it may be cut
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
        await review.press("slash")
        await review.driver.write("inb")
        await review.press("tab")
        await review.until(lambda: not review.driver.has_focus(DraftLine))
        assert line.value == "inb"


async def test_a_draft_that_names_nobody_is_assigned_to_an_entity_or_a_new_person(
    demo_copy: Path,
) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("Collects ferry models\n\nReads the tide tables\n")
        assert review.rows[0].about.startswith("unassigned")
        await review.press("P")
        await review.driver.until_shown(DraftLine, "name of the person it is about")
        await review.driver.write("Yan Ode")
        await review.press("enter")
        await review.until((demo_copy / "memory/people/yan-ode.md").exists)
        await review.until(lambda: review.rows[0].about.startswith("Yan Ode ·"))
        await review.press("z")
        await review.until(lambda: not (demo_copy / "memory/people/yan-ode.md").exists())
        await review.driver.until_shown(StatusLine, "undid the write to people/yan-ode.md")
        await review.until(lambda: review.rows[0].about.startswith("unassigned"))
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


async def test_kind_text_and_threshold_change_the_state_of_a_draft(demo_copy: Path) -> None:
    judge_by_rules(demo_copy)
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        favours = "Favours asynchronous communication via Slack"
        await review.paste(f"# Alice Chen\n{favours}\ncheck migration schedule status\n")
        assert review.states[0] == "near"
        checks = watched.calls["check_drafts"]
        await review.press(*["right_curly_bracket"] * 2)
        await review.until(lambda: review.states[0] == "new")
        assert watched.calls["check_drafts"] == checks
        await review.press("z")
        await review.until(lambda: review.states[0] == "near")
        await review.go_to("check")
        await review.press("K")
        await review.until(lambda: "open item" in review.rows[1].about)
        await review.checked()
        assert review.states[1] == "near"
        await review.press("enter")
        await review.until(lambda: review.driver.has_focus(DraftLine))
        review.screen.query_one(DraftLine).show_text("water the plants")
        await review.driver.until_shown(DiffPane, "people/alice-chen.md", "[ ] water the plants")
        await review.press("enter")
        await review.checked()
        assert [row.text for row in review.rows] == [favours, "water the plants"]
        assert review.states[1] == "new"


async def test_drafts_are_decided_labelled_dropped_and_restored_one_after_the_other(
    demo_copy: Path,
) -> None:
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
        await review.go_to("Favours")
        await review.press("y")
        await review.until(review.says("1 label saved", "19 more"))
        assert len((demo_copy / ".kbx" / "labels.jsonl").read_text().splitlines()) == 1
        await review.go_to("Speaks")
        await review.press("backspace")
        await review.until(lambda: len(review.rows) == 6)
        assert review.says("dropped “Speaks Catalan", "; z brings it back")()
        await review.press("z")
        await review.until(lambda: len(review.rows) == 7)
        await review.press("end", "minus")
        await review.until(lambda: review.rows[-1].is_decided)
        assert drafts.cursor == 6  # there is no other below it


async def test_after_a_write_the_next_draft_is_shown_and_nothing_of_the_written_one(
    demo_copy: Path,
) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await paste_seven(review)
        await review.go_to("Speaks Catalan")
        await review.driver.until_shown(DiffPane, "people/alice-chen.md", "Speaks Catalan")
        watched.checking.clear()  # the engine is busy, as while the page is indexed
        await review.write()
        await review.until(lambda: len(review.rows) == 5)
        draft = review.screen.query_one(DraftList).current
        assert draft is not None
        assert draft.text.startswith("Ships 5")
        await review.until(lambda: "alice-chen" not in review.driver.words_of(DiffPane))
        assert "Catalan" not in review.driver.words_of(DiffPane)
        watched.checking.set()
        await review.driver.until_shown(DiffPane, "projects/gangway-4.md")


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
        await review.press("minus")
        await review.write()
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


async def test_a_narrow_terminal_has_room_for_what_would_be_written(demo_copy: Path) -> None:
    async with reviewing(demo_copy, NARROW) as review:
        slider = review.screen.query_one(NumberSlider)
        await paste_seven(review)
        review.screen.set_focus(review.screen.query_one(DraftList))
        await review.until(lambda: review.screen.query_one(DiffPane).visible_height >= 4)
        assert not slider.display  # until it is moved
        await review.press("right_curly_bracket")
        await review.driver.until_shown(NumberSlider, "facts this alike count as known")
        await review.press("z")
        await review.until(lambda: not slider.display)
        assert "takes it" not in review.driver.text_of(DraftLine)  # up is a key of the list there


async def test_demo_drafts_are_written_and_taken_back(demo_copy: Path) -> None:
    files = {path: path.read_bytes() for path in (demo_copy / "memory").rglob("*.md")}
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        assert review.states == ["near", "exact", "new", "conflict", "new", "new", "repeated"]

        await review.go_to("Favours")
        await review.press("m")
        await review.until(lambda: review.driver.has_focus(DraftLine))
        line = review.screen.query_one(DraftLine)
        line.show_text("Prefers async Slack over email and calls")
        merged = "+- [2026-02-15] Prefers async Slack over email and calls"
        await review.until(lambda: merged in review.screen.query_one(DiffPane).lines)
        await review.press("enter")
        await review.go_to("Ships 5")
        await review.press("u")
        for text in ("Every release", "The platform team", "Platform owns"):
            await review.go_to(text)
            await review.press("c")
        assert review.actions == [
            "merge", "skip", "create", "supersede", "create", "create", "create",
        ]  # fmt: skip
        assert all(row.is_settled for row in review.rows)

        await review.write()
        await review.until(lambda: not review.rows)
        assert review.says("4 created", "1 merged", "1 superseded", "1 skipped")()
        page = (demo_copy / ALICE).read_text(encoding="utf-8")
        assert "Prefers async Slack over email and calls" in page
        assert "Speaks Catalan" in page
        assert "~~Ships 3 releases a year~~" in (demo_copy / GANGWAY).read_text(encoding="utf-8")

        await review.press("z")
        await review.until(lambda: len(review.rows) == 7)
        assert {path: path.read_bytes() for path in files} == files


async def test_a_decision_offers_undo_and_ends_what_was_said_of_an_earlier_one(
    demo_copy: Path,
) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\nLeads the platform team\n")
        await review.press("minus")
        await review.driver.until_shown(KeyBar, "z undo")
        await review.press("z")
        await review.until(review.says("undone: "))
        await review.press("minus")
        await review.until(lambda: not review.says("undone: ")())
        await review.press("f", "enter")
        await review.until(review.says("type the path of a file of drafts"))


async def test_a_write_is_undone_by_a_key_pressed_before_it_ends(demo_copy: Path) -> None:
    page = (demo_copy / ALICE).read_bytes()
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\nLeads the platform team\n")
        await review.press("a")
        await review.driver.until_shown(ConfirmText, "Write 1 draft?", "1 draft skipped")
        await review.press("enter", "z")
        await review.until(review.says("undid the write"))
        await review.until(lambda: len(review.rows) == 2)
    assert (demo_copy / ALICE).read_bytes() == page


async def test_unrelated_fact_and_unknown_person_are_handled_with_care(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        status = review.screen.query_one(StatusLine)
        await review.paste("# Alice Chen\nSpeaks Catalan with her grandmother\n")
        await review.driver.until_shown(KnownList, "Other text of pages is not compared")
        await review.press("u")
        await review.until(lambda: "nothing known" in status.notice)
        assert not review.rows[0].is_decided
        await review.press("backspace")
        await review.until(lambda: not review.rows)
        await review.paste("# Zoe New\nKeeps bees\n")
        assert review.rows[0].about.startswith("Zoe New (unknown)")
        await review.press("c")
        await review.until(lambda: "P creates the page" in status.notice)
        await review.press("P")
        await review.until((demo_copy / "memory/people/zoe-new.md").exists)
        await review.until(lambda: review.rows[0].about.startswith("Zoe New ·"))


async def test_key_pressed_as_the_check_ends_decides_about_what_it_found(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        screen = review.screen

        def show_and_press() -> None:
            screen.show_review()
            if screen.draft is not None and screen.draft.is_checked:
                screen.model.on_change = screen.show_review
                screen.action_choose("supersede")

        screen.model.on_change = show_and_press
        await review.paste("# Alice Chen\nFavours asynchronous communication via Slack\n")
        await review.until(lambda: review.rows[0].is_decided)
        assert review.actions == ["supersede"]


async def test_file_edited_since_the_check_is_not_overwritten(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nFavours asynchronous communication via Slack\n")
        await review.press("u")
        await review.until(lambda: review.rows[0].is_decided)
        page = demo_copy / ALICE
        edited = page.read_text(encoding="utf-8").replace(
            "Prefers async Slack over email", "Prefers a letter by mail"
        )
        page.write_text(edited, encoding="utf-8")
        await review.write()
        # The watcher may have checked the draft again before it is applied: then the diff says it.
        await review.until(
            lambda: (
                review.says("could not be")()
                or "no longer exists" in review.driver.text_of(DiffPane)
            )
        )
        assert page.read_text(encoding="utf-8") == edited
        assert len(review.rows) == 1


async def test_failing_write_keeps_the_drafts_and_failing_undo_restores_none(
    demo_copy: Path,
) -> None:
    watched = Watched()
    async with reviewing(demo_copy, watched=watched) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\n")
        watched.faults["apply"] = OSError("No space left on device")
        await review.write()
        await review.until(review.says("No space left on device"))
        assert len(review.rows) == 1
        del watched.faults["apply"]
        await review.write()
        await review.until(lambda: not review.rows)
        page = demo_copy / ALICE
        written = page.read_text(encoding="utf-8")
        page.write_text(written.replace("# Alice Chen", "# Alice M. Chen"), encoding="utf-8")
        for _ in range(2):
            await review.press("z")
            await review.until(lambda: review.screen.query_one(StatusLine).error)
            assert not review.rows


async def test_drafts_outlive_other_modes_and_a_restart(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await paste_seven(review)
        await review.press("f1")
        await review.until(lambda: isinstance(review.driver.app.screen, Explore))
        await review.driver.ask("alice chen")
        await review.press("f2")
        await review.until(lambda: isinstance(review.driver.app.screen, Dedup))
        await review.until(lambda: len(review.rows) == 7)
        await review.go_to("Favours")
        await review.press("minus")
        await review.until(lambda: review.rows[0].is_decided)
        await review.press("escape", "escape", "f1")
        await review.until(lambda: isinstance(review.driver.app.screen, Explore))
        assert review.driver.view.query == "alice chen"
    async with reviewing(demo_copy) as review:
        await review.checked()
        assert len(review.rows) == 7
        assert review.rows[0].is_decided
        assert review.rows[0].action == "skip"


async def test_nothing_is_said_to_be_missing_while_drafts_are_read(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.drafts.save(kb.drafts.in_file("drafts.md"))
    watched = Watched()
    async with running(demo_copy, NARROW, watched=watched) as driver:
        await driver.until(lambda: driver.explore.session.review.count == 7)
        watched.retrieving.clear()  # the engine is busy with a search
        driver.explore.model.update(query="gangway")
        await driver.until(lambda: watched.queries)
        await driver.press("f2")
        await driver.until(lambda: isinstance(driver.app.screen, Dedup))
        await driver.press("escape", "escape", "a")
        await driver.until(lambda: "reading drafts …" in driver.screen_text())
        drafts = driver.app.screen.query_one(DraftList)
        assert "No drafts" not in driver.screen_text() and not drafts.rows
        watched.retrieving.set()
        await driver.until(lambda: drafts.rows)


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


async def test_the_summary_of_a_write_is_left_by_escape_and_news_of_indexing_wait(
    demo_copy: Path,
) -> None:
    async with reviewing(demo_copy) as review:
        await review.press("c")
        await review.until(review.says("there is no draft: / types one"))
        await review.paste("# Alice Chen\nSpeaks Catalan\nPrefers email over Slack\n")
        await review.press("a")
        await review.driver.until_shown(ConfirmText, "create 1 in 1 page", "1 draft left")
        assert "@@" not in review.driver.text_of(ConfirmText)
        await review.press("escape")
        await review.until(lambda: len(review.rows) == 2)
        assert "Speaks Catalan" not in (demo_copy / ALICE).read_text(encoding="utf-8")
        await review.write()
        await review.until(review.says("1 created"))
        index_sync = review.screen.session.index_sync
        await review.until(lambda: not index_sync._own_writes)  # the watcher has seen it
        await review.until(lambda: not index_sync.is_indexing)
        assert "z undoes it" in review.screen.query_one(StatusLine).last
        review.driver.app.show_notice("1 change on disk indexed", yields=True)
        await review.driver.pilot.pause()
        assert "1 created" in review.screen.query_one(StatusLine).last
        await review.press("slash")  # z is text there
        await review.until(lambda: not review.screen.query_one(StatusLine).notice)
        await review.paste("# Alice Chen\nLeads the platform team\n")
        await review.press("a")
        await review.driver.until_shown(ConfirmText, "Skip 1 draft?", "enter skips it")
        assert "nothing" not in review.driver.text_of(ConfirmText)


async def test_a_draft_of_nobody_is_of_the_owner_of_the_fact_that_it_changes(
    demo_copy: Path,
) -> None:
    async with reviewing(demo_copy, (170, 40)) as review:
        await review.paste("The rollback takes ten minutes\nWrites with a fountain pen\n")
        await review.go_to("The rollback")
        assert review.states[0] == "conflict"
        assert review.rows[0].about.startswith("Bob Okafor (guessed)")
        await review.driver.until_shown(DiffPane, "- - [2026-03-03] Brought", "ten minutes")
        await review.driver.until_shown(KnownList, "− [Brought] the", "+ The rollback [takes]")
        await review.driver.until_shown(KeyBar, "u supersede", "- skip")
        known = review.screen.query_one(KnownList)
        owners = [each.owner for each in known.rows]
        known.choose(owners.index("Gangway 4"))
        review.screen.set_focus(known)
        await review.press("u")
        await review.until(lambda: review.rows[0].about.startswith("Gangway 4 ·"))
        await review.checked()
        assert review.rows[0].is_decided


async def test_owner_of_the_closest_fact_is_offered_first(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("Ships 5 releases a year\nReports to Carla\n")
        known = review.screen.query_one(KnownList)
        await review.until(lambda: known.rows)
        owner = known.rows[0].owner
        await review.press("e")
        await review.until(lambda: "· team" in review.driver.screen_text())
        await review.press("enter")
        await review.until(lambda: review.rows[0].about.startswith(owner))


def test_sign_and_pane_agree_and_a_contradiction_is_never_a_duplicate(demo_copy: Path) -> None:
    drafts = drafts_from_text(
        "Alice Chen leads the growth team\n"
        "Ships 5 releases a year\nGangway 4 ships 5 releases a year\nAlice prefers async Slack\n"
        "Bob does not run the migration\nLeads the platform team\nReports to Carla\n"
    )
    known = {"near": {"duplicate", "refines", "similar"}}

    def others(check: DraftCheck) -> dict[str, str]:
        rows = known_rows(check, [], None)
        return {row.place.split(":")[0]: row.relation for row in rows if not row.decides}

    with KnowledgeBase(demo_copy) as kb:
        assert others(kb.drafts.check(drafts[:1])[0])["teams/platform.md"] == "conflict"
    judge_by_rules(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        checks = kb.drafts.check(drafts)
    assert others(checks[0])["teams/platform.md"] == "similar"
    for check, threshold in product(checks, (None, 0.2, 0.6, 0.99)):
        verdict, rows = decide(check, threshold), known_rows(check, [], threshold)
        says = [row.relation for row in rows if row.decides]
        if verdict.match is not None:
            assert rows[0].is_first and rows[0].text == verdict.match.known.text
            assert says[0] in known.get(verdict.state, {verdict.state})
            assert (says[0], verdict.proposal.action) != ("duplicate", "create")
        if verdict.state == "new":
            assert not {*says} & {*known["near"], "conflict", "exact"}


async def test_a_misheard_name_is_corrected_after_a_look_and_put_back_by_one_key(
    demo_copy: Path,
) -> None:
    page = demo_copy / "memory" / "notes" / "call.md"
    page.write_text("# Call\n\nKaren Veal wants [two ferries].\n", encoding="utf-8")
    async with reviewing(demo_copy) as review:
        await review.press("escape", "C")
        line = review.screen.query_one(DraftLine)
        line.value = "Karen Veal"
        await review.press("enter")
        await review.driver.until_shown(StatusLine, "give both names")
        line.value = "Karen Veal = Karin Wiel"
        await review.press("enter")
        await review.driver.until_shown(ConfirmText, "1 place in 1 page", "+Karin Wiel wants [two")
        page.write_text("# Call\n\nKaren Veal, that is Karen Veal.\n", encoding="utf-8")
        await review.press("enter")
        await review.driver.until_shown(StatusLine, "the pages have changed meanwhile; nothing was")
        assert "Karin Wiel" not in page.read_text(encoding="utf-8")
        await review.press("C")
        line.value = "Karen Veal = Karin Wiel"
        await review.press("enter")
        await review.driver.until_shown(ConfirmText, "2 places in 1 page")
        await review.press("enter")
        await review.driver.until_shown(StatusLine, "corrected Karen Veal to Karin Wiel on 1 page")
        assert "Karin Wiel" in page.read_text(encoding="utf-8")
        await review.press("z")
        await review.driver.until_shown(StatusLine, "undid the write to notes/call.md")
        assert "Karen Veal" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["drafts", "card"])
async def test_two_pages_of_a_person_are_merged_after_a_look_and_put_back_by_one_key(
    demo_copy: Path, place: str
) -> None:
    page = demo_copy / "memory" / "people" / "b-okafor.md"
    page.write_text("# B. Okafor\n\n## Recent Facts\n- Sails [red] boats\n", encoding="utf-8")
    async with reviewing(demo_copy) as review:
        driver = review.driver
        if place == "drafts":
            await review.press("escape", "C")
            review.screen.query_one(DraftLine).value = "B. Okafor = Bob Okafor"
        else:
            await driver.press("f1")
            driver.explore.reader.open_card("person:bob-okafor")
            await driver.until_focused(EntityCard)
            await driver.press("M")
            await driver.until(lambda: driver.has_focus(Input))
            await driver.write("b. ok")
            await driver.until(lambda: "B. Okafor · person" in driver.screen_text())
            assert "Bob Okafor · person" not in driver.screen_text()
            await driver.press("down")
        await review.press("enter")
        await review.driver.until_shown(ConfirmText, "Merge B. Okafor into Bob", "+- Sails [red]")
        await review.press("enter")
        await review.driver.until_shown(StatusLine, "merged B. Okafor into Bob Okafor on 2 pages")
        assert not page.exists()
        await review.press("z")
        await review.driver.until_shown(StatusLine, "undid the write")
        assert page.exists()
