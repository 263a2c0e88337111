"""Snapshots of the explore mode on recorded answers, in the three layouts."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from kbx_tui.errors import IndexFault
from kbx_tui.index.build.progress import Progress
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.explore.entity_card import EntityCard
from kbx_tui.tui.explore.entity_list import EntityList
from kbx_tui.tui.explore.inputs import PathLine, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.help_screen import Help
from tests.functional.tui.driving import NARROW, TINY, Driver, Size
from tests.snapshots.questions import ACTING, BELOW, DATED, FAST, FLAT, NOTHING, TWO_PASS, Question
from tests.snapshots.recorded_kb import RecordedBases, RecordedKb
from tests.snapshots.scenarios import WIDE, MatchesSnapshot, SnapCompare, sizes


async def do_nothing(driver: Driver, kb: RecordedKb) -> None:
    """Leave the app as it starts."""


async def ask(driver: Driver, question: Question) -> None:
    """Type a query, go to the results, and wait for snippets and explanation."""
    await driver.ask(question.query)
    await driver.press("down")
    await until_snippets(driver)
    why = driver.explore.query_one(WhyPane)
    await driver.until(lambda: driver.results.current is None or why.snippet is not None)


async def until_snippets(driver: Driver) -> None:
    """Wait for the snippets of the visible results and of the current one."""
    results = driver.results
    rows = results.visible_rows() if results.has_snippet_lines else []
    paths = {results.rows[row].path for row in rows}
    if results.current is not None:
        paths.add(results.current.path)
    await driver.until(lambda: paths <= driver.explore.model.displayed.snippets.keys())


async def search_in_two_passes(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, TWO_PASS)


@sizes(WIDE, NARROW, TINY)
def test_screen_before_a_query(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    assert matches_snapshot(do_nothing, size)


async def search_for_a_time(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, DATED)


@sizes(WIDE, NARROW, TINY)
def test_search_for_a_time(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    assert matches_snapshot(search_for_a_time, size)


@sizes(WIDE, NARROW, TINY)
def test_two_pass_search(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    assert matches_snapshot(search_in_two_passes, size)


@sizes(WIDE, NARROW)
def test_flat_search_with_an_exact_title(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask(driver, FLAT)

    assert matches_snapshot(play, size)


def test_fast_search(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.press("escape", "m", "m")
        await ask(driver, FAST)

    assert matches_snapshot(play, NARROW)


@sizes(WIDE, NARROW, TINY)
def test_reading_a_document(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask(driver, FLAT)
        await driver.press("enter")
        await driver.until_focused(PreviewPane)
        pane = driver.explore.query_one(PreviewPane)
        await driver.until(lambda: pane.preview and pane.laid_out.width == pane.text_width)
        await driver.press("n")

    assert matches_snapshot(play, size)


@sizes(WIDE, TINY)
def test_entity_card(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        await driver.press("e", "enter")
        await driver.until_focused(EntityCard)

    assert matches_snapshot(play, size)


@sizes(WIDE, NARROW)
def test_completing_a_path(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        await driver.press("f")
        await driver.until_focused(PathLine)
        driver.explore.query_one(PathLine).value = BELOW.path
        await driver.until(lambda: driver.view.scope.path == BELOW.path)
        await driver.until(lambda: driver.status.hint)
        await driver.until(lambda: driver.explore.query_one(WhyPane).snippet is not None)
        await until_snippets(driver)

    assert matches_snapshot(play, size)


def test_search_without_results(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.press("escape", "m", "m")
        await driver.ask(NOTHING.query)

    assert matches_snapshot(play, NARROW)


@sizes(WIDE, TINY)
def test_help_screen(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        await driver.press("question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))

    assert matches_snapshot(play, size)


@sizes(NARROW, TINY)
def test_welcome_screen(snap_compare: SnapCompare, size: Size) -> None:
    why = "/home/ida is not a knowledge base: change to a folder of markdown, or run `kbx demo`"
    app = KbxApp(None, bases=RecordedBases(RecordedKb("demo")), why=why)

    async def run_before(pilot: Pilot[Any]) -> None:
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=run_before)


def test_rows_that_moved_after_a_change_of_alpha(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        await driver.press(*["right_square_bracket"] * 7)
        await driver.until_shown(ResultList, "▲", "▼")
        await driver.until(lambda: driver.alpha == 0.85)
        await until_snippets(driver)

    assert matches_snapshot(play, WIDE)


def test_pinned_and_muted_entities(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        await driver.press("e", "minus")
        await driver.until_shown(EntityList, "muted by you")
        await driver.press("G", "plus")
        await driver.until_shown(EntityList, "pinned by you")
        await until_snippets(driver)

    assert matches_snapshot(play, WIDE)


def test_light_theme(matches_snapshot: MatchesSnapshot) -> None:
    assert matches_snapshot(search_in_two_passes, WIDE, theme="textual-light")


def test_theme_of_terminal_colours(matches_snapshot: MatchesSnapshot) -> None:
    assert matches_snapshot(search_in_two_passes, NARROW, theme="ansi-dark")


def test_entities_in_a_tiny_terminal(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        await driver.press("tab")
        await driver.until_focused(EntityList)

    assert matches_snapshot(play, TINY)


def test_why_in_a_tiny_terminal(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        await driver.press("x")
        await driver.until_focused(WhyPane)

    assert matches_snapshot(play, TINY)


def test_error_message(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await search_in_two_passes(driver, kb)
        kb.fault = IndexFault("the index in .kbx/index is damaged; `kbx index --full` rebuilds it")
        driver.explore.query_one(QueryLine).value = "gangway"
        await driver.until(lambda: driver.status.error)

    assert matches_snapshot(play, NARROW)


def test_indexing_progress(matches_snapshot: MatchesSnapshot) -> None:
    kb = RecordedKb("demo", vector_share=0.25, complete=False)
    # Not searchable, or the app would search again at a moment of its own, even in the picture.
    kb.progress = Progress("vectors", 79, 317, 12.0, 26.0, False)

    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.until(lambda: driver.status.progress)
        await search_in_two_passes(driver, kb)

    assert matches_snapshot(play, WIDE, kb)


def test_text_with_escape_sequences(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask(driver, ACTING)
        note = driver.paths.index("memory/notes/note.md")
        await driver.press(*["down"] * note, "enter")
        await driver.until_focused(PreviewPane)
        pane = driver.explore.query_one(PreviewPane)
        await driver.until(lambda: pane.preview and pane.laid_out.width == pane.text_width)

    assert matches_snapshot(play, WIDE, RecordedKb("hostile"))
