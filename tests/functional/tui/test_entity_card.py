"""The entity card in a minimal app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import PurePath

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from kbx_tui.safe_text import safe_line
from kbx_tui.search.browse import EntityCard as Card
from kbx_tui.search.browse import EntityDocument
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.explore import entity_card
from kbx_tui.tui.explore.entity_card import EntityCard
from kbx_tui.tui.terminal_app import styles_folder
from tests.unit.tui.explore.panes.cards import a_document, a_fact, an_item

READING_STYLES: list[str | PurePath] = [
    styles_folder() / name for name in ("looks.tcss", "reading.tcss")
]
SIZES = pytest.mark.parametrize("size", [(140, 40), (80, 24), (50, 16)], ids=str)
HOSTILE = safe_line("[red]Alice[/red] \x1b[31mred\x1b[0m \u202etxt \x1b]52;c;aGk=\x07" + "港" * 60)


def document(number: int) -> EntityDocument:
    year, month = 2026 - number // 12, 12 - number % 12
    date = f"{year}-{month:02}-03"
    return a_document(f"m/{date}.md", f"Meeting {number}", date, "notes", "attendee")


CARD = Card(
    id="person:alice-chen",
    name="Alice Chen",
    type="person",
    path="people/alice-chen.md",
    role="Director of Engineering",
    team="Platform",
    aliases=("achen",),
    facts=tuple(a_fact(f"Fact number {n}", "2026-03-17") for n in range(30)),
    open_items=(an_item("call Bob"),),
    documents=tuple(map(document, range(30))),
)


class CardApp(App[None]):
    CSS_PATH = READING_STYLES
    CSS = "EntityCard { border: round $accent; }"

    def compose(self) -> ComposeResult:
        self.opened: list[str] = []
        self.closed = 0
        yield EntityCard()

    @property
    def card(self) -> EntityCard:
        return self.query_one(EntityCard)

    @on(EntityCard.Opened)
    def record(self, event: EntityCard.Opened) -> None:
        self.opened.append(event.row)

    @on(EntityCard.Closed)
    def count(self) -> None:
        self.closed += 1

    def rows(self) -> list[str]:
        return [self.card.render_line(y).text.rstrip() for y in range(self.card.visible_height)]


@asynccontextmanager
async def showing(
    card: Card, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[CardApp, Pilot[None]]]:
    app = CardApp()
    async with app.run_test(size=size) as pilot:
        app.card.focus()
        app.card.show(card)
        await pilot.pause()
        yield app, pilot


async def hold(app: CardApp, pilot: Pilot[None], key: str, times: int) -> None:
    """Press a key faster than a held key repeats."""
    for _ in range(times):
        app.simulate_key(key)
    await pilot.pause()


def cursor_row(app: CardApp) -> str:
    """Return the text of the row under the cursor."""
    return next((text for text in app.rows() if text.startswith("›")), "")


@SIZES
async def test_card_shows_name_and_type_and_opens_the_page_first(size: tuple[int, int]) -> None:
    async with showing(CARD, size) as (app, pilot):
        shown = app.rows()
        assert shown[0].startswith("● Alice Chen")
        assert shown[0].endswith("person")
        assert cursor_row(app) == "› page people/alice-chen.md"
        await pilot.press("enter")
        assert app.opened == ["people/alice-chen.md"]


async def test_down_scrolls_by_line_until_documents_are_reached() -> None:
    async with showing(CARD) as (app, pilot):
        presses = 0
        while "Meeting" not in cursor_row(app):
            app.card.action_move(1)
            await pilot.pause(0)
            presses += 1
            assert app.card.scroll_offset.y <= presses + entity_card.document_height(80) + 2
        assert "Meeting 0" in cursor_row(app)
        assert presses > 15
        await pilot.press("j", "down")
        assert "Meeting 2" in cursor_row(app)
        await pilot.press("k", "up", "enter")
        assert app.opened == [CARD.documents[0].path]


async def test_up_scrolls_back_to_the_top() -> None:
    async with showing(replace(CARD, documents=CARD.documents[:2])) as (app, pilot):
        await pilot.press("G")
        assert "Meeting 1" in cursor_row(app)
        await hold(app, pilot, "k", 60)
        assert cursor_row(app) == "› page people/alice-chen.md"
        assert app.card.scroll_offset.y == 0


async def test_page_and_end_keys_move_the_cursor_of_a_card() -> None:
    async with showing(CARD) as (app, pilot):
        await pilot.press("G")
        assert "Meeting 29" in cursor_row(app)
        await pilot.press("pageup")
        assert "Meeting" in cursor_row(app)
        await pilot.press("g")
        assert cursor_row(app) == "› page people/alice-chen.md"
        assert app.card.scroll_offset.y == 0
        await hold(app, pilot, "pagedown", 8)
        assert "Meeting 29" in cursor_row(app)
        await hold(app, pilot, "pageup", 8)
        assert cursor_row(app) == "› page people/alice-chen.md"


async def test_enter_never_opens_a_row_that_is_not_visible() -> None:
    async with showing(CARD, (50, 16)) as (app, pilot):
        app.card.scroll_to_line(20)
        await pilot.press("enter")
        assert not app.opened
        assert cursor_row(app) == "› page people/alice-chen.md"
        await pilot.press("enter")
        assert app.opened == ["people/alice-chen.md"]


@SIZES
async def test_click_selects_and_double_click_opens(size: tuple[int, int]) -> None:
    async with showing(replace(CARD, facts=()), size) as (app, pilot):
        row = next(row for row, text in enumerate(app.rows()) if "Meeting 0" in text)
        await pilot.click(app.card, offset=(8, row + 1))
        assert "Meeting 0" in cursor_row(app)
        assert app.card.current_path == CARD.documents[0].path
        assert not app.opened
        await pilot.click(app.card, offset=(8, row + 1), times=2)
        assert app.opened == [CARD.documents[0].path]


async def test_card_without_a_page_opens_its_first_document() -> None:
    async with showing(replace(CARD, path="", facts=(), open_items=())) as (app, pilot):
        assert "  no page of its own" in app.rows()
        await pilot.press("enter")
        assert app.opened == [CARD.documents[0].path]


async def test_empty_card_survives_all_keys() -> None:
    bare = Card("person:x", "X", "person", "", (), "", "", (), (), ())
    async with showing(bare) as (app, pilot):
        assert app.rows()[:4] == [
            f"● X{'person':>73}",
            "  nothing is known about it yet",
            "",
            "  no page of its own",
        ]
        await pilot.press("j", "k", "up", "down", "pagedown", "pageup", "g", "G", "enter")
        assert not app.opened
        assert app.card.current_path == ""


async def test_reloaded_card_keeps_its_cursor() -> None:
    async with showing(CARD) as (app, pilot):
        await pilot.press("G", "k", "k")
        path, rows = app.card.current_path, app.rows()
        app.card.show(replace(CARD, aliases=("achen",)))
        await pilot.pause()
        assert (app.card.current_path, app.rows()) == (path, rows)
        newer = a_document("m/new.md", "Meeting new", "2026-12-24", "notes", "attendee")
        app.card.show(replace(CARD, documents=(newer, *CARD.documents)))
        await pilot.pause()
        assert app.card.current_path == path


async def test_another_card_starts_at_the_top() -> None:
    async with showing(CARD) as (app, pilot):
        await pilot.press("G")
        app.card.show(replace(CARD, id="person:bob", name="Bob"))
        await pilot.pause()
        assert app.rows()[0].startswith("● Bob")
        assert cursor_row(app) == "› page people/alice-chen.md"


async def test_cursor_of_a_card_stays_visible_after_a_resize() -> None:
    async with showing(CARD, (140, 40)) as (app, pilot):
        await pilot.press("G")
        for size in ((50, 16), (80, 24), (140, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "Meeting 29" in cursor_row(app)


async def test_escape_closes_the_pane() -> None:
    async with showing(CARD) as (app, pilot):
        await pilot.press("escape")
        assert app.closed == 1


@SIZES
async def test_markup_and_control_characters_have_no_effect(
    size: tuple[int, int],
) -> None:
    card = Card(
        "person:x",
        HOSTILE,
        HOSTILE,
        "people/\x1b[31m\u202ex.md",
        (HOSTILE,),
        HOSTILE,
        HOSTILE,
        (a_fact(HOSTILE, HOSTILE, sources=(HOSTILE,)),),
        (an_item(HOSTILE, HOSTILE),),
        (a_document("m/\x1b[31m.md", HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
    )
    async with showing(card, size) as (app, pilot):
        shown = app.rows()
        await pilot.press("G")
        shown += app.rows()
        assert any("[red]Alice[/red] red" in text for text in shown)
        assert not any(sign in "".join(shown) for sign in ("\x1b", "\x07", "\u202e"))
        for y in range(app.card.visible_height):
            assert app.card.render_line(y).cell_length == app.card.line_width
        await pilot.press("enter")
        assert app.opened == ["m/\x1b[31m.md"]


async def test_only_visible_documents_of_a_card_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[str] = []
    line = entity_card.document_line

    def counted(document: EntityDocument, part: int, width: int, *, cursor: bool) -> Line:
        drawn.append(document.path)
        return line(document, part, width, cursor=cursor)

    monkeypatch.setattr(entity_card, "document_line", counted)
    many = tuple(replace(document(n % 100), path=f"m/{n}.md") for n in range(5_000))
    async with showing(replace(CARD, documents=many)) as (app, pilot):
        await pilot.press("G")
        assert app.card.current_path == "m/4999.md"
        assert len(set(drawn)) <= 2 * app.card.visible_height
        assert not app.card.children
