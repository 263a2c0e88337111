"""The app on a machine that has only the published index."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.tui.indexing.panes import FileList, RunPane
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.object_store.machines import Machine, writer_machine
from tests.functional.tui.driving import WIDE, running


async def test_app_searches_a_published_index_and_says_where_it_is_from(
    tmp_path: Path, store_uri: str, demo_kb_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer_machine(tmp_path / "writer", store_uri, demo_kb_path).publish()
    reader = Machine(tmp_path / "reader", store_uri)
    monkeypatch.setenv("KBX_CACHE_DIR", str(reader.cache))
    async with running(reader.root, WIDE) as driver:
        await driver.ask("migration")
        assert driver.view.matched
        await driver.press("f5")
        await driver.until_shown(RunPane, f"read from {store_uri}, version 1 of 20")
        await driver.until_shown(FileList, "Another machine indexes the files and publishes")
        await driver.press("R")
        await driver.until_shown(StatusLine, "`kbx index` makes this one index the files")
        await driver.press("W")
        await driver.until_shown(StatusLine, "no files are watched here")
        await driver.until_shown(RunPane, "read from")
    assert not (reader.root / ".kbx" / "index").exists()
