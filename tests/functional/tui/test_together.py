"""Several knowledge bases searched together in the app."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import EmbeddingError
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.experts.screen import Experts
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.frame_screen import ModeTabs
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.together import BaseList, OwnedList, Together, TogetherBase, TogetherLine
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, PATIENCE, TINY, WIDE, Driver, Size, starting
from tests.functional.tui.watched import Watched, WatchedBases
from tests.functional.vaults import write_vault

HOME = {
    "notes/rollback.md": "# Rollback plan\n\nHow we roll back the boat.\n",
    "notes/tea.md": "# Tea\n\nGreen.\n",
}
WORK = {
    "notes/deploy.md": "# Deployment\n\nA rollback of the release takes an hour.\n",
    "people/bo.md": "# Bo Rask\n\n## Recent Facts\n- [2026-01-02] Owns the rollback\n",
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two small bases, indexed for words."""
    folder = tmp_path_factory.mktemp("together")
    roots = [write_vault(folder / "home", HOME), write_vault(folder / "work", WORK)]
    for root in roots:
        with KnowledgeBase(root) as base:
            base.index(fast=True)
    return roots


@asynccontextmanager
async def together(
    roots: list[Path], size: Size = WIDE, watched: Watched | None = None
) -> AsyncIterator[Driver]:
    """Run the app on several bases, and wait until all can be searched or say why not."""
    watched = watched or Watched()
    app = KbxApp(None, together=roots, bases=WatchedBases(watched), debounce=0.0)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot, watched)
        await driver.until(lambda: all(row.words != "opening …" for row in bases_of(driver)))
        yield driver


def screen_of(driver: Driver) -> Together:
    assert driver.app.together is not None
    return driver.app.together


def bases_of(driver: Driver) -> tuple[TogetherBase, ...]:
    return screen_of(driver).model.bases


def rows_of(driver: Driver) -> list[tuple[str, str]]:
    """Return base and path of each result shown."""
    return [(row.base, row.result.path) for row in screen_of(driver).query_one(OwnedList).rows]


async def ask(driver: Driver, query: str) -> None:
    screen = screen_of(driver)
    screen.query_one(TogetherLine).value = query
    await driver.until(
        lambda: (answer := screen.answer) and answer.is_complete and answer.response.query == query
    )


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_results_of_all_bases_are_one_list_and_name_their_base(
    indexed: list[Path], size: Size
) -> None:
    async with together(indexed, size) as driver:
        await ask(driver, "rollback plan")
        assert rows_of(driver)[0] == ("home", "notes/rollback.md")
        assert ("work", "notes/deploy.md") in rows_of(driver)
        await driver.until_shown(OwnedList, "home Rollback plan", "work Deployment")
        await driver.until_shown(BaseList, "home 2 documents", "1 found", "work 2 documents")
        await driver.until_shown(ModeTabs, "F6 All bases")
        await driver.press("down", "question_mark")
        await driver.until_shown(HelpText, "1.00", "home the base that it is in", "comes first")
    assert AppState().user.bases == list(map(str, indexed))


async def test_a_result_is_read_in_its_base_and_f6_returns_to_the_list(indexed: list[Path]) -> None:
    async with together(indexed) as driver:
        await ask(driver, "rollback")
        await driver.press("down")
        results = screen_of(driver).query_one(OwnedList)
        row = rows_of(driver).index(("work", "notes/deploy.md"))
        await driver.press(*["down"] * row, "enter")
        await driver.until(lambda: driver.app.explore is not None)
        await driver.until_shown(PreviewPane, "takes an hour")
        await driver.until(lambda: driver.state.query == "rollback" and bool(driver.paths))
        current = driver.explore.query_one(ResultList).current
        assert current is not None and current.path == "notes/deploy.md"
        await driver.until_shown(ModeTabs, "F6 All bases (2)", "work")
        await driver.press("f6")
        await driver.until(lambda: driver.app.screen is screen_of(driver))
        assert driver.app.explore is None
        assert results.cursor == row


async def test_a_base_is_opened_alone_with_the_query_or_in_a_mode(indexed: list[Path]) -> None:
    async with together(indexed) as driver:
        await ask(driver, "tea")
        screen_of(driver).query_one(BaseList).focus()
        await driver.press("down", "f3")
        await driver.until(lambda: isinstance(driver.app.screen, Experts))
        await driver.press("f6")
        await driver.until(lambda: driver.app.screen is screen_of(driver))
        screen_of(driver).query_one(BaseList).focus()
        await driver.press("enter")
        await driver.until(lambda: driver.app.explore is not None)
        await driver.until(lambda: driver.state.query == "tea")
        await driver.until_shown(ModeTabs, "work")


async def test_a_base_that_fails_leaves_the_others_searchable(
    indexed: list[Path], tmp_path: Path
) -> None:
    refused = write_vault(tmp_path / "refused", {"notes/rollback.md": "# Rollback\n"})
    (refused / "kbx.toml").write_text('[index]\nuri = "../outside"\n', encoding="utf-8")
    async with together([*indexed, refused]) as driver:
        await ask(driver, "rollback")
        assert {base for base, _ in rows_of(driver)} == {"home", "work"}
        await driver.until_shown(BaseList, "refused", "enter opens it alone")


async def test_an_error_of_a_search_stands_beside_its_base(indexed: list[Path]) -> None:
    watched = Watched()
    async with together(indexed, watched=watched) as driver:
        watched.faults["search"] = EmbeddingError("the model is gone")
        screen_of(driver).query_one(TogetherLine).value = "rollback"
        await driver.until_shown(BaseList, "the model is gone")
        watched.faults.clear()
        await ask(driver, "rollback plan")
        await driver.until_shown(BaseList, "home 2 documents", "1 found")


async def test_a_base_that_answers_late_holds_up_no_other(indexed: list[Path]) -> None:
    slow = threading.Event()
    async with together(indexed) as driver:
        base = screen_of(driver).model.bases[1]
        base.client.start(base.client.run(lambda engine: slow.wait(PATIENCE)))
        screen_of(driver).query_one(TogetherLine).value = "rollback"
        await driver.until_shown(BaseList, "home 2 documents", "work 2 documents searching …")
        await driver.until(lambda: {base for base, _ in rows_of(driver)} == {"home"})
        screen_of(driver).query_one(TogetherLine).value = ""
        await driver.until(lambda: not screen_of(driver).model.query)
        assert [row.found for row in bases_of(driver)] == ["", ""]
        screen_of(driver).query_one(TogetherLine).value = "rollback"
        slow.set()
        await driver.until(lambda: {base for base, _ in rows_of(driver)} == {"home", "work"})


async def test_a_file_added_to_a_base_is_found(indexed: list[Path], tmp_path: Path) -> None:
    roots = [
        write_vault(tmp_path / "a", HOME),
        write_vault(tmp_path / "b", {"n.md": "# Nothing\n"}),
    ]
    async with together(roots) as driver:
        await driver.until(
            lambda: all(base.is_searchable for base in screen_of(driver).model.bases)
        )
        await ask(driver, "rollback")
        (roots[1] / "rollback.md").write_text("# Rollback of b\n", encoding="utf-8")
        await driver.press("escape", "R")
        await driver.until(lambda: ("b", "rollback.md") in rows_of(driver))
        assert not (roots[0] / "rollback.md").exists()


async def test_one_base_says_how_several_are_opened(indexed: list[Path]) -> None:
    async with starting(indexed[0], WIDE) as driver:
        await driver.press("f6")
        await driver.until_shown(StatusLine, "kbx --kb FOLDER --kb FOLDER")
        assert "F6" not in driver.text_of(ModeTabs)
