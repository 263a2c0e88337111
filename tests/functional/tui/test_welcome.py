"""The welcome screen, and switching between bases."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.demo import FOLDER_VARIABLE
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.shell.help_screen import Help
from kbx_tui.tui.shell.welcome_screen import FolderLine, Welcome
from kbx_tui.tui.widgets.rows_view import ChoiceList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import (
    NARROW,
    TINY,
    WIDE,
    Driver,
    Size,
    is_counted,
    running,
    starting,
)
from tests.functional.vaults import write_vault

WHY = "/home/ida is not a knowledge base: change to a folder of markdown"


def is_open(driver: Driver, root: Path) -> bool:
    opened = driver.app.explore
    return (
        opened is not None
        and opened.model.summary is not None
        and opened.model.summary.root == str(root)
    )


async def choose(driver: Driver, title: str) -> None:
    choices = driver.app.screen.query_one(ChoiceList)
    await driver.until(lambda: choices.has_focus)
    titles = [choice.title for choice in choices.rows]
    await driver.press(*["down"] * titles.index(title), "enter")


async def fill_in(driver: Driver, folder: Path) -> None:
    await driver.until_focused(FolderLine)
    driver.app.screen.query_one(FolderLine).value = str(folder)
    await driver.press("enter")


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_without_a_base_the_reason_and_three_choices_are_shown(size: Size) -> None:
    async with starting(None, size, why=WHY) as driver:
        await driver.until_shown(ChoiceList, "› Open the demo", "Choose a folder")
        assert "is not a knowledge base" in driver.words_of(ChoiceList)
        await driver.press("down", "down")
        await driver.until_shown(ChoiceList, "› Start a new one")


async def test_demo_is_installed_opened_and_indexed(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "demo"))
    async with starting(None, WIDE, why=WHY) as driver:
        await choose(driver, "Open the demo")
        await driver.until(lambda: driver.app.explore is not None)
        assert (tmp_path / "demo/memory/people/alice-chen.md").is_file()
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
        assert driver.has_focus(QueryLine)


async def test_folder_is_chosen_with_completion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_vault(tmp_path / "notes-of-mine")
    monkeypatch.chdir(tmp_path)
    async with starting(None, NARROW) as driver:
        await choose(driver, "Choose a folder")
        await driver.until_focused(FolderLine)
        await driver.write("./note")
        await driver.until_shown(FolderLine, "notes-of-mine/")
        await driver.press("tab")
        line = driver.app.screen.query_one(FolderLine)
        await driver.until(lambda: line.value == "./notes-of-mine/")
        assert line.has_focus
        await driver.press("enter")
        await driver.until(lambda: is_open(driver, root))
        await driver.ask("migration")
        await driver.until(lambda: "Migration go/no-go" in driver.titles)


async def test_missing_folder_gives_one_error_line_and_escape_returns(
    tmp_path: Path,
) -> None:
    async with starting(None, WIDE) as driver:
        await choose(driver, "Choose a folder")
        await fill_in(driver, tmp_path / "nowhere")
        await driver.until_shown(StatusLine, "✗", "nowhere")
        assert driver.app.explore is None
        await driver.press("escape")
        await driver.until_focused(ChoiceList)
        assert not driver.app.screen.query_one(FolderLine).display


async def test_folder_without_markdown_gives_one_error_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    async with starting(None, WIDE) as driver:
        await choose(driver, "Choose a folder")
        await fill_in(driver, tmp_path / "empty")
        await driver.until_shown(StatusLine, "no markdown in")
        assert not (tmp_path / "empty/.kbx").exists()


async def test_base_whose_index_would_lie_in_the_notes_gives_one_error_line(tmp_path: Path) -> None:
    root = write_vault(
        tmp_path / "base", {"kbx.toml": '[index]\nuri = "memory"\n', "memory/a.md": "# A"}
    )
    before = sorted(root.rglob("*"))
    async with starting(None, WIDE) as driver:
        await choose(driver, "Choose a folder")
        await fill_in(driver, root)
        await driver.until_shown(StatusLine, "✗", 'uri = "memory"', "is the folder of the notes")
    async with starting(root, WIDE) as driver:  # as from the list of recent bases
        await driver.until_shown(StatusLine, "✗", 'uri = "memory"', "is the folder of the notes")
    assert sorted(root.rglob("*")) == before


async def test_new_base_has_a_page_on_what_goes_where(tmp_path: Path) -> None:
    async with starting(None, WIDE) as driver:
        await choose(driver, "Start a new one")
        await fill_in(driver, tmp_path / "new")
        await driver.until(lambda: is_open(driver, tmp_path / "new"))
        assert (tmp_path / "new/memory/people").is_dir()
        await driver.ask("what goes where")
        await driver.until(lambda: driver.titles[:1] == ["What goes where"])


async def test_new_base_is_never_created_in_an_existing_one(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "mine")
    before = sorted(root.rglob("*"))
    async with starting(None, WIDE) as driver:
        await choose(driver, "Start a new one")
        await fill_in(driver, root)
        await driver.until_shown(StatusLine, "✗", f"{root} already holds", "instead")
    assert sorted(root.rglob("*")) == before


async def test_tour_has_six_steps_and_escape_returns() -> None:
    async with starting(None, NARROW, why=WHY) as driver:
        await driver.until_focused(ChoiceList)
        await driver.press("question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        await driver.until(lambda: "A tour in six steps" in driver.screen_text())
        words = driver.screen_text()
        assert all(f" {number}  " in words for number in range(1, 7))
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))


async def test_escape_stays_on_the_welcome_screen_and_q_quits() -> None:
    async with starting(None, NARROW) as driver:
        await driver.until_focused(ChoiceList)
        await driver.press("escape")  # there is no screen to return to
        assert driver.has_focus(ChoiceList)
        await driver.press("q")
        await driver.until(lambda: not driver.app.is_running)


async def test_recent_bases_come_first(tmp_path: Path) -> None:
    roots = [write_vault(tmp_path / name) for name in ("one", "two", "gone")]
    for root in roots:
        async with starting(root, NARROW) as driver:
            await driver.until(lambda root=root: is_open(driver, root))  # type: ignore[misc]
    roots[2].rename(tmp_path / "elsewhere")
    async with starting(None, WIDE) as driver:
        choices = driver.app.screen.query_one(ChoiceList)
        assert [choice.title for choice in choices.rows] == [
            "two",
            "one",
            "Choose a folder",
            "Open the demo",
            "Start a new one",
        ]
        await choose(driver, "one")
        await driver.until(lambda: is_open(driver, roots[0]))


async def test_recent_bases_can_be_forgotten_and_put_back(tmp_path: Path) -> None:
    roots = [write_vault(tmp_path / name) for name in ("one", "two")]
    state = AppState()
    state.user.bases = [str(root) for root in roots]
    state.save_user()
    async with starting(None, NARROW) as driver:
        choices = driver.app.screen.query_one(ChoiceList)
        await driver.until_focused(ChoiceList)
        await driver.press("delete")
        assert [choice.title for choice in choices.rows][:2] == ["two", "Choose a folder"]
        await driver.until_shown(StatusLine, "one is no longer listed; its files stay")
        assert AppState().user.bases == [str(roots[1])]
        await driver.press("down", "delete")
        await driver.until_shown(StatusLine, "only a recent knowledge base can be removed")
        await driver.press("z")
        assert [choice.title for choice in choices.rows][:2] == ["one", "two"]
        assert AppState().user.bases == [str(root) for root in roots]
    assert all(root.is_dir() for root in roots)


async def test_b_switches_to_another_base_and_closes_the_first(demo: Path, demo_copy: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.press("escape", "b")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))
        assert "Open another knowledge base" in driver.text_of(ChoiceList)
        closed = driver.watched.calls["close"]
        await choose(driver, "Choose a folder")
        await fill_in(driver, demo_copy)
        await driver.until(lambda: is_open(driver, demo_copy) and is_counted(driver))
        await driver.until(lambda: driver.watched.calls["close"] > closed)
        assert "Type to search" in driver.text_of(ResultList)
        assert driver.explore.query_one(QueryLine).value == ""
        await driver.ask("alice")
        assert driver.titles
        assert driver.app.app_state.user.bases[:2] == [str(demo_copy), str(demo)]


async def test_escape_returns_to_the_open_base(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.press("escape", "b")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert driver.titles[0] == "Rollback plan"
        await driver.ask("alice")


async def test_another_base_can_be_chosen_after_one_fails_to_open(
    demo: Path, tmp_path: Path
) -> None:
    root = write_vault(tmp_path / "broken")
    (root / "kbx.toml").write_text("[search\n", encoding="utf-8")
    async with starting(root, WIDE) as driver:
        await driver.until_shown(StatusLine, "kbx.toml is not valid TOML")
        await driver.press("escape", "b")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))
        await choose(driver, "Choose a folder")
        await fill_in(driver, demo)
        await driver.until(lambda: is_open(driver, demo))
