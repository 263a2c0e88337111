"""Entities in the app: their cards, muting and pinning, and the offer to make some."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual import on
from textual.app import App, ComposeResult
from textual.command import CommandInput
from textual.pilot import Pilot

from kbx_tui.api import session
from kbx_tui.search.browse import EntityCard as Card
from kbx_tui.search.browse import EntityDocument
from kbx_tui.tui.app_state import entities_asked, note_entities_asked
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.explore import entities as entity_card
from kbx_tui.tui.explore.entities import EntityCard, EntityList
from kbx_tui.tui.explore.inputs import ModeBadge, PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.shell.questions import EntitiesQuestion
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import ChoiceList
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.functional.tui.driving import QUESTION, TINY, WIDE, Driver, is_counted, running, starting
from tests.functional.tui.preview_app import READING_STYLES, SIZES
from tests.functional.vaults import index_vault, write_vault
from tests.unit.tui.explore.panes.cards import a_document, a_fact, an_item


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
        yield EntityCard()

    @property
    def card(self) -> EntityCard:
        return self.query_one(EntityCard)

    @on(EntityCard.Opened)
    def record(self, event: EntityCard.Opened) -> None:
        self.opened.append(event.row)

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


async def test_up_and_down_go_through_what_can_be_opened_and_always_show_the_cursor() -> None:
    title, path = CARD.documents[3].title, CARD.documents[7].path
    sources = {4: (title,), 15: ("a talk at lunch",), 25: ("a talk at lunch", path)}
    facts = [replace(fact, sources=sources.get(n, ())) for n, fact in enumerate(CARD.facts)]
    async with showing(replace(CARD, facts=tuple(facts))) as (app, pilot):
        marked = [cursor_row(app)]
        for _ in range(4):
            await pilot.press("down", "enter")
            marked.append(cursor_row(app))
        assert [row[-12:].strip() for row in marked[:3]] == [
            *("lice-chen.md", "act number 4", "ct number 25")
        ]
        assert "Meeting 0" in marked[3]
        assert "Meeting 1" in marked[4]
        rows = (CARD.documents[row].path for row in (3, 7, 0, 1))
        assert app.opened == list(rows)
        await pilot.press("k", "up", "up")
        assert cursor_row(app) == marked[1]
        await pilot.press("U")  # the list by date shows no sources
        assert cursor_row(app) == marked[0]


async def test_page_and_end_keys_move_the_cursor_of_a_card() -> None:
    async with showing(CARD) as (app, pilot):
        await pilot.press("end")
        assert "Meeting 29" in cursor_row(app)
        await pilot.press("pageup")
        assert "Meeting" in cursor_row(app)
        await pilot.press("home")
        assert cursor_row(app) == "› page people/alice-chen.md"
        assert app.card.scroll_offset.y == 0
        await hold(app, pilot, "pagedown", 8)
        assert "Meeting 29" in cursor_row(app)
        await hold(app, pilot, "pageup", 8)
        assert cursor_row(app) == "› page people/alice-chen.md"


@pytest.mark.parametrize("size", [(140, 40), (80, 24), (50, 16)])
async def test_one_key_shows_facts_and_documents_by_date(size: tuple[int, int]) -> None:
    async with showing(CARD, size) as (app, pilot):
        before = app.card.virtual_size.height
        await pilot.press("U")
        dates = [row for row in app.rows() if "┄" in row]
        assert any("Timeline" in row for row in app.rows())
        assert not any("Open items" in row for row in app.rows())
        assert dates
        await pilot.press("end")
        assert "Meeting 29" in cursor_row(app)
        await pilot.press("U")
        assert app.card.virtual_size.height == before
        assert "Meeting 29" in cursor_row(app)  # where it was


async def test_a_card_shows_what_was_known_on_the_day_of_a_document(tmp_path: Path) -> None:
    ada = """# Ada Stone

## Recent Facts
- [2026-03-01] Sails the north route
- [2026-01-05] ~~Sails the south route~~ (superseded: 2026-03-01)
- Knows every knot
"""
    meeting = "---\nattendees: [Ada Stone]\n---\n# {}\n\nRope.\n"
    files = {
        "memory/people/ada-stone.md": ada,
        "memory/meetings/2026/02/20/routes.md": meeting.format("Routes"),
        "memory/meetings/2026/04/01/spring.md": meeting.format("Spring"),
    }
    async with running(index_vault(tmp_path, files), WIDE, asked="ada stone") as driver:
        await driver.press("down", "e", "enter")
        await driver.until_focused(EntityCard)
        await driver.press("A")
        await driver.until_shown(StatusLine, "select a dated document")
        await driver.press("down", "down", "A")
        await driver.until(lambda: "Entity · as of 2026-02-20" in driver.screen_text())
        shown = driver.text_of(EntityCard)
        assert "south route" in shown
        assert not any(word in shown for word in ("superseded", "north route", "Spring", "knot"))
        assert "2 without a date left out" in shown  # a fact and her page
        await driver.press("down", "enter")
        await driver.until(lambda: "as of" not in driver.screen_text())
        await driver.press("escape")
        await driver.until(lambda: "Entity · as of 2026-02-20" in driver.screen_text())
        await driver.press("A")
        await driver.until_shown(EntityCard, "Spring", "north route", "superseded")
        assert "as of" not in driver.screen_text().partition("A as of")[0]
        assert "left out" not in driver.text_of(EntityCard)


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


async def test_empty_card_survives_all_keys() -> None:
    bare = Card("person:x", "X", "person", "", (), "", "", (), (), ())
    async with showing(bare) as (app, pilot):
        assert app.rows()[:4] == [
            f"● X{'person':>73}",
            "  nothing is known about it yet",
            "",
            "  no page of its own",
        ]
        await pilot.press("j", "k", "up", "down", "pagedown", "pageup", "home", "end", "enter")
        assert not app.opened
        assert app.card.current_path == ""


async def test_reloaded_card_keeps_its_cursor() -> None:
    async with showing(CARD) as (app, pilot):
        await pilot.press("end", "k", "k")
        path, rows = app.card.current_path, app.rows()
        app.card.show(replace(CARD, aliases=("achen",)))
        await pilot.pause()
        assert (app.card.current_path, app.rows()) == (path, rows)
        newer = a_document("m/new.md", "Meeting new", "2026-12-24", "notes", "attendee")
        app.card.show(replace(CARD, documents=(newer, *CARD.documents)))
        await pilot.pause()
        assert app.card.current_path == path
        app.card.show(replace(CARD, id="person:bob", name="Bob"))  # another one starts at its top
        await pilot.pause()
        assert app.rows()[0].startswith("● Bob")
        assert cursor_row(app) == "› page people/alice-chen.md"


async def test_cursor_of_a_card_stays_visible_after_a_resize() -> None:
    async with showing(CARD, (140, 40)) as (app, pilot):
        await pilot.press("end")
        for size in ((50, 16), (80, 24), (140, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "Meeting 29" in cursor_row(app)


async def test_only_visible_documents_of_a_card_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    line = entity_card.document_line

    def counted(document: EntityDocument, part: int, width: int, *, cursor: bool) -> Line:
        drawn.append(document.path)
        return line(document, part, width, cursor=cursor)

    monkeypatch.setattr(entity_card, "document_line", counted)
    many = tuple(replace(document(n % 100), path=f"m/{n}.md") for n in range(5_000))
    async with showing(replace(CARD, documents=many)) as (app, pilot):
        await pilot.press("end")
        assert app.card.current_path == "m/4999.md"
        assert len(set(drawn)) <= 2 * app.card.visible_height
        assert not app.card.children


ALICE, BOB = "person:alice-chen", "person:bob-okafor"


def names_kept(driver: Driver) -> list[str]:
    return [entity.name for entity in driver.view.entities if entity.kept]


async def test_entities_are_muted_or_pinned_until_the_query_is_cleared(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION, measured=True) as driver:
        before = driver.paths
        await driver.press("escape", "e", "minus")
        await driver.until_shown(EntityList, "✕ Alice Chen person 1.00 muted by you, name")
        await driver.until_shown(ModeBadge, "two-pass · Migration")
        assert driver.paths != before
        await driver.press("minus")
        await driver.until_shown(ModeBadge, "two-pass · Alice Chen + Migration")
        assert driver.paths == before
        await driver.press("minus", "plus")
        await driver.until(lambda: driver.state.pinned == {ALICE} and not driver.state.muted)
        await driver.press("minus")
        await driver.until(lambda: driver.state.muted == {ALICE} and not driver.state.pinned)
        await driver.press("down", "minus")
        await driver.until_shown(ModeBadge, "flat · no sure entity")
        assert driver.watched.calls["retrieve"] == 1
        muted = driver.state.muted
        await driver.ask(f"{QUESTION}?")
        assert driver.state.muted == muted
        driver.explore.query_one(QueryLine).value = ""
        await driver.until(lambda: not driver.state.muted)


async def test_plus_pins_an_entity_below_the_threshold(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "e", "end")
        await driver.until_shown(EntityList, "On-call Reset .30 project, fact")  # no room beside it
        entity = driver.explore.query_one(EntityList).current
        assert entity is not None
        assert not entity.kept
        await driver.press("plus")
        await driver.until(lambda: entity.name in names_kept(driver))
        await driver.until_shown(EntityList, f"● {entity.name}", "pinned by you")
        assert driver.explore.query_one(EntityList).current.id == entity.id  # type: ignore[union-attr]
        assert driver.watched.calls["retrieve"] == 1  # it was found already
        await driver.until_shown(WhyPane, entity.name)  # it is one of those that count
        await driver.press("plus")
        await driver.until(lambda: entity.name not in names_kept(driver))


async def test_pinned_entity_that_was_not_found_is_retrieved(demo: Path) -> None:
    async with running(demo, WIDE, asked="yellow umbrella", measured=True) as driver:
        assert not driver.view.entities
        await driver.press("escape", "a")
        await driver.until_focused(CommandInput)
        await driver.write("bob")
        await driver.until(lambda: "Bob Okafor · person" in driver.screen_text())
        await driver.press("enter")
        await driver.until_shown(ModeBadge, "two-pass · Bob Okafor")
        await driver.until_shown(EntityList, "● Bob Okafor", "pinned by you")
        assert driver.has_focus(ResultList)
        assert driver.watched.queries == ["yellow umbrella"] * 2
        await driver.press("z")
        await driver.until(lambda: driver.view.mode.name == "flat")
        assert not driver.view.entities  # as before
        assert driver.watched.queries == ["yellow umbrella"] * 2  # the evidence still answers it


async def test_entity_chosen_without_a_query_shows_its_card(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "a")
        await driver.until_focused(CommandInput)
        await driver.write("bob")
        await driver.until(lambda: "Bob Okafor · person" in driver.screen_text())
        await driver.press("enter")
        await driver.until_focused(EntityCard)
        await driver.until_shown(EntityCard, "● Bob Okafor")
        assert not driver.state.pinned


async def test_z_undoes_one_change_at_a_time(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        original = driver.paths
        await driver.narrow("memory/meetings")
        await driver.press("escape", "e", "minus")
        await driver.until(lambda: driver.state.muted == {ALICE})
        await driver.press("end", "plus")
        await driver.until(lambda: driver.state.pinned)
        await driver.press("s", "m")
        await driver.press(*["right_square_bracket"] * 5)  # one move
        await driver.press("left_curly_bracket")
        await driver.until(lambda: driver.view.threshold == 0.45)
        for words, back in (
            ("threshold is .50 again", lambda: driver.state.threshold == 0.5),
            ("alpha is .50 again", lambda: driver.alpha == 0.5),
            ("mode is two-pass again", lambda: driver.view.mode.name == "two-pass"),
            ("sort is score again", lambda: not driver.view.order),
            ("is no longer pinned", lambda: not driver.state.pinned),
            ("Alice Chen is no longer muted", lambda: "Alice Chen" in names_kept(driver)),
            ("searching everywhere again", lambda: driver.view.scope.path == ""),
        ):
            await driver.press("z")
            await driver.until_shown(StatusLine, words)
            await driver.until(back)
        assert driver.paths == original
        assert driver.explore.query_one(PathLine).value == ""
        assert [slider.value for slider in driver.explore.query(NumberSlider)] == [0.5, 0.5]
        assert driver.explore.query_one(QueryLine).value == QUESTION
        await driver.press("z")
        await driver.until_shown(StatusLine, "nothing to undo")
        assert driver.has_focus(EntityList)


async def test_the_cursor_stays_on_its_entity_when_the_order_changes(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "e", "down")
        entities = driver.explore.query_one(EntityList)
        assert entities.current is not None
        assert entities.current.name == "Migration"
        await driver.press(*["right_curly_bracket"] * 3, "m")
        await driver.until(lambda: driver.view.mode.name == "flat")
        assert entities.current.name == "Migration"
        assert driver.explore.query_one(ResultList).rows


NOTES = {
    f"Note {number}.md": f"---\ntags: [garden]\n---\nSee [[Compost]]. Bed {number}.\n"
    for number in range(6)
} | {"Compost.md": "Made of leaves.\n"}
SENTENCE = "7 notes, 1 tag, 1 hub"


async def until_asked(driver: Driver) -> None:
    await driver.until(lambda: isinstance(driver.app.screen, EntitiesQuestion))
    await driver.until_shown(ChoiceList, f"{SENTENCE}: use them as entities?")
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
        await driver.write("any n y")  # of a query: no letter answers
        assert isinstance(driver.app.screen, EntitiesQuestion)
        await driver.press("escape")
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
        await driver.press("down", "enter")
        await driver.until_shown(StatusLine, f"{SENTENCE}: written to kbx.toml")
        assert "hubs = 5" in (root / "kbx.toml").read_text(encoding="utf-8")
        await driver.until(lambda: entities(driver) == 2)
        await driver.ask("compost")
        await driver.until_shown(EntityList, "Compost hub")
        await driver.press("escape", "z", "z")
        await driver.until(lambda: entities(driver) == 0)
        assert not isinstance(driver.app.screen, EntitiesQuestion)


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
    root = index_vault(tmp_path / "notes", NOTES)
    (root / "kbx.toml").write_text("[entities]\nhubs = 5\n", encoding="utf-8")
    async with starting(root, WIDE) as driver:
        await driver.until(lambda: entities(driver) == 1)
        (root / "kbx.toml").write_text("[entities]\nhubs = 5\ntags = 3\n", encoding="utf-8")
        await driver.until(lambda: entities(driver) == 2)  # watched while it is open
        engine = driver.explore.session.client.engine
        assert engine is not None
        await driver.until(lambda: engine.settings.entities.tags == 3)  # as the index has them
