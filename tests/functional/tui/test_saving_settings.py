"""`S` writes the current settings to kbx.toml after the user has seen the change."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.tui.judging.judging_screen import SaveSettings, SettingsDiff
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, WIDE, Driver, running

BEFORE = "# mine\n[search]\nhierarchy_entity_threshold = 0.5  # as measured\n"


async def propose(driver: Driver) -> None:
    await driver.ask(QUESTION)
    await driver.press("down", "right_square_bracket")
    await driver.until(lambda: driver.alpha == 0.55)
    await driver.press("S")
    await driver.until(lambda: isinstance(driver.app.screen, SaveSettings))


async def test_change_is_shown_written_and_undone(demo_copy: Path) -> None:
    file = demo_copy / "kbx.toml"
    file.write_text(BEFORE, encoding="utf-8")
    async with running(demo_copy, NARROW) as driver:
        await propose(driver)
        await driver.until_shown(SettingsDiff, "+hierarchy_alpha = 0.55", "enter saves")
        assert file.read_text(encoding="utf-8") == BEFORE
        sync = driver.explore.session.index_sync
        run = sync.run
        await driver.press("enter")
        await driver.until_shown(StatusLine, "saved to kbx.toml; z undoes it")
        await driver.until(lambda: sync.run is not run and not sync.is_indexing)
        await driver.until_shown(StatusLine, "saved to kbx.toml")  # not "1 change on disk indexed"
        text = file.read_text(encoding="utf-8")
        assert text == BEFORE + "hierarchy_alpha = 0.55\n"
        assert driver.explore.session.judging.pinned == driver.explore.model.settings
        await driver.press("S")
        await driver.until_shown(StatusLine, "nothing to save")
        await driver.press("z")
        await driver.until_shown(StatusLine, "kbx.toml is as before again")
        assert file.read_text(encoding="utf-8") == BEFORE
        assert driver.alpha == 0.55
        await driver.press("z")
        await driver.until(lambda: driver.alpha == 0.5)


async def test_cancelled_save_writes_nothing(demo_copy: Path) -> None:
    file = demo_copy / "kbx.toml"
    before = file.read_bytes()
    async with running(demo_copy, WIDE) as driver:
        await propose(driver)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert file.read_bytes() == before


async def test_file_that_changed_after_the_diff_is_not_written(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await propose(driver)
        (demo_copy / "kbx.toml").write_text(BEFORE, encoding="utf-8")
        await driver.press("enter")
        await driver.until_shown(StatusLine, "kbx.toml has changed meanwhile")
        assert (demo_copy / "kbx.toml").read_text(encoding="utf-8") == BEFORE


async def test_fast_search_is_not_saved(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await driver.press("escape", "m", "m", "S")
        await driver.until_shown(StatusLine, "a fast search is no setting of kbx.toml")


async def test_broken_kbx_toml_is_one_line(demo_copy: Path) -> None:
    file = demo_copy / "kbx.toml"
    file.write_text(BEFORE, encoding="utf-8")
    async with running(demo_copy, WIDE) as driver:
        await driver.ask(QUESTION)
        file.write_text("[search\n", encoding="utf-8")
        await driver.press("down", "S")
        await driver.until_shown(StatusLine, "kbx.toml")
        assert driver.app.screen is driver.explore
