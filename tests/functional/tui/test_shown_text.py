"""Text of files has no effect on the screen, and what is redacted is greyed for the owner."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.command import CommandInput

from kbx_tui import KnowledgeBase
from kbx_tui.errors import IndexFault
from kbx_tui.tui.dedup.panes import KnownList
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.experts.screen import ExpertList, TopicLine
from kbx_tui.tui.explore.entities import EntityCard, EntityList
from kbx_tui.tui.explore.facets import FacetList
from kbx_tui.tui.explore.inputs import ModeBadge, PathChoices, PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import ChoiceList
from tests.functional.tui.driving import (
    NARROW,
    TINY,
    WIDE,
    Driver,
    Size,
    rendered_strips,
    running,
    starting,
)
from tests.functional.tui.reviewing_drafts import reviewing
from tests.functional.tui.watched import Watched
from tests.hostile_base import ACTS, MARKUP, SHOWN_NAME, controls_in, write_hostile_base

SIZES = pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])

FEW_SIZES = pytest.mark.parametrize("size", [WIDE, TINY], ids=["wide", "tiny"])


@asynccontextmanager
async def running_hostile(
    root: Path, size: Size, watched: Watched | None = None
) -> AsyncIterator[Driver]:
    async with running(root, size, watched=watched) as driver:
        yield driver
        await assert_harmless(driver)


async def assert_harmless(driver: Driver) -> str:
    """Assert that no cell of the screen has an effect, and return its text."""
    await driver.pilot.pause()
    text, (width, height) = driver.screen_text(), driver.app.size
    assert not controls_in(text), (controls_in(text), text)
    lines = text.split("\n")
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    for strip in rendered_strips(driver.app):
        for segment in strip:
            assert segment.control is None
            assert segment.style is None or segment.style.link is None
            assert segment.style is None or "@click" not in segment.style.meta
    return text


@SIZES
async def test_hostile_titles_names_and_cards_have_no_effect(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        assert "[red]kb[-] evil" in await assert_harmless(driver) or size != WIDE
        driver.app.app_state.note_judged()  # the badge names entities
        await driver.ask("mallory quokka")
        await driver.until(lambda: driver.explore.model.displayed.snippets)
        await assert_harmless(driver)
        assert MARKUP in driver.text_of(ResultList)
        if size == WIDE:
            await driver.until_shown(EntityList, f"● Mallory {MARKUP}")
            await driver.until_shown(ModeBadge, f"two-pass · {SHOWN_NAME}")
        await driver.press("down")
        for _ in driver.titles:
            await assert_harmless(driver)
            await driver.press("down")
        await driver.press("escape", "tab", "tab")
        await assert_harmless(driver)
        await driver.press("e", "enter")
        await driver.until_focused(EntityCard)
        assert MARKUP in await assert_harmless(driver)
        for _ in range(12):
            await driver.press("pagedown")
            await assert_harmless(driver)
        card = driver.explore.query_one(EntityCard).card
        assert card is not None
        assert not controls_in(repr(card.facts[0].text))
        assert MARKUP in card.facts[0].text


@SIZES
async def test_hostile_document_and_links_have_no_effect(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        await driver.ask("mallory quokka")
        for path in driver.paths:
            driver.explore.reader.open_document(path, focus=True)
            await driver.until(lambda path=path: driver.explore.query_one(PreviewPane).path == path)  # type: ignore[misc]
            await driver.until_focused(PreviewPane)
            await assert_harmless(driver)
            await driver.press("l", "G", "n", "l")
            await assert_harmless(driver)
        driver.explore.reader.open_document("memory/notes/note.md", focus=True)
        await driver.until_shown(PreviewPane, f"Note {MARKUP}")
        pane = driver.explore.query_one(PreviewPane)
        assert pane.laid_out is not None
        targets = [link.target for link in pane.laid_out.preview.links]
        assert targets[-2:] == ["mallory", "nowhere <b> evil"]
        while not pane.position.startswith(f"link {len(targets)}/"):
            await driver.press("l")
        await driver.press("enter")
        await driver.until_shown(StatusLine, "nowhere <b> evil leads to no page")
        await assert_harmless(driver)
        await driver.press("h", "enter")
        await driver.until_focused(EntityCard)


@FEW_SIZES
async def test_hostile_path_completions_have_no_effect(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        await driver.ask("mallory quokka")
        await driver.press("escape", "f")
        await driver.write("memory/notes/")
        await driver.until(lambda: driver.explore.query_one(PathChoices).rows)
        await assert_harmless(driver)
        await driver.press("tab")  # a name with control characters, which are not shown
        await assert_harmless(driver)
        for odd in ("memory/notes/[red]odd[-] \x1b[31m\u202e", "../\x1b[31m\u202ex", "\u202e"):
            driver.explore.query_one(PathLine).value = ""
            driver.app.post_message(events.Paste(odd))
            await assert_harmless(driver)
            await driver.press("down", "escape", "f")
            await assert_harmless(driver)


async def test_hostile_names_in_entity_picker_and_facets_have_no_effect(hostile: Path) -> None:
    async with running_hostile(hostile, WIDE) as driver:
        await driver.ask("quokka")
        await driver.press("escape", "a")
        await driver.until(lambda: SHOWN_NAME in driver.screen_text())
        await assert_harmless(driver)
        await driver.until_focused(CommandInput)
        await driver.write("mal")
        await driver.until(lambda: SHOWN_NAME in driver.screen_text())
        await assert_harmless(driver)
        await driver.press("enter")
        await driver.until_shown(EntityList, "pinned by you")
        await driver.press("D")
        await driver.until_shown(FacetList, "Folders")
        facets = driver.app.screen.query_one(FacetList)
        row = max(number for number, row in enumerate(facets.rows) if row.kind == "in")
        await driver.press("home", *["down"] * row, "enter")
        await driver.until(lambda: "in:" in driver.view.query)
        assert driver.titles


async def test_hostile_text_in_notices_and_on_the_clipboard_has_no_effect(hostile: Path) -> None:
    async with running_hostile(hostile, WIDE) as driver:
        await driver.ask("mallory other quokka")
        await driver.press("down")
        assert any("\n" in path for path in driver.paths)
        for path in driver.paths:
            for key in ("y", "Y", "c", "C"):
                await driver.press(key)
                await assert_harmless(driver)
            if "\n" in path:
                await driver.until_shown(WhyPane, "[red]odd[-]", "name.md")
            await driver.press("down")
        path = "memory/notes/note.md"  # nothing is copied of a file with a hostile name
        driver.results.choose(driver.paths.index(path))
        await driver.until(lambda: path in driver.explore.model.displayed.snippets)
        await driver.press("c")
        assert driver.app.clipboard
        assert not controls_in(driver.app.clipboard)
        await driver.press("Y")  # the path itself is copied unchanged
        assert not controls_in(driver.app.clipboard.partition("](")[0])
        await driver.press("e", "minus")
        await driver.until_shown(EntityList, "muted by you")
        await driver.press("z")
        await driver.until_shown(StatusLine, f"{SHOWN_NAME} is no longer muted")
        await assert_harmless(driver)


@FEW_SIZES
async def test_hostile_pasted_query_has_no_effect(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        driver.app.post_message(events.Paste(ACTS))
        await driver.until(lambda: driver.explore.query_one(QueryLine).value)
        await assert_harmless(driver)
        await driver.until(lambda: driver.explore.view is not None)
        await driver.press("escape", "m", "m")
        await assert_harmless(driver)
        await driver.press("C")
        await assert_harmless(driver)
    async with running_hostile(hostile, size) as driver:  # now it is among the recent queries
        await driver.until(lambda: "recent queries" in driver.screen_text() or size == TINY)
        await assert_harmless(driver)
        await driver.press("up")
        await assert_harmless(driver)


async def test_hostile_errors_and_recent_bases_have_no_effect(hostile: Path) -> None:
    watched = Watched()
    async with running_hostile(hostile, WIDE, watched) as driver:
        for fault in (IndexFault(f"broken {ACTS}"), ValueError(f"odd {ACTS}")):
            watched.faults["retrieve"] = fault
            driver.explore.query_one(QueryLine).value = f"{fault}"[:5]
            await driver.until_shown(StatusLine, MARKUP)
            await assert_harmless(driver)
            driver.explore.query_one(QueryLine).value = ""
        await driver.press("escape", "b")
        await driver.until_shown(ChoiceList, "[red]kb[-] evil")
        await assert_harmless(driver)


@pytest.mark.parametrize(
    "toml",
    [
        f"[keys]\n{json.dumps(ACTS)} = 'x'\n",
        f"[keys]\n'mode.next' = {json.dumps(ACTS)}\n",
        f"[search]\nhierarchy_alpha = {json.dumps(ACTS)}\n",
        f"[search]\n{json.dumps(ACTS)} = 1\n",
        f"[search]\n{ACTS}\n",
    ],
    ids=["command", "key", "value", "setting", "toml"],
)
async def test_hostile_kbx_toml_has_no_effect(tmp_path: Path, toml: str) -> None:
    root = write_hostile_base(tmp_path)
    (root / "kbx.toml").write_text(toml, encoding="utf-8", newline="")
    async with starting(root, NARROW) as driver:
        await driver.until(lambda: driver.explore.model.summary is not None or driver.status.error)
        await assert_harmless(driver)
        await driver.press("escape", "question_mark")
        await assert_harmless(driver)


VERA = "memory/people/vera-sand.md"
PAGE = """---
role: Keeper of the harbour tower # redacted
---
# Vera Sand

Vera keeps the lighthouse ledger.

## Facts
- [2026-01-01] Lighthouse keeper since the
  master left
- [2026-01-02] The key lies behind [[Ada]]'s clock
  below coal #redacted

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


async def test_preview_card_and_experts_grey_what_is_redacted_and_hide_nothing(base: Path) -> None:
    async with running(base, WIDE) as driver:
        pane = await open_first(driver, "vera sand")
        await driver.until(lambda: "harbour tower" in str(drawn(pane)))
        lines = drawn(pane)
        assert pane.laid_out.preview.lines == tuple(PAGE.replace("[[Ada]]", "Ada").split("\n"))
        for text in ("harbour tower", "The key lies behind Ada's clock", "Paint the tower door"):
            assert looks_of(line_with(lines, text)) <= {"dim", "match"}
        assert "text" in looks_of(line_with(lines, "Lighthouse keeper"))
        driver.explore.reader.open_card("person:vera-sand")
        await driver.until_focused(EntityCard)
        card = driver.explore.query_one(EntityCard)
        await driver.until(lambda: drawn(card))
        lines = drawn(card)
        for text in ("Keeper of the harbour tower", "The key lies behind", "Paint the tower door"):
            assert "text" not in looks_of(line_with(lines, text))
        assert "text" in looks_of(line_with(lines, "Lighthouse keeper"))
        await driver.press("f3")
        await driver.until_focused(TopicLine)
        driver.app.screen.query_one(TopicLine).value = "keeper key clock"
        experts = driver.app.screen.query_one(ExpertList)
        await driver.until(
            lambda: experts.view is not None and experts.view.question.topic == "keeper key clock"
        )
        await driver.press("down")
        await driver.until(lambda: len(experts.rows) > 1)
        claim = line_with(drawn(experts), "The key lies behind")
        assert looks_of(claim) <= {"rule", "dim"}


async def test_snippets_of_redacted_lines_and_pages_are_greyed(base: Path) -> None:
    async with running(base, WIDE) as driver:
        results = driver.results
        await driver.ask("barrels in the cellar")
        results.choose(driver.titles.index("Cellar"))
        await driver.until_shown(ResultList, "Barrels of the lighthouse cellar.")
        assert looks_of(passage_under_cursor(results)) == {"rule"}
        await driver.ask("master left")
        results.choose(driver.paths.index(VERA))
        await driver.until_shown(ResultList, "Lighthouse keeper since the")
        line = passage_under_cursor(results)
        assert looks_of(line) == {"dim", "strong", "rule"}
        greyed = " ".join(span.text for span in line if span.look == "rule")
        told = "· [2026-01-02] The key lies behind Ada's clock below coal #redacted"
        assert " ".join(greyed.split()) == told
        await driver.ask("vera sand")
        await driver.until_shown(ResultList, "role: Keeper of the harbour tower")
        assert "text" not in looks_of(passage_under_cursor(results))


def passage_under_cursor(results: ResultList) -> Line:
    row, width = results.cursor, results.line_width
    parts = range(1, results.row_heights()[row])
    return tuple(span for part in parts for span in results.row_line(row, part, width))


async def test_known_list_greys_a_redacted_field(base: Path) -> None:
    async with reviewing(base) as review:
        await review.press("slash")
        review.driver.app.post_message(events.Paste("Vera Sand: keeper of the harbour tower"))
        await review.until(lambda: "Keeper of the harbour tower" in review.known)
        lines = drawn(review.screen.query_one(KnownList))
        known = next(line for line in lines if "Keeper of the harbour" in line[-2].text)
        assert known[-2].look == "dim"
        assert line_with(lines, "   redacted   Vera Sand")
