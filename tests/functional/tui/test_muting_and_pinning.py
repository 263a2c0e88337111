"""Muting, pinning and adding entities for one query, and undo."""

from __future__ import annotations

from pathlib import Path

from textual.command import CommandInput, CommandPalette

from kbx_tui.tui.explore.entity_card import EntityCard
from kbx_tui.tui.explore.entity_list import EntityList
from kbx_tui.tui.explore.inputs import PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import QUESTION, WIDE, Driver, running

ALICE, BOB = "person:alice-chen", "person:bob-okafor"


def names_kept(driver: Driver) -> list[str]:
    return [entity.name for entity in driver.view.entities if entity.kept]


async def test_minus_mutes_and_unmutes_an_entity(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        before = driver.paths
        await driver.press("escape", "e", "minus")
        await driver.until_shown(EntityList, "✕ Alice Chen person 1.00 muted by you, name")
        await driver.until_shown(QueryLine, "two-pass · Migration")
        assert driver.paths != before
        await driver.press("minus")
        await driver.until_shown(QueryLine, "two-pass · Alice Chen + Migration")
        assert driver.paths == before
        assert driver.watched.calls["retrieve"] == 1


async def test_an_entity_is_either_muted_or_pinned(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e", "minus", "plus")
        await driver.until(lambda: driver.state.pinned == {ALICE} and not driver.state.muted)
        await driver.press("minus")
        await driver.until(lambda: driver.state.muted == {ALICE} and not driver.state.pinned)


async def test_muting_all_entities_gives_a_flat_search(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e", "minus", "down", "minus")
        await driver.until_shown(QueryLine, "flat · entities below the threshold")


async def test_plus_pins_an_entity_below_the_threshold(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e", "G")
        entity = driver.explore.query_one(EntityList).current
        assert entity is not None
        assert not entity.kept
        await driver.press("plus")
        await driver.until(lambda: entity.name in names_kept(driver))
        await driver.until_shown(EntityList, f"● {entity.name}", "pinned by you")
        assert driver.explore.query_one(EntityList).current.id == entity.id  # type: ignore[union-attr]
        assert driver.watched.calls["retrieve"] == 1  # it was found already
        await driver.until_shown(WhyPane, "mean of the 3 named")
        await driver.press("plus")
        await driver.until(lambda: entity.name not in names_kept(driver))


async def test_entity_chosen_in_the_palette_is_pinned(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("rehearsal")
        assert driver.view.mode.name == "flat"
        await driver.press("escape", "a")
        await driver.until_focused(CommandInput)
        await driver.write("heron")  # an alias of the project
        await driver.until(lambda: "Migration · project" in driver.screen_text())
        await driver.press("enter")
        await driver.until_shown(QueryLine, "two-pass · Migration")
        await driver.until_shown(EntityList, "● Migration", "pinned by you")
        assert driver.has_focus(ResultList)


async def test_entity_palette_lists_some_entities_before_typing(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("rehearsal")
        await driver.press("escape", "a")
        await driver.until(lambda: "Alice Chen · person" in driver.screen_text())
        await driver.press("escape")
        await driver.until(lambda: not isinstance(driver.app.screen, CommandPalette))
        assert not driver.state.pinned


async def test_pinned_entity_that_was_not_found_is_retrieved(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask("yellow umbrella")
        assert not driver.view.entities
        await driver.press("escape", "a")
        await driver.until_focused(CommandInput)
        await driver.write("bob")
        await driver.until(lambda: "Bob Okafor · person" in driver.screen_text())
        await driver.press("enter")
        await driver.until_shown(QueryLine, "two-pass · Bob Okafor")
        assert driver.watched.queries == ["yellow umbrella"] * 2
        await driver.press("z")
        await driver.until(lambda: driver.view.mode.name == "flat")
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


async def test_muted_entities_stay_until_the_query_is_cleared(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e", "minus")
        await driver.until(lambda: driver.state.muted == {ALICE})
        await driver.ask(f"{QUESTION}?")
        assert driver.state.muted == {ALICE}
        driver.explore.query_one(QueryLine).value = ""
        await driver.until(lambda: not driver.state.muted)


async def test_z_undoes_one_change_at_a_time(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        original = driver.paths
        await driver.narrow("memory/meetings")
        await driver.press("escape", "e", "minus")
        await driver.until(lambda: driver.state.muted == {ALICE})
        await driver.press("G", "plus")
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
            ("pinned: ", lambda: not driver.state.pinned),
            ("muted: Alice Chen as before", lambda: "Alice Chen" in names_kept(driver)),
            ("searching everywhere again", lambda: driver.view.scope.path == ""),
        ):
            await driver.press("z")
            await driver.until_shown(StatusLine, words)
            await driver.until(back)
        assert driver.paths == original
        assert driver.explore.query_one(PathLine).value == ""
        assert driver.explore.query_one(QueryLine).value == QUESTION
        await driver.press("z")
        await driver.until_shown(StatusLine, "nothing to undo")
        assert driver.has_focus(EntityList)


async def test_undo_moves_the_sliders_back(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", *["right_square_bracket"] * 5)
        await driver.until(lambda: driver.alpha == 0.75)
        await driver.press("z")
        await driver.until(lambda: driver.explore.query_one("#alpha").value == 0.5)  # type: ignore[attr-defined]


async def test_the_cursor_stays_on_its_entity_when_the_order_changes(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.press("escape", "e", "down")
        entities = driver.explore.query_one(EntityList)
        assert entities.current is not None
        assert entities.current.name == "Migration"
        await driver.press(*["right_curly_bracket"] * 3, "m")
        await driver.until(lambda: driver.view.mode.name == "flat")
        assert entities.current.name == "Migration"
        assert driver.explore.query_one(ResultList).rows
