"""The app proposes entities once for a folder of notes without any."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.api import KnowledgeBase, session
from kbx_tui.tui.app_state import entities_asked, note_entities_asked
from kbx_tui.tui.explore.entity_list import EntityList
from kbx_tui.tui.shell.questions import EntitiesQuestion
from kbx_tui.tui.widgets.rows_view import ChoiceList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import TINY, WIDE, Driver, is_counted, starting
from tests.functional.vaults import write_vault

NOTES = {
    f"Note {number}.md": f"---\ntags: [garden]\n---\nSee [[Compost]]. Bed {number}.\n"
    for number in range(6)
} | {"Compost.md": "Made of leaves.\n"}
SENTENCE = "7 notes, 1 tag, 1 hub"


async def until_asked(driver: Driver) -> None:
    await driver.until(lambda: isinstance(driver.app.screen, EntitiesQuestion))
    await driver.until_shown(ChoiceList, f"{SENTENCE}: use them as entities? [y/n]")
    await driver.until_shown(ChoiceList, "tags: #garden 6", "hubs: Compost 6")


def entities(driver: Driver) -> int | None:
    summary = driver.explore.model.summary
    return None if summary is None else summary.entities


async def test_topics_are_proposed_once_and_used_after_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "REFRESH_SECONDS", 0.0)  # each query looks at the index
    root = write_vault(tmp_path / "notes", NOTES)
    async with starting(root, WIDE) as driver:
        await until_asked(driver)
        await driver.press("n")
        await driver.until(lambda: driver.app.screen is driver.app.explore)
    assert not (root / "kbx.toml").exists()
    assert entities_asked(root)  # so `kbx index` does not ask either
    async with starting(root, WIDE) as driver:
        await driver.until(lambda: is_counted(driver))
        await driver.ask("compost")
        assert driver.app.screen is driver.app.explore
    (root / ".kbx" / "app.json").unlink()
    async with starting(root, WIDE) as driver:
        await until_asked(driver)
        await driver.press("y")
        await driver.until_shown(StatusLine, f"{SENTENCE}: written to kbx.toml")
        assert "hubs = 5" in (root / "kbx.toml").read_text(encoding="utf-8")
        await driver.until(lambda: entities(driver) == 2)
        await driver.ask("compost")
        await driver.until_shown(EntityList, "Compost hub")
        await driver.press("escape", "z", "z")
        await driver.until(lambda: entities(driver) == 0)
        assert not isinstance(driver.app.screen, EntitiesQuestion)


async def test_an_answer_given_on_the_command_line_holds_in_the_app(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "notes", NOTES)
    with KnowledgeBase(root) as base:
        base.index(fast=True)
    note_entities_asked(root)
    async with starting(root, WIDE) as driver:
        await driver.until(lambda: is_counted(driver))
        await driver.ask("compost")
        assert driver.app.screen is driver.app.explore


async def test_an_answer_given_on_the_command_line_meanwhile_is_kept(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "notes", NOTES)
    async with starting(root, TINY) as driver:
        await until_asked(driver)
        for shown in ("› Not now", "Use them as entities", "written to kbx.toml"):
            assert shown in driver.text_of(ChoiceList)  # with both answers, however small
        note_entities_asked(root)
        driver.app.app_state.save_base()
        assert entities_asked(root)
        assert driver.app.app_state.entities_asked


async def test_entities_edited_by_hand_are_applied_when_the_base_is_opened(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "notes", NOTES)
    with KnowledgeBase(root) as base:
        base.index()
    (root / "kbx.toml").write_text("[entities]\nhubs = 5\n", encoding="utf-8")
    async with starting(root, WIDE) as driver:
        await driver.until(lambda: entities(driver) == 1)
        (root / "kbx.toml").write_text("[entities]\nhubs = 5\ntags = 3\n", encoding="utf-8")
        await driver.until(lambda: entities(driver) == 2)  # watched while it is open
        engine = driver.explore.model.engine
        assert engine is not None
        await driver.until(lambda: engine.settings.entities.tags == 3)  # as the index has them
