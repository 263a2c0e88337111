"""The app on the real engine and the demo: what a newcomer does first."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fractions import Fraction
from pathlib import Path

import pytest

import kbx_tui
from kbx_tui.api import KnowledgeBase
from kbx_tui.search.evidence import Evidence
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.widgets.entity_list import EntityList
from kbx_tui.tui.widgets.mode_badge import ModeBadge
from kbx_tui.tui.widgets.preview_pane import PreviewPane
from kbx_tui.tui.widgets.why_pane import WhyPane
from tests.functional.tui.driving import WIDE, Driver

QUESTION = "what did alice decide about the migration?"
DEMO = Path(kbx_tui.__file__).parent / "demo"


class Counting(KnowledgeBase):
    """The real thing, counting."""

    retrieved = 0

    def retrieve(self, *args: object, **options: object) -> Evidence:
        type(self).retrieved += 1
        return super().retrieve(*args, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo") / "larkwater"
    shutil.copytree(DEMO, root)
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


@asynccontextmanager
async def running_on(root: Path, size: tuple[int, int] = WIDE) -> AsyncIterator[Driver]:
    Counting.retrieved = 0
    app = KbxApp(lambda: Counting(root), debounce=0.0)
    async with app.run_test(size=size) as pilot:
        driver = Driver(app, pilot)
        await driver.until(
            lambda: driver.explore.summary is not None and driver.explore.summary.documents, 30
        )
        yield driver


async def test_a_question_about_a_person_and_a_project_opens_the_second_pass(demo: Path) -> None:
    async with running_on(demo) as driver:
        await driver.ask(QUESTION)
        await driver.until(lambda: "two-pass · Alice Chen + Migration" in driver.text_of(ModeBadge))
        assert "● Alice Chen" in driver.text_of(EntityList)
        assert driver.titles[0] == "Migration go/no-go"


async def test_why_adds_up_for_the_first_results_at_every_alpha(demo: Path) -> None:
    async with running_on(demo) as driver:
        await driver.ask(QUESTION)
        await driver.press("down")
        why = driver.explore.query_one(WhyPane)
        for _ in range(4):
            for result in driver.results.results[:6]:
                driver.results.choose(result.rank - 1)
                await driver.until(lambda at=result.row: why.why is not None and why.why.row == at)  # type: ignore[misc]
                text = driver.text_of(WhyPane)
                found = re.search(
                    r"(\S+) = (\S+) × (\S+) document[│ \n]+\+ (\S+) × (\S+) entity", text
                )
                assert found is not None, text
                score, alpha, document, rest, entity = map(Fraction, found.groups())
                assert alpha + rest == 1
                assert abs(alpha * document + rest * entity - score) <= Fraction(1, 200)
            await driver.press("left_square_bracket", "left_square_bracket")
        assert Counting.retrieved == 1


async def test_reading_shows_the_file_at_its_best_line(demo: Path) -> None:
    async with running_on(demo) as driver:
        await driver.ask("rollback plan")
        assert driver.titles[0] == "Rollback plan"
        await driver.press("down", "enter")
        await driver.until(lambda: "▌" in driver.text_of(PreviewPane))
        preview = driver.explore.query_one(PreviewPane).preview
        assert preview is not None
        file = demo / preview.path
        assert list(preview.lines) == file.read_text(encoding="utf-8").split("\n")


async def test_a_topic_without_a_name_is_a_flat_search(demo: Path) -> None:
    async with running_on(demo) as driver:
        await driver.ask("how long may rehearsal copies be kept")
        await driver.until(lambda: "flat · " in driver.text_of(ModeBadge))
        assert driver.titles


async def test_a_changed_file_is_found_without_being_asked(demo: Path) -> None:
    note = demo / "memory" / "notes" / "2026-05-01-quokka.md"
    note.write_text("# Quokka visit\n\nThe quokkas arrive on Tuesday.\n", encoding="utf-8")
    try:
        async with running_on(demo) as driver:
            await driver.ask("quokka visit")
            await driver.until(lambda: driver.titles[:1] == ["Quokka visit"], 30)
    finally:
        note.unlink()
