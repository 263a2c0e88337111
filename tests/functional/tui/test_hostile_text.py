"""What files say is shown, and does nothing: no markup, no escape, no direction, no link."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.command import CommandInput

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import IndexFault
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.path_field import PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.choices import Choices
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, TINY, WIDE, Driver, Size, running, starting
from tests.functional.tui.watched import Watched
from tests.hostile_base import ACTS, MARKUP, SHOWN_NAME, acting, write_hostile_base

SIZES = pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])

FEW_SIZES = pytest.mark.parametrize("size", [WIDE, TINY], ids=["wide", "tiny"])


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base where everything is hostile, indexed. Read it only."""
    root = write_hostile_base(tmp_path_factory.mktemp("hostile"))
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


@asynccontextmanager
async def running_hostile(
    root: Path, size: Size, watched: Watched | None = None
) -> AsyncIterator[Driver]:
    async with running(root, size, watched=watched) as driver:
        yield driver
        await nothing_acts(driver)


async def nothing_acts(driver: Driver) -> str:
    """Check every cell of the screen and return its text."""
    await driver.pilot.pause()
    text, (width, height) = driver.screen_text(), driver.app.size
    assert not acting(text), (acting(text), text)
    lines = text.split("\n")
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    for strip in driver.app.screen._compositor.render_strips():
        for segment in strip:
            assert segment.control is None
            assert segment.style is None or segment.style.link is None
            assert segment.style is None or "@click" not in segment.style.meta
    return text


@SIZES
async def test_titles_names_and_reasons(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        assert "[red]kb[-] evil" in await nothing_acts(driver) or size != WIDE
        await driver.ask("mallory quokka")
        await driver.until(lambda: driver.explore.controller.shown.snippets)
        await nothing_acts(driver)
        assert MARKUP in driver.text_of(ResultList)
        if size == WIDE:
            await driver.until_shown(EntityList, f"● Mallory {MARKUP}")
            await driver.until_shown(QueryLine, f"two-pass · {SHOWN_NAME}")
        await driver.press("down")
        for _ in driver.titles:
            await nothing_acts(driver)
            await driver.press("down")
        await driver.press("escape", "tab", "tab")
        await nothing_acts(driver)


@SIZES
async def test_a_document_and_its_links(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        await driver.ask("mallory quokka")
        for path in driver.paths:
            driver.explore.read_document(path, focus=True)
            await driver.until(lambda at=path: driver.explore.query_one(PreviewPane).path == at)  # type: ignore[misc]
            await driver.until_focused(PreviewPane)
            await nothing_acts(driver)
            await driver.press("l", "G", "n", "l")
            await nothing_acts(driver)
        driver.explore.read_document("memory/notes/note.md", focus=True)
        await driver.until_shown(PreviewPane, f"Note {MARKUP}")
        pane = driver.explore.query_one(PreviewPane)
        assert pane.laid_out is not None
        targets = [link.target for link in pane.laid_out.preview.links]
        assert targets[-2:] == ["mallory", "nowhere <b> evil"]
        while not pane.position.startswith(f"link {len(targets)}/"):
            await driver.press("l")
        await driver.press("enter")
        await driver.until_shown(StatusLine, "nowhere <b> evil leads to no page")
        await nothing_acts(driver)
        await driver.press("h", "enter")
        await driver.until_focused(EntityCard)


@FEW_SIZES
async def test_an_entity_card(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        await driver.ask("mallory quokka")
        await driver.press("escape", "e", "enter")
        await driver.until_focused(EntityCard)
        text = await nothing_acts(driver)
        assert MARKUP in text
        for _ in range(12):
            await driver.press("pagedown")
            await nothing_acts(driver)
        card = driver.explore.query_one(EntityCard).card
        assert card is not None
        assert not acting(repr(card.facts[0].text))
        assert MARKUP in card.facts[0].text


@FEW_SIZES
async def test_completions_and_the_path_field(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        await driver.ask("mallory quokka")
        await driver.press("escape", "f")
        await driver.write("memory/notes/")
        await driver.until(lambda: driver.status.hint)
        await nothing_acts(driver)
        await driver.press("tab")  # a name with what acts in it, as far as it can be shown
        await nothing_acts(driver)
        for odd in ("memory/notes/[red]odd[-] \x1b[31m\u202e", "../\x1b[31m\u202ex", "\u202e"):
            driver.explore.query_one(PathLine).value = ""
            driver.app.post_message(events.Paste(odd))
            await nothing_acts(driver)
            await driver.press("down", "f")
            await nothing_acts(driver)


async def test_the_picker_of_entities(hostile: Path) -> None:
    async with running_hostile(hostile, WIDE) as driver:
        await driver.ask("quokka")
        await driver.press("escape", "a")
        await driver.until(lambda: SHOWN_NAME in driver.screen_text())
        await nothing_acts(driver)
        await driver.until_focused(CommandInput)
        await driver.write("mal")
        await driver.until(lambda: SHOWN_NAME in driver.screen_text())
        await nothing_acts(driver)
        await driver.press("enter")
        await driver.until_shown(EntityList, "pinned by you")


async def test_notices_of_copying_muting_and_taking_back(hostile: Path) -> None:
    async with running_hostile(hostile, WIDE) as driver:
        await driver.ask("mallory quokka")
        await driver.press("down")
        for _ in driver.titles:
            for key in ("y", "Y", "c", "C"):
                await driver.press(key)
                await nothing_acts(driver)
            await driver.press("down")
        await driver.press("e", "minus")
        await driver.until_shown(EntityList, "muted by you")
        await driver.press("z")
        await driver.until_shown(StatusLine, f"muted: {SHOWN_NAME} as before")
        await nothing_acts(driver)


async def test_what_is_copied_as_text_holds_nothing_that_acts(hostile: Path) -> None:
    async with running_hostile(hostile, WIDE) as driver:
        await driver.ask("mallory quokka")
        await driver.press("down")
        await driver.until(lambda: driver.paths[0] in driver.explore.controller.shown.snippets)
        await driver.press("c")
        assert driver.app.clipboard
        assert not acting(driver.app.clipboard)
        await driver.press("Y")  # but for the path: that is as it is
        assert not acting(driver.app.clipboard.partition("](")[0])


@FEW_SIZES
async def test_a_query_that_was_pasted(hostile: Path, size: Size) -> None:
    async with running_hostile(hostile, size) as driver:
        driver.app.post_message(events.Paste(ACTS))
        await driver.until(lambda: driver.explore.query_one(QueryLine).value)
        await nothing_acts(driver)
        await driver.until(lambda: driver.explore.view is not None)
        await driver.press("escape", "m", "m")
        await nothing_acts(driver)
        await driver.press("C")
        await nothing_acts(driver)
    async with running_hostile(hostile, size) as driver:  # now it is among those asked before
        await driver.until(lambda: "asked before" in driver.screen_text() or size == TINY)
        await nothing_acts(driver)
        await driver.press("up")
        await nothing_acts(driver)


async def test_queries_that_a_base_remembers(tmp_path: Path) -> None:
    root = write_hostile_base(tmp_path)
    (root / ".kbx").mkdir()
    (root / ".kbx/app.json").write_text(json.dumps({"queries": [ACTS]}), encoding="utf-8")
    async with starting(root, WIDE) as driver:
        await driver.until_shown(ResultList, f"asked before {MARKUP}")
        await nothing_acts(driver)
        await driver.press("up")
        await driver.until_shown(QueryLine, MARKUP)
        await nothing_acts(driver)


async def test_errors_and_bases_opened_before(hostile: Path) -> None:
    watched = Watched()
    async with running_hostile(hostile, WIDE, watched) as driver:
        for fault in (IndexFault(f"broken {ACTS}"), ValueError(f"odd {ACTS}")):
            watched.faults["retrieve"] = fault
            driver.explore.query_one(QueryLine).value = f"{fault}"[:5]
            await driver.until_shown(StatusLine, MARKUP)
            await nothing_acts(driver)
            driver.explore.query_one(QueryLine).value = ""
        await driver.press("escape", "b")
        await driver.until_shown(Choices, "[red]kb[-] evil")
        await nothing_acts(driver)


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
async def test_what_kbx_toml_says(tmp_path: Path, toml: str) -> None:
    root = write_hostile_base(tmp_path)
    (root / "kbx.toml").write_text(toml, encoding="utf-8", newline="")
    async with starting(root, NARROW) as driver:
        await driver.until(lambda: driver.explore.summary is not None or driver.status.error)
        await nothing_acts(driver)
        await driver.press("escape", "question_mark")
        await nothing_acts(driver)


async def test_a_why_pane_of_a_path_with_a_line_break(hostile: Path) -> None:
    async with running_hostile(hostile, WIDE) as driver:
        await driver.ask("mallory other quokka")
        odd = next(row for row, path in enumerate(driver.paths) if "\n" in path)
        driver.results.choose(odd)
        await driver.until_shown(WhyPane, "[red]odd[-]", "name.md")
