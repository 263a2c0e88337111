"""How the app looks, at the three sizes it is made for, on answers recorded once."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from kbx_tui.errors import IndexFault
from kbx_tui.index.build.progress import Progress
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.path_field import PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.panes.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.help_screen import Help
from tests.functional.tui.driving import NARROW, TINY, Driver, Size
from tests.snapshots.looking import WIDE, Compare, Looks, sizes
from tests.snapshots.questions import ACTING, BELOW, FAST, FLAT, NOTHING, TWO_PASS, Question
from tests.snapshots.recorded_kb import RecordedBases, RecordedKb


async def nothing(driver: Driver, kb: RecordedKb) -> None:
    pass


async def ask(driver: Driver, question: Question) -> None:
    """Ask, go to the results, and wait until all that comes later has come."""
    await driver.ask(question.query)
    await driver.press("down")
    results = driver.results
    wanted = (
        {results.results[row].path for row in results.visible_rows()} if results.two_lines else ()
    )
    first = results.current
    await driver.until(
        lambda: (
            {*wanted, *([first.path] if first else [])}
            <= driver.explore.controller.shown.snippets.keys()
        )
    )
    why = driver.explore.query_one(WhyPane)
    await driver.until(lambda: first is None or why.snippet is not None)


async def two_pass(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, TWO_PASS)


@sizes(WIDE, NARROW, TINY)
def test_nothing_typed(looks_as_before: Looks, size: Size) -> None:
    assert looks_as_before(nothing, size)


@sizes(WIDE, NARROW, TINY)
def test_two_pass(looks_as_before: Looks, size: Size) -> None:
    assert looks_as_before(two_pass, size)


@sizes(WIDE, NARROW)
def test_exact_title_in_a_flat_search(looks_as_before: Looks, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask(driver, FLAT)

    assert looks_as_before(play, size)


def test_fast(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.press("escape", "m", "m")
        await ask(driver, FAST)

    assert looks_as_before(play, NARROW)


@sizes(WIDE, NARROW, TINY)
def test_reading_a_document(looks_as_before: Looks, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask(driver, FLAT)
        await driver.press("enter")
        await driver.until_focused(PreviewPane)
        pane = driver.explore.query_one(PreviewPane)
        await driver.until(lambda: pane.laid_out and pane.laid_out.width == pane.text_width)
        await driver.press("n")

    assert looks_as_before(play, size)


@sizes(WIDE, TINY)
def test_an_entity_card(looks_as_before: Looks, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        await driver.press("e", "enter")
        await driver.until_focused(EntityCard)

    assert looks_as_before(play, size)


@sizes(WIDE, NARROW)
def test_a_path_that_is_typed(looks_as_before: Looks, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        await driver.press("f")
        await driver.until_focused(PathLine)
        driver.explore.query_one(PathLine).value = BELOW.path
        await driver.until(lambda: driver.view.scope.path == BELOW.path)
        await driver.until(lambda: driver.status.hint)
        await driver.until(lambda: driver.explore.query_one(WhyPane).snippet is not None)
        paths = driver.paths[:10] if driver.results.two_lines else []
        snippets = driver.explore.controller.shown.snippets
        await driver.until(lambda: set(paths) <= snippets.keys())

    assert looks_as_before(play, size)


def test_nothing_found(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.press("escape", "m", "m")
        await driver.ask(NOTHING.query)

    assert looks_as_before(play, NARROW)


@sizes(WIDE, TINY)
def test_help(looks_as_before: Looks, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        await driver.press("question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))

    assert looks_as_before(play, size)


@sizes(NARROW, TINY)
def test_the_first_screen(snap_compare: Compare, size: Size) -> None:
    why = "/home/ida is no knowledge base: go to a folder of markdown, or run `kbx demo`"
    app = KbxApp(None, bases=RecordedBases(RecordedKb("demo")), why=why)

    async def run_before(pilot: Pilot[Any]) -> None:
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=run_before)


def test_rows_that_moved(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        await driver.press(*["right_square_bracket"] * 7)
        await driver.until_shown(ResultList, "▲", "▼")
        await driver.until(lambda: driver.alpha == 0.85)
        paths = [driver.paths[row] for row in driver.results.visible_rows()]
        snippets = driver.explore.controller.shown.snippets
        await driver.until(lambda: set(paths) <= snippets.keys())

    assert looks_as_before(play, WIDE)


def test_entities_pinned_and_muted(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        await driver.press("e", "minus")
        await driver.until_shown(EntityList, "muted by you")
        await driver.press("G", "plus")
        await driver.until_shown(EntityList, "pinned by you")
        paths = [driver.paths[row] for row in driver.results.visible_rows()]
        snippets = driver.explore.controller.shown.snippets
        await driver.until(lambda: set(paths) <= snippets.keys())

    assert looks_as_before(play, WIDE)


def test_a_light_theme(looks_as_before: Looks) -> None:
    assert looks_as_before(two_pass, WIDE, theme="textual-light")


def test_the_colours_of_the_terminal(looks_as_before: Looks) -> None:
    assert looks_as_before(two_pass, NARROW, theme="ansi-dark")


def test_entities_in_a_tiny_terminal(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        await driver.press("tab")
        await driver.until_focused(EntityList)

    assert looks_as_before(play, TINY)


def test_why_in_a_tiny_terminal(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        await driver.press("x")
        await driver.until_focused(WhyPane)

    assert looks_as_before(play, TINY)


def test_an_error(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await two_pass(driver, kb)
        kb.fault = IndexFault("the index in .kbx/index is damaged; `kbx index --full` mends it")
        driver.explore.query_one(QueryLine).value = "gangway"
        await driver.until(lambda: driver.status.error)

    assert looks_as_before(play, NARROW)


def test_indexing(looks_as_before: Looks) -> None:
    kb = RecordedKb("demo", vector_share=0.25, complete=False)
    kb.progress = Progress("vectors", 79, 317, 12.0, 26.0, True)

    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.until(lambda: driver.status.progress)
        await two_pass(driver, kb)

    assert looks_as_before(play, WIDE, kb)


def test_text_that_would_act(looks_as_before: Looks) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask(driver, ACTING)
        note = driver.paths.index("memory/notes/note.md")
        await driver.press(*["down"] * note, "enter")
        await driver.until_focused(PreviewPane)
        pane = driver.explore.query_one(PreviewPane)
        await driver.until(lambda: pane.laid_out and pane.laid_out.width == pane.text_width)

    assert looks_as_before(play, WIDE, RecordedKb("hostile"))
