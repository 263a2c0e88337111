"""Drafts are written in one batch and undone; nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.tui.dedup.panes import DiffPane, DraftLine
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.reviewing_drafts import ALICE, GANGWAY, paste_seven, reviewing
from tests.functional.tui.watched import Watched


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


async def test_written_fact_is_known_to_the_next_check(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan with her grandmother\n")
        await review.press("a")
        await review.until(lambda: not review.rows)
        await review.paste("# Alice Chen\nSpeaks Catalan with her grandmother\n")
        assert review.states == ["exact"]


async def test_missing_page_is_created_only_on_request(
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
    created = demo_copy / "memory/teams/reliability.md"
    async with reviewing(demo_copy) as review:
        await review.paste("# Reliability\nKeeps the pager warm\n")
        assert "no page yet" in review.rows[0].about
        assert not created.exists()
        await review.press("P")
        await review.until(created.exists)
        await review.checked()
        await review.until(lambda: "no page" not in review.rows[0].about)


async def test_unknown_person_gets_a_page_on_request(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Zoe New\nKeeps bees\n")
        assert review.rows[0].about.startswith("Zoe New (unknown)")
        await review.press("c")
        await review.until(
            lambda: "P creates the page" in review.screen.query_one(StatusLine).notice
        )
        await review.press("P")
        await review.until((demo_copy / "memory/people/zoe-new.md").exists)
        await review.until(lambda: review.rows[0].about.startswith("Zoe New ·"))


async def test_a_person_is_named_for_a_draft_that_names_nobody(demo_copy: Path) -> None:
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
        await review.press("a")
        # The watcher may have checked the draft again before it is applied: then the diff says it.
        await review.until(
            lambda: (
                review.says("could not be")()
                or "no longer exists" in review.driver.text_of(DiffPane)
            )
        )
        assert page.read_text(encoding="utf-8") == edited
        assert len(review.rows) == 1


async def test_failing_write_gives_one_error_line_and_keeps_the_drafts(demo_copy: Path) -> None:
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


async def test_failing_undo_does_not_restore_the_drafts(demo_copy: Path) -> None:
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


async def test_own_writes_are_not_announced_as_changes_on_disk(demo_copy: Path) -> None:
    async with reviewing(demo_copy) as review:
        await review.paste("# Alice Chen\nSpeaks Catalan\n")
        await review.press("a")
        await review.until(lambda: not review.rows)
        index_sync = review.screen.session.index_sync
        await review.until(lambda: not index_sync.expects_own_writes)  # the watcher has seen it
        await review.until(lambda: not index_sync.is_indexing)
        assert "z undoes it" in review.screen.query_one(StatusLine).last
