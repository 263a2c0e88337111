"""Files that change while the app is open, by other programs and in the editor."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kbx_tui.errors import KbxError
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.experts.screen import ExpertList, TopicLine
from kbx_tui.tui.explore.entities import EntityCard, EntityList
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.frame_screen import ModeTabs
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, WIDE, Driver, running
from tests.functional.tui.watched import Watched

NOTE = "memory/notes/2026-05-01-quokka.md"
ROLLBACK = "memory/notes/2026-01-30-rollback-plan.md"


async def watching(driver: Driver) -> None:
    await driver.until(lambda: driver.watched.calls["watch"])


def text_read(driver: Driver) -> str:
    preview = driver.explore.query_one(PreviewPane).preview
    return "" if preview is None else "\n".join(preview.lines)


def add_line(file: Path, line: str) -> None:
    with file.open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")


async def test_file_written_while_the_app_was_closed_is_found(demo_copy: Path) -> None:
    (demo_copy / NOTE).write_text("# Quokka visit\n\nThey arrive on Tuesday.\n", encoding="utf-8")
    async with running(demo_copy, WIDE, asked="quokka visit") as driver:
        await driver.until(lambda: driver.titles[:1] == ["Quokka visit"])


async def test_result_and_preview_update_when_the_file_changes(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await watching(driver)
        await driver.ask("rollback plan quokka")
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        add_line(demo_copy / ROLLBACK, "The rollback plan lists every quokka.")
        await driver.until_shown(StatusLine, "1 change on disk indexed")
        await driver.until(lambda: "every quokka" in text_read(driver))
        await driver.until_shown(ResultList, "The rollback plan lists every quokka.")
        assert driver.has_focus(PreviewPane)
        assert driver.watched.calls["retrieve"] >= 2


async def test_no_index_run_exempts_what_is_drawn_from_collection(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked="rollback plan quokka") as driver:
        await watching(driver)
        exempt = gc.get_freeze_count()
        for number in range(2):
            add_line(demo_copy / ROLLBACK, f"The rollback plan has quokka {number}.")
            await driver.until_shown(ResultList, f"plan has quokka {number}.")
        assert gc.get_freeze_count() <= exempt


async def test_new_file_joins_the_results_and_a_new_person_becomes_an_entity(
    demo_copy: Path,
) -> None:
    async with running(demo_copy, WIDE) as driver:
        await watching(driver)
        await driver.ask("rehearsal")
        await driver.press("down", "down", "down")
        before = driver.results.current
        assert before is not None
        (demo_copy / NOTE).write_text("# Rehearsal rehearsal\n\nRehearsal.\n", encoding="utf-8")
        await driver.until(lambda: NOTE in driver.paths)
        assert driver.results.current is not None
        assert driver.results.current.path == before.path  # the cursor stays
        await driver.until_shown(ModeTabs, "64 documents")
        await driver.ask("zora")
        person = demo_copy / "memory/people/zora-quill.md"
        person.write_text("# Zora Quill\n\n## Recent Facts\n- Keeps quokkas\n", encoding="utf-8")
        await driver.until_shown(EntityList, "● Zora Quill person 1.00")


async def test_open_card_shows_the_new_facts_of_an_edited_page(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await watching(driver)
        await driver.ask("Alice Chen")
        await driver.press("escape", "e", "enter")
        await driver.until_focused(EntityCard)
        card = driver.explore.query_one(EntityCard)
        page = demo_copy / "memory" / "people" / "alice-chen.md"
        text = page.read_text(encoding="utf-8")
        fact = "- [2026-05-01] Keeps a quokka\n"
        page.write_text(text.replace("## Recent Facts\n", f"## Recent Facts\n\n{fact}"), "utf-8")
        await driver.until(
            lambda: (
                card.card is not None
                and any(each.text == "Keeps a quokka" for each in card.card.facts)
            )
        )
        assert driver.has_focus(EntityCard)


async def test_file_deleted_while_read_shows_a_message_and_leaves_the_results(
    demo_copy: Path,
) -> None:
    async with running(demo_copy, NARROW) as driver:
        await watching(driver)
        await driver.ask("rollback plan")
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        (demo_copy / ROLLBACK).unlink()
        await driver.until_shown(PreviewPane, "Gone", "can no longer be read")
        assert driver.has_focus(PreviewPane)
        await driver.press("escape")
        await driver.until_focused(ResultList)
        await driver.until(lambda: ROLLBACK not in driver.paths)
        assert driver.titles


async def test_file_change_while_typing_keeps_query_and_focus(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await watching(driver)
        await driver.ask("rollback plan")
        await driver.press("down", "p")
        await driver.until_shown(PreviewPane, "Rollback plan")
        await driver.press("slash")
        add_line(demo_copy / ROLLBACK, "The rollback plan lists every quokka.")
        await driver.until_shown(StatusLine, "1 change on disk indexed")
        assert driver.has_focus(QueryLine)


async def test_broken_link_does_not_move_the_focus_later(demo_copy: Path) -> None:
    add_line(demo_copy / ROLLBACK, "See [[nowhere at all]].")
    async with running(demo_copy, WIDE) as driver:
        await watching(driver)
        await driver.ask("rollback plan")
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("home", "left", "enter")
        await driver.until_shown(StatusLine, "nowhere at all leads to no page")
        await driver.press("slash")
        add_line(demo_copy / ROLLBACK, "One line more.")
        await driver.until(lambda: "One line more." in text_read(driver))
        assert driver.has_focus(QueryLine)


async def test_failing_watcher_shows_the_key_that_indexes(demo_copy: Path) -> None:
    watched = Watched(faults={"watch": KbxError("no watches left")})
    async with running(demo_copy, WIDE, watched=watched) as driver:
        await driver.until_shown(StatusLine, "changes on disk are not noticed (no watches left); R")
        (demo_copy / NOTE).write_text("# Quokka visit\n", encoding="utf-8")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.press("R")
        await driver.until_shown(ModeTabs, "64 documents")


async def test_refresh_key_indexes_changes_without_a_watcher(demo_copy: Path) -> None:
    (demo_copy / "kbx.toml").write_text("[app]\nwatch = false\n", encoding="utf-8")
    async with running(demo_copy, WIDE, asked="rollback plan quokka") as driver:
        await driver.press("down", "p")
        await driver.until_shown(PreviewPane, "Rollback plan")
        add_line(demo_copy / ROLLBACK, "The rollback plan lists every quokka.")
        await driver.ask("the rollback plan quokka")
        await driver.until_shown(ResultList, "Rollback plan ! changed")
        await driver.press("question_mark")
        await driver.until_shown(HelpText, "! changed its file has changed since it was indexed")
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.press("R")
        await driver.until_shown(ResultList, "The rollback plan lists every quokka.")
        await driver.until(lambda: "every quokka" in text_read(driver))
        await driver.until(lambda: "! changed" not in driver.words_of(ResultList))


SCRIPT = """#!/bin/sh
printf '%s\\n' "$@" "NO_COLOR=$NO_COLOR" > "{log}"
for last; do :; done
printf '\\nThe rollback plan lists every quokka.\\n' >> "$last"
"""


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script as an editor that takes `+12`; returns the file it writes its arguments to."""

    @contextmanager
    def suspend(app: KbxApp) -> Iterator[None]:  # there is no terminal to suspend
        app.add_class("-suspended")
        yield  # like Textual's, it does not resume after an error
        app.remove_class("-suspended")

    script, log = tmp_path / "vi", tmp_path / "log"
    script.write_text(SCRIPT.format(log=log), encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(KbxApp, "suspend", suspend)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(script))
    return log


async def test_o_opens_a_result_at_its_line_and_the_edit_is_indexed(
    demo_copy: Path, editor: Path
) -> None:
    async with running(demo_copy, WIDE, asked="rollback plan") as driver:
        await driver.until_shown(ResultList, "A rollback after reverse replication")
        await driver.press("down", "o")
        await driver.until(editor.exists)
        assert editor.read_text().split() == ["+47", str(demo_copy / ROLLBACK), "NO_COLOR="]
        await driver.until(lambda: driver.watched.calls["index"])
        await driver.ask("quokka")
        await driver.until(lambda: driver.titles[:1] == ["Rollback plan"])


@pytest.mark.parametrize("watch", ["true", "false"])
async def test_o_in_a_document_opens_the_current_line_and_shows_the_edit(
    demo_copy: Path, editor: Path, watch: str
) -> None:
    (demo_copy / "kbx.toml").write_text(f"[app]\nwatch = {watch}\n", encoding="utf-8")
    async with running(demo_copy, NARROW, asked="rollback plan") as driver:
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("home", "n")
        line = driver.explore.query_one(PreviewPane).current_line
        await driver.press("o")
        await driver.until(editor.exists)
        assert editor.read_text().split()[0] == f"+{line}"
        pane = driver.explore.query_one(PreviewPane)
        await driver.until(lambda: pane.preview and "every quokka" in "".join(pane.preview.lines))


async def test_o_on_an_expert_opens_its_page(demo: Path, editor: Path) -> None:
    async with running(demo, NARROW) as driver:
        await driver.press("f3")
        await driver.until_focused(TopicLine)
        await driver.write("migration")
        await driver.until_shown(ExpertList, "Bob Okafor", "11 facts")
        await driver.press("down", "o")
        await driver.until(editor.exists)
        assert str(demo / "memory/people/bob-okafor.md") in editor.read_text().split()


async def test_without_a_document_or_an_editor_o_says_so(
    demo: Path, editor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "o")
        await driver.until_shown(StatusLine, "no document is chosen")
        await driver.ask("rollback plan")
        await driver.press("down")
        monkeypatch.setenv("EDITOR", "")
        with monkeypatch.context() as without:
            without.setenv("PATH", "")  # none is installed
            await driver.press("o")
            await driver.until_shown(StatusLine, "no editor is set", "name it in EDITOR")
        for program, *words in (
            ("/nowhere/vi", "/nowhere/vi cannot be started: No such file", "export EDITOR="),
        ):
            monkeypatch.setenv("EDITOR", program)
            await driver.press("o")
            await driver.until_shown(StatusLine, *words)
        assert not driver.app.has_class("-suspended"), "the terminal stays blank"
        assert not editor.exists()


async def test_terminal_without_suspend_support_gives_one_error_line(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    async with running(demo, WIDE) as driver:  # headless: suspending is not supported
        await driver.ask("rollback plan")
        await driver.press("down", "o")
        await driver.until_shown(StatusLine, "an editor cannot be opened in this terminal")


async def test_an_error_stays_while_the_same_query_is_answered_again(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked="ferry migration") as driver:
        driver.status.show_error("No space left on device")
        driver.explore.model.search_again()
        await driver.until(lambda: not driver.explore.model.is_searching)
        assert driver.status.error == "No space left on device"
        await driver.ask("boarding outage")
        assert not driver.status.error
