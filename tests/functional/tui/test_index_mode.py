"""The Index mode: the run, files that need attention, and the tree of folders."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.search.query_history import QueryHistory
from kbx_tui.tui.explore.inputs import PathLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.indexing.folder_list import FolderList, FolderPicker
from kbx_tui.tui.indexing.panes import FileList, RunPane
from kbx_tui.tui.indexing.screen import Index
from kbx_tui.tui.widgets.key_bar import KeyBar
from tests.functional.tui.driving import NARROW, WIDE, Driver, running, starting
from tests.functional.tui.watched import Watched
from tests.functional.vaults import write_vault


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
        await driver.until_shown(RunPane, "indexing", "reading", "vectors")
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


async def test_a_narrow_terminal_shows_the_state_of_the_index_first(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        await open_index(driver)
        await driver.until_shown(FileList, "Nothing needs attention.")
        await driver.until(lambda: driver.explore.session.index.has_read_queries)
        await driver.until_shown(RunPane, "up to date")
        assert driver.has_focus(FileList)
        await driver.until_shown(FileList, "tab: folders")


async def test_folders_show_hits_and_narrow_the_search(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("migration")
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
    async with running(demo, NARROW) as driver:
        await driver.ask("migration")
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
    async with running(demo_copy, WIDE) as driver:
        await driver.ask("topic3")
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
