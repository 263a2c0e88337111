"""The owner sees what is redacted greyed, in every pane, and never loses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from kbx_tui import KnowledgeBase
from kbx_tui.tui.dedup.panes import KnownList
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.experts.screen import ExpertList, TopicLine
from kbx_tui.tui.explore.entity_card import EntityCard
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from tests.functional.tui.driving import WIDE, Driver, running
from tests.functional.tui.reviewing_drafts import reviewing

VERA = "memory/people/vera-sand.md"
PAGE = """---
role: Keeper of the harbour tower # redacted
---
# Vera Sand

Vera keeps the lighthouse ledger.

## Facts
- [2026-01-01] Lighthouse keeper since the spring
- [2026-01-02] The key lies behind [[Ada]]'s clock #redacted

## Open Items
- [ ] Paint the tower door (redacted)
"""
CELLAR = "---\nstatus: redacted\n---\n# Cellar\n\nBarrels of the lighthouse cellar.\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("greyed")
    for name, text in ((VERA, PAGE), ("memory/notes/cellar.md", CELLAR)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


def looks_of(line: Line) -> set[str]:
    """Return the looks of the words of a line."""
    return {span.look for span in line if any(map(str.isalpha, span.text))}


def line_with(lines: list[Line], text: str) -> Line:
    (line,) = (line for line in lines if text in "".join(span.text for span in line))
    return line


def drawn(pane: PreviewPane | EntityCard | KnownList | ExpertList) -> list[Line]:
    return [pane.line_at(y, 100) for y in range(pane.count_lines())]


async def open_first(driver: Driver, query: str) -> PreviewPane:
    await driver.ask(query)
    await driver.press("down", "enter")
    await driver.until_focused(PreviewPane)
    return driver.explore.query_one(PreviewPane)


async def test_preview_greys_redacted_lines_and_hides_none(base: Path) -> None:
    async with running(base, WIDE) as driver:
        pane = await open_first(driver, "vera sand")
        await driver.press("U")  # the aliases stand in the frontmatter
        await driver.until(lambda: "harbour tower" in str(drawn(pane)))
        lines = drawn(pane)
        assert pane.laid_out.preview.lines == tuple(PAGE.replace("[[Ada]]", "Ada").split("\n"))
        for text in ("harbour tower", "The key lies behind Ada's clock", "Paint the tower door"):
            assert looks_of(line_with(lines, text)) <= {"dim", "match"}
        assert "text" in looks_of(line_with(lines, "Lighthouse keeper"))


async def test_snippets_of_redacted_lines_and_pages_are_greyed(base: Path) -> None:
    async with running(base, WIDE) as driver:
        results = driver.results
        await driver.ask("barrels in the cellar")
        await driver.until_shown(ResultList, "Barrels of the lighthouse cellar.")
        row = next(row for row, result in enumerate(results.rows) if result.title == "Cellar")
        assert looks_of(results.row_line(row, 1, 100)) == {"rule"}
        await driver.ask("lighthouse ledger")
        await driver.until_shown(ResultList, "Vera keeps the lighthouse ledger")
        row = next(row for row, result in enumerate(results.rows) if result.path == VERA)
        line = results.row_line(row, 1, 300)
        assert looks_of(line) == {"dim", "strong", "rule"}
        greyed = "".join(span.text for span in line if span.look == "rule").split()
        said = " ".join(greyed)
        assert "The key lies behind Ada's clock" in said
        assert "spring" not in said


async def test_card_greys_redacted_fields_facts_and_items(base: Path) -> None:
    async with running(base, WIDE) as driver:
        driver.explore.reader.open_card("person:vera-sand")
        await driver.until_focused(EntityCard)
        card = driver.explore.query_one(EntityCard)
        await driver.until(lambda: drawn(card))
        lines = drawn(card)
        for text in ("Keeper of the harbour tower", "The key lies behind", "Paint the tower door"):
            assert "text" not in looks_of(line_with(lines, text))
        assert "text" in looks_of(line_with(lines, "Lighthouse keeper"))


async def test_known_list_greys_a_redacted_field(base: Path) -> None:
    async with reviewing(base) as review:
        await review.press("slash")
        review.driver.app.post_message(events.Paste("Vera Sand: keeper of the harbour tower"))
        await review.until(lambda: "Keeper of the harbour tower" in review.known)
        lines = drawn(review.screen.query_one(KnownList))
        known = next(line for line in lines if "Keeper of the harbour" in line[-2].text)
        assert known[-2].look == "dim"
        assert line_with(lines, "   redacted   Vera Sand")


async def test_experts_grey_a_redacted_claim_and_show_its_text(base: Path) -> None:
    async with running(base, WIDE) as driver:
        await driver.press("f3")
        await driver.until_focused(TopicLine)
        driver.app.screen.query_one(TopicLine).value = "keeper key clock"
        experts = driver.app.screen.query_one(ExpertList)
        await driver.until(lambda: experts.rows)
        await driver.press("down", "enter")
        await driver.until(lambda: len(experts.rows) > 1)
        claim = line_with(drawn(experts), "The key lies behind")
        assert looks_of(claim) <= {"rule", "dim"}
