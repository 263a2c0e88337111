"""Opening a document in the editor, and indexing the edit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, WIDE, running

ROLLBACK = "memory/notes/2026-01-30-rollback-plan.md"

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
        yield

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
    async with running(demo_copy, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.until_shown(ResultList, "A rollback after reverse replication")
        await driver.press("down", "o")
        await driver.until(editor.exists)
        assert editor.read_text().split() == ["+47", str(demo_copy / ROLLBACK), "NO_COLOR="]
        await driver.until(lambda: driver.watched.calls["index"])
        await driver.ask("quokka")
        await driver.until(lambda: driver.titles[:1] == ["Rollback plan"])


async def test_o_in_a_document_opens_the_current_line_and_shows_the_edit(
    demo_copy: Path, editor: Path
) -> None:
    async with running(demo_copy, NARROW) as driver:
        await driver.ask("rollback plan")
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("g", "n")
        line = driver.explore.query_one(PreviewPane).current_line
        await driver.press("o")
        await driver.until(editor.exists)
        assert editor.read_text().split()[0] == f"+{line}"
        pane = driver.explore.query_one(PreviewPane)
        await driver.until(lambda: pane.preview and "every quokka" in "".join(pane.preview.lines))


async def test_edit_is_shown_without_a_file_watcher(demo_copy: Path, editor: Path) -> None:
    (demo_copy / "kbx.toml").write_text("[app]\nwatch = false\n", encoding="utf-8")
    async with running(demo_copy, NARROW) as driver:
        await driver.ask("rollback plan")
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("o")
        await driver.until(editor.exists)
        pane = driver.explore.query_one(PreviewPane)
        await driver.until(lambda: pane.preview and "every quokka" in "".join(pane.preview.lines))


async def test_missing_editor_variable_shows_what_to_set(
    demo: Path, editor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EDITOR")
    async with running(demo, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.press("down", "o")
        await driver.until_shown(StatusLine, "no editor is set", "export EDITOR=")
        assert not editor.exists()


async def test_missing_editor_program_gives_one_error_line(
    demo: Path, editor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "/nowhere/vi")
    async with running(demo, WIDE) as driver:
        await driver.ask("rollback plan")
        await driver.press("down", "o")
        await driver.until_shown(StatusLine, "/nowhere/vi cannot be started: No such file")


async def test_terminal_without_suspend_support_gives_one_error_line(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    async with running(demo, WIDE) as driver:  # headless: suspending is not supported
        await driver.ask("rollback plan")
        await driver.press("down", "o")
        await driver.until_shown(StatusLine, "an editor cannot be opened in this terminal")


async def test_o_without_a_document_shows_a_notice(demo: Path, editor: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "o")
        await driver.until_shown(StatusLine, "no document is chosen")
