"""`>` writes the results to a page in the folder that the app was started in."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import QUESTION, WIDE, running
from tests.parsed_page import ParsedPage

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
    async with running(demo, WIDE) as driver:
        await driver.ask("rollback plan")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(gone)
            gone.rmdir()
            await driver.press("escape", "greater_than_sign")
            await driver.until_shown(StatusLine, "the folder that the app was started in is gone")
