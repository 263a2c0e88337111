"""Indexing in the background: progress, early results and errors."""

import shutil
import threading
from pathlib import Path

import pytest

from kbx_tui.api import KnowledgeBase, session
from kbx_tui.errors import EmbeddingError
from kbx_tui.index import index_status
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.search.query_history import QueryHistory
from kbx_tui.tui.explore.inputs import ModeBadge, PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.indexing.screen import FileList, FolderList, FolderPicker, Index, RunPane
from kbx_tui.tui.shell.frame_screen import ModeTabs
from kbx_tui.tui.shell.questions import ConfirmIndexing
from kbx_tui.tui.widgets.footer import KeyBar, StatusLine
from kbx_tui.tui.widgets.lines_view import ChoiceList
from tests.command_line import CommandLine
from tests.functional.tui.driving import (
    NARROW,
    QUESTION,
    TINY,
    WIDE,
    Driver,
    Size,
    is_counted,
    running,
    starting,
)
from tests.functional.tui.watched import Watched
from tests.functional.vaults import FILES, index_vault, write_vault
from tests.waiting import until


def held_back() -> Watched:
    """Return a watch that stops indexing between text and vectors."""
    watched = Watched()
    watched.indexing.clear()
    return watched


def indexed(root: Path) -> bool:
    with KnowledgeBase(root) as kb:
        return kb.is_indexed() and kb.status().vector_share == 1.0


async def test_query_is_answered_and_progress_shown_during_indexing(tmp_path: Path) -> None:
    root, watched = write_vault(tmp_path / "kb"), held_back()
    async with starting(root, WIDE, watched=watched) as driver:
        driver.explore.query_one(QueryLine).value = "migration"
        await driver.until(lambda: "Migration go/no-go" in driver.titles)
        await driver.until_shown(StatusLine, "indexing: ")
        await driver.until_shown(ModeBadge, "meaning incomplete")
        assert not indexed(root)
        watched.indexing.set()
        await driver.until(lambda: not driver.status.display)
        await driver.until(lambda: "meaning" not in driver.text_of(ModeBadge))
        assert watched.calls["index"] == 1
    assert indexed(root)


async def test_index_deleted_under_the_app_is_built_again(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "REFRESH_SECONDS", 0.0)  # each query looks at the index
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        titles = list(driver.titles)
        shutil.rmtree(demo_copy / ".kbx" / "index")
        driver.explore.query_one(QueryLine).value = "rehearsal"
        await driver.until(lambda: driver.titles and list(driver.titles) != titles)
        assert driver.watched.calls["index"] == 1


async def test_keys_work_during_indexing(fresh_demo: Path) -> None:
    watched = held_back()
    async with starting(fresh_demo, NARROW, watched=watched) as driver:
        await driver.until(lambda: watched.calls["index"])
        await driver.ask(QUESTION)
        assert driver.view.mode.name == "two-pass"
        await driver.press("down", "right_square_bracket", "enter")
        await driver.until(lambda: driver.explore.panes.read == "document")
        await driver.press("escape", "e", "enter")
        await driver.until(lambda: driver.explore.panes.read == "card")


async def test_base_without_an_index_shows_that_it_is_being_made(tmp_path: Path) -> None:
    root, watched = write_vault(tmp_path / "kb"), Watched(held=lambda progress: True)
    watched.indexing.clear()
    async with starting(root, WIDE, watched=watched) as driver:
        await driver.until_shown(ResultList, "The index is being built")
        watched.indexing.set()
        await driver.until_shown(ModeTabs, "5 documents")


async def test_quitting_stops_indexing_and_the_next_start_continues_it(tmp_path: Path) -> None:
    root, watched = write_vault(tmp_path / "kb"), held_back()
    async with starting(root, WIDE, watched=watched) as driver:
        await driver.ask("migration")
    await until(lambda: watched.calls["index cancelled"])
    await until(lambda: watched.calls["close"] == watched.calls["open"])
    await until(lambda: "kbx-index" not in {thread.name for thread in threading.enumerate()})
    assert not indexed(root)
    async with starting(root, WIDE) as driver:
        await driver.until(lambda: is_counted(driver))
        await driver.until(lambda: driver.watched.calls["index"] == 1)
        await driver.until(lambda: indexed(root))


async def test_index_locked_by_another_process_is_not_an_error_and_is_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.tui.engine.index_sync.LOCK_RETRY_SECONDS", 0.05)
    root, watched = write_vault(tmp_path / "kb"), Watched()
    with writer_lock(root):
        async with starting(root, WIDE, watched=watched) as driver:
            driver.explore.query_one(QueryLine).value = "migration"
            await driver.until_shown(StatusLine, "indexing waits for another write of the index")
            await driver.until(lambda: watched.calls["index"] >= 2)
            assert not driver.status.error
            assert not driver.titles
    async with starting(root, WIDE, watched=watched) as driver:
        await driver.until(lambda: watched.calls["index"] >= 1)
        driver.explore.query_one(QueryLine).value = "migration"
        await driver.until(lambda: "Migration go/no-go" in driver.titles)


async def test_documents_indexed_by_another_process_are_found(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.tui.engine.index_sync.LOCK_RETRY_SECONDS", 0.05)
    async with running(demo_copy, WIDE, asked="rehearsal") as driver:
        (demo_copy / "memory/notes/new.md").write_text("# Rehearsal rehearsal\n", encoding="utf-8")
        with writer_lock(demo_copy):
            await driver.until_shown(StatusLine, "indexing waits for another write of the index")
        await driver.until(lambda: "Rehearsal rehearsal" in driver.titles)
        await driver.until(lambda: not driver.status.progress)


async def test_fast_search_works_if_the_model_cannot_be_loaded(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "kb")
    watched = Watched(faults={"index": EmbeddingError("no model in /nowhere")})
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
    async with starting(root, WIDE, watched=watched) as driver:
        await driver.until_shown(StatusLine, "✗ no model in /nowhere")
        await driver.press("escape", "m", "m")
        await driver.ask("migration")
        assert "Migration go/no-go" in driver.titles


@pytest.mark.parametrize("part", ["documents.lance/data", "chunks.lance/_versions"])
async def test_damaged_index_is_rebuilt_and_searched(tmp_path: Path, part: str) -> None:
    root = index_vault(tmp_path / "kb", fast=True)
    for file in (root / ".kbx/index" / part).rglob("*.*"):
        file.write_bytes(b"rubbish")
    async with starting(root, WIDE) as driver:
        driver.explore.query_one(QueryLine).value = "migration"
        await driver.until(lambda: driver.titles)
        await driver.ask("rollback")
        assert driver.titles
        assert not driver.status.error
        await driver.until(lambda: driver.watched.calls["watch"])


async def test_damaged_kbx_toml_is_reported_and_read_again_with_the_next_query(
    demo_copy: Path,
) -> None:
    (demo_copy / "kbx.toml").write_text("[search\nhierarchy_alpha = 0.7\n", encoding="utf-8")
    async with starting(demo_copy, WIDE) as driver:
        await driver.until_shown(StatusLine, "✗", "kbx.toml is not valid TOML")
        await driver.until_shown(ResultList, "There is no knowledge base to search yet.")
        (demo_copy / "kbx.toml").write_text("[search]\nhierarchy_alpha = 0.7\n", encoding="utf-8")
        await driver.ask(QUESTION)
        await driver.until(lambda: not driver.status.error)
        assert driver.alpha == 0.7
        await driver.until(lambda: driver.watched.calls["watch"])
        await driver.until(lambda: is_counted(driver))


async def test_base_is_indexed_once_its_kbx_toml_is_repaired(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "kb", {**FILES, "kbx.toml": "[search\n"})
    async with starting(root, WIDE) as driver:
        await driver.until_shown(StatusLine, "kbx.toml is not valid TOML")
        (root / "kbx.toml").write_text("", encoding="utf-8")
        await driver.ask("migration")
        assert "Migration go/no-go" in driver.titles


async def test_base_that_cannot_be_opened_is_retried_with_the_next_query(demo: Path) -> None:
    watched = Watched(faults={"open": OSError("the disk sleeps")})
    async with starting(demo, WIDE, watched=watched) as driver:
        await driver.until_shown(ResultList, "no knowledge base to search", "the disk sleeps")
        watched.faults.clear()
        await driver.ask("alice")
        assert driver.titles
        assert not driver.status.error


async def test_read_only_base_can_be_searched(demo: Path, demo_copy: Path) -> None:
    watched = Watched(faults={"index": PermissionError("read-only file system")})
    (demo_copy / "memory/notes/new.md").write_text("# New\n", encoding="utf-8")
    async with starting(demo_copy, WIDE, watched=watched) as driver:
        await driver.until_shown(StatusLine, "PermissionError: read-only file system")
        await driver.ask("rollback plan")
        assert driver.titles[0] == "Rollback plan"


async def test_many_files_are_indexed_only_after_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_status, "ASK_ABOVE", 3)
    root = write_vault(tmp_path / "kb")
    async with starting(root, NARROW) as driver:
        await driver.until(lambda: isinstance(driver.app.screen, ConfirmIndexing))
        await driver.until_shown(ChoiceList, f"holds {len(FILES)} markdown files", "Not now")
        await driver.press("enter")
        await driver.until_shown(ResultList, "Nothing is indexed yet")
        assert "index" not in driver.watched.calls
        await driver.press("escape", "R")
        await driver.until(lambda: isinstance(driver.app.screen, ConfirmIndexing))
        await driver.until_focused(ChoiceList)
        await driver.press("down", "enter")
        await driver.until_shown(ModeTabs, f"{len(FILES)} documents")
        assert driver.watched.calls["index"] == 1


async def open_index(driver: Driver) -> None:
    await driver.press("f5")
    await driver.until(lambda: isinstance(driver.app.screen, Index))


def folder_rows(driver: Driver) -> list[str]:
    return [row.path for row in driver.app.screen.query_one(FolderList).rows]


async def test_run_can_be_paused_stopped_and_continued(tmp_path: Path) -> None:
    root, watched = write_vault(tmp_path / "kb"), Watched()
    watched.indexing.clear()  # holds the run between text and vectors
    async with starting(root, WIDE, watched=watched) as driver:
        await driver.until(lambda: driver.explore.model.is_searchable)
        await open_index(driver)
        await driver.until_shown(RunPane, "indexing", "meaning")
        await driver.press("p")
        await driver.until_shown(RunPane, "paused")
        await driver.press("p", "s")
        await driver.until_shown(RunPane, "stopped; what is indexed stays")
        assert watched.calls["index cancelled"]
        await driver.until_shown(FileList, "documents without vectors")
        watched.indexing.set()
        await driver.press("R")
        await driver.until_shown(RunPane, "up to date", "meaning 100 %")
        await driver.until_shown(FileList, "Nothing needs attention.")
        await driver.press("W")
        await driver.until_shown(RunPane, "not watching")


async def test_files_with_problems_are_shown_with_line_and_reason(demo_copy: Path) -> None:
    odd = demo_copy / "memory/notes/odd.md"
    odd.write_text("---\ntitle: [x\n---\n# Odd\n", encoding="utf-8")
    async with running(demo_copy, NARROW) as driver:
        await driver.until(lambda: "index" in driver.watched.calls)
        await open_index(driver)
        await driver.until_shown(FileList, "1 problem", "memory/notes/odd.md:", "not valid YAML")


async def test_what_only_looks_like_a_redaction_mark_is_shown_there_and_by_check(
    demo_copy: Path, kbx: CommandLine
) -> None:
    near = "looks like a redaction mark, but is not one: - the key #redacetd"
    (demo_copy / "memory/notes/near.md").write_text("# Near\n\n- the key #redacetd\n")
    async with running(demo_copy, WIDE) as driver:
        await driver.until(lambda: "index" in driver.watched.calls)
        await open_index(driver)
        await driver.until_shown(FileList, "1 problem", "memory/notes/near.md:3", near)
    ran = kbx("--kb", demo_copy, "check")
    assert (ran.code, f"memory/notes/near.md:3: {near}\n" in ran.out) == (0, True)


@pytest.mark.parametrize("size", [NARROW, TINY], ids=str)
async def test_a_narrow_terminal_shows_the_state_of_the_index_first(demo: Path, size: Size) -> None:
    async with running(demo, size) as driver:
        await open_index(driver)
        await driver.until_shown(FileList, "Nothing needs attention.")
        await driver.until(lambda: driver.explore.session.index.has_read_queries)
        await driver.until_shown(RunPane, "up to date")
        if size == NARROW:  # where no file needs attention, the folders have room below
            await driver.until_focused(FolderList)
            await driver.until_shown(FolderList, "people/")
            assert "tab: folders" not in driver.text_of(FileList)
        else:
            assert driver.has_focus(FileList)
            await driver.until_shown(FileList, "tab: folders")


async def test_folders_show_hits_and_narrow_the_search(demo: Path) -> None:
    async with running(demo, WIDE, asked="migration") as driver:
        total = driver.view.matched
        await open_index(driver)
        await driver.until_focused(FolderList)  # no file needs attention
        assert "files" not in driver.app.screen.query_one(KeyBar).scopes
        await driver.until_shown(FolderList, "everywhere", f"{total} hits", "people/")
        place = folder_rows(driver).index("memory/people")
        await driver.press(*["down"] * place, "space")
        await driver.until_shown(FolderList, "in memory/people/", "[x] people/", "[ ] notes/")
        assert driver.explore.query_one(PathLine).value == "memory/people/"
        await driver.press("z")
        await driver.until_shown(FolderList, "everywhere")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, Explore))
        await driver.until(lambda: driver.view.scope.path == "memory/people/")
        assert all(path.startswith("memory/people/") for path in driver.paths)


async def test_tree_is_the_picker_of_the_path_field(demo: Path) -> None:
    async with running(demo, NARROW, asked="migration") as driver:
        await driver.press("escape", "f", "ctrl+t")
        await driver.until(lambda: isinstance(driver.app.screen, FolderPicker))
        await driver.until_shown(FolderList, "Search in everything", "people/", "hits")
        await driver.press(*["down"] * folder_rows(driver).index("memory/people"), "space")
        await driver.press("down", "space", "escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.until(lambda: driver.view.scope.path == "{memory/people/,memory/projects/}")
        driver.explore.query_one(PathLine).value = "[/b]"  # shown as it is, not read as markup
        await driver.press("f", "ctrl+t")
        await driver.until(lambda: isinstance(driver.app.screen, FolderPicker))
        await driver.until_shown(FolderList, "Search in [/b]")


async def test_document_that_turns_up_too_often_can_be_muted(demo_copy: Path) -> None:
    history, page = QueryHistory(demo_copy), "memory/notes/zzz.md"
    words = [f"topic{number}" for number in range(20)]
    (demo_copy / page).write_text("# Zzz\n\n" + "\n\n".join(words), encoding="utf-8")
    for word in words:
        history.add(word)
    async with running(demo_copy, WIDE, asked="topic3") as driver:
        await driver.until(lambda: page in driver.paths)
        await open_index(driver)

        def listed() -> list[tuple[str, str]]:
            rows = driver.app.screen.query_one(FileList).rows
            return [(row.kind, row.text) for row in rows if row.path == page]

        often = [("over-retrieved", "among the first ten of 20 of 20 queries")]
        await driver.until(lambda: listed() == often)
        await driver.press("minus")  # the worst comes first
        await driver.until(lambda: listed() == [("muted", "left out of every search")])
        await driver.press("f1")
        await driver.until_shown(ResultList, "1 muted document left out")
        assert page not in driver.paths
        (demo_copy / "kbx.toml").write_text("", encoding="utf-8")  # by hand: the mute is gone
        driver.explore.session.index_sync.index()
        await driver.until(lambda: page in driver.paths)
        await open_index(driver)
        await driver.until(lambda: listed() == often)
        (demo_copy / page).unlink()
        await driver.press("R")
        await driver.until(lambda: listed() == [])  # the past queries were searched again
