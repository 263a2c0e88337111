"""Copying a path, a citation, a snippet, a command line; and writing results to a page."""

import os
import shlex
from pathlib import Path

import pytest

from kbx_tui.tui.explore.entities import EntityCard
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.footer import StatusLine
from tests.command_line import CommandLine
from tests.functional.tui.driving import NARROW, QUESTION, WIDE, running
from tests.parsed_page import ParsedPage

GO_NO_GO = "memory/meetings/2026/03/17/migration-go-no-go.transcript.md"
ROLLBACK = "memory/notes/2026-01-30-rollback-plan.md"


async def test_path_citation_and_snippet_of_a_result_are_copied(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.until_shown(ResultList, "Go for the Migration: cut-over")
        await driver.press("down", "y", "y")
        assert driver.app.clipboard == f"{GO_NO_GO}:54"
        await driver.until_shown(StatusLine, "copied path to the terminal's clipboard: memory/")
        await driver.press("y", "c")
        assert driver.app.clipboard == f"[Migration go/no-go (2026-03-17), line 54]({GO_NO_GO})"
        await driver.press("y", "p")
        await driver.until(lambda: driver.app.clipboard.startswith("- Go for the [[Migration]]:"))
        text = (demo / GO_NO_GO).read_text(encoding="utf-8")
        assert f"\n{driver.app.clipboard}\n" in text  # whole lines, whatever the list shows
        assert not driver.app.clipboard.endswith("Last")


async def test_path_copied_in_a_document_has_the_current_line(demo: Path) -> None:
    async with running(demo, NARROW, asked="rollback plan") as driver:
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("home", "y", "y")
        await driver.until(lambda: driver.app.clipboard)
        assert driver.app.clipboard == f"{ROLLBACK}:1"
        await driver.press("n", "n", "n", "y", "y")
        line = int(driver.app.clipboard.rpartition(":")[2])
        text = (demo / ROLLBACK).read_text(encoding="utf-8").split("\n")[line - 1]
        assert "rollback" in text.lower() or "plan" in text.lower()
        await driver.press("Y")
        assert driver.app.clipboard == f"[Rollback plan (2026-01-30), line {line}]({ROLLBACK})"


async def test_the_document_under_the_cursor_of_a_card_is_copied(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "e", "y", "y")
        assert driver.app.clipboard == "memory/people/alice-chen.md"
        await driver.press("enter")
        await driver.until_focused(EntityCard)
        await driver.press("G", "y", "y")
        card = driver.explore.query_one(EntityCard).card
        assert card is not None
        assert driver.app.clipboard == card.documents[-1].path


async def test_copying_without_a_result_shows_a_notice(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        for key in ("y", "c", "p", "l"):
            await driver.press("escape", "y", key)
            await driver.until_shown(StatusLine, "nothing to copy")
        assert driver.app.clipboard == ""


@pytest.mark.parametrize(
    ("query", "path", "keys"),
    [
        (QUESTION, "", []),
        (QUESTION, "memory/meetings/**/*.notes.md", ["right_square_bracket"] * 3),
        (QUESTION, "", ["left_curly_bracket"] * 7),
        (QUESTION, "", ["e", "minus", "j", "j", "j", "plus", "s"]),
        ("rollback plan", "memory/notes/", ["m"]),
        ("it's $HOME 'n' \"rollback\"", "", ["m", "m"]),
        ("--fast rollback", "", []),
    ],
    ids=[
        "as-it-is",
        "glob-and-alpha",
        "threshold",
        "mutes-pins-and-dates",
        "flat-in-a-folder",
        "fast-quoted",
        "dashes",
    ],
)
async def test_the_copied_command_gives_the_same_paths_in_the_same_order(
    demo: Path, capsys: pytest.CaptureFixture[str], query: str, path: str, keys: list[str]
) -> None:
    async with running(demo, WIDE, asked=query) as driver:
        if path:
            await driver.narrow(path)
        await driver.press("escape", *keys)
        await driver.until(lambda: driver.explore.model.displayed.answers(driver.state))
        await driver.press("C")
        copied, shown = driver.app.clipboard, driver.paths
        assert len(shown) > 1
    program, command, *arguments = shlex.split(copied)
    assert (program, command) == ("kbx", "search")
    ran = CommandLine(capsys)("search", "--json", "--limit", "200", *arguments)
    assert ran.code == 0
    assert [result["path"] for result in ran.json["results"]] == shown


async def test_a_copied_text_goes_to_a_program_that_takes_it(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clipboard, program = tmp_path / "clipboard", tmp_path / "xclip"
    program.write_text(f'#!/bin/sh\ncat > "{clipboard}"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setenv("TERM", "screen")
    async with running(demo, WIDE, asked="rollback plan") as driver:
        await driver.press("down", "y", "y")
        await driver.until_shown(StatusLine, "copied path to the clipboard (xclip): memory/notes")
        assert clipboard.read_text(encoding="utf-8").startswith(ROLLBACK)
        program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        await driver.press("Y")
        await driver.until_shown(StatusLine, "not copied: this terminal has no clipboard")
        await driver.until_shown(StatusLine, "the citation is: [Rollback plan")


NAME = "kbx-results-what-did-alice-chen-decide-about-the"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_results_are_shared_with_their_settings_and_never_written_over(
    demo: Path, folder: Path
) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "greater_than_sign")
        await driver.until_shown(StatusLine, "there are no results to share: type a query first")
        await driver.ask(QUESTION)
        await driver.press("escape", "right_square_bracket")
        await driver.until(lambda: driver.state.alpha == 0.55)
        await driver.press("greater_than_sign")
        await driver.until_shown(StatusLine, f"wrote 20 results to {NAME}.html, in the folder")
        await driver.press("greater_than_sign")
        await driver.until_shown(StatusLine, f"wrote 20 results to {NAME}-2.html")
        shown = driver.paths
    text = ParsedPage((folder / f"{NAME}.html").read_text("utf-8")).text
    assert "alpha.55: document 55 %" in text
    assert f"kbx search --hierarchy-alpha 0.55 --limit 20 '{QUESTION}'" in text
    places = [text.index(f"{path}:") for path in shown[:20]]
    assert places == sorted(places)


async def test_a_folder_that_cannot_be_written_is_named(demo: Path, folder: Path) -> None:
    gone = folder / "gone"
    gone.mkdir()
    async with running(demo, WIDE, asked="rollback plan") as driver:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(gone)
            gone.rmdir()
            await driver.press("escape", "greater_than_sign")
            await driver.until_shown(StatusLine, "the folder that the app was started in is gone")
