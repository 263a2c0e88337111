"""The screens that a person would look at, on recorded answers."""

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Protocol

import pytest
from textual.pilot import Pilot

from kbx_tui.evaluation.judgments import JudgedQuery, TuningSnapshot
from kbx_tui.search.query_history import PastQuery
from kbx_tui.search.request import SearchRequest
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.boxes.why_not_box import AnswerList, DocumentList
from kbx_tui.tui.comparing import LostAndGained
from kbx_tui.tui.dedup.panes import DiffPane, DraftList
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.experts.screen import ExpertList, Experts, TopicLine
from kbx_tui.tui.explore.entities import EntityCard
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.judging.blind import BlindModel, BlindScreen
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.tune.panes import CurvePane, SnapshotList
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, TINY, Driver, Size, is_counted
from tests.functional.tui.watched import Watched
from tests.snapshots.recorded_kb import FLAT, TOPIC, TWO_PASS, RecordedBases, RecordedKb

WIDE = (140, 40)

Play = Callable[[Driver, RecordedKb], Awaitable[None]]


class SnapCompare(Protocol):
    def __call__(
        self,
        app: KbxApp,
        *,
        terminal_size: Size,
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch, own_collector: None) -> None:
    """Let nothing move while a picture is taken."""
    for name in ("NO_COLOR", "COLORTERM", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ResultList, "SETTLE_SECONDS", 3600.0)
    monkeypatch.setattr(ExpertList, "SETTLE_SECONDS", 3600.0)
    monkeypatch.setattr(StatusLine, "NOTICE_SECONDS", 3600.0)


async def ask(driver: Driver, query: str) -> None:
    """Type a query, go to the results, and wait for snippets and explanation."""
    await driver.ask(query)
    await driver.press("down")
    results = driver.results
    paths = {results.rows[row].path for row in results.rows_with_passage()}
    if results.current is not None:
        paths.add(results.current.path)
    await driver.until(lambda: paths <= driver.explore.model.displayed.snippets.keys())
    why = driver.explore.query_one(WhyPane)
    await driver.until(lambda: results.current is None or why.snippet is not None)


async def search(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, TWO_PASS)


async def read_a_document(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, FLAT)
    await driver.press("enter")
    await driver.until_focused(PreviewPane)
    pane = driver.explore.query_one(PreviewPane)
    await driver.until(lambda: pane.preview and pane.laid_out.width == pane.text_width)


async def open_a_card(driver: Driver, kb: RecordedKb) -> None:
    await search(driver, kb)
    await driver.press("e", "enter")
    await driver.until_focused(EntityCard)


async def compare_settings(driver: Driver, kb: RecordedKb) -> None:
    await search(driver, kb)
    await driver.press("d", *["right_square_bracket"] * 10)
    await driver.until_shown(LostAndGained, "moved")
    await driver.until(lambda: driver.state.alpha == 1.0)


async def ask_why_not(driver: Driver, kb: RecordedKb) -> None:
    await search(driver, kb)
    await driver.press("w")
    await driver.write("rehearsal")
    await driver.until_shown(DocumentList, "rehearsal")
    await driver.press("enter")
    await driver.until(lambda: driver.app.screen.query_one(AnswerList).display)


async def review_drafts(driver: Driver, kb: RecordedKb) -> None:
    kb.drafts.save_recorded()
    await driver.press("f2")
    await driver.until(lambda: isinstance(driver.app.screen, Dedup))
    await driver.press("down")  # leaves the draft line
    reviewing = driver.explore.session.review
    drafts = driver.app.screen.query_one(DraftList)
    await driver.until(lambda: len(drafts.rows) == 7 and not reviewing.is_checking)
    await driver.until(lambda: driver.app.screen.query_one(DiffPane).lines)


async def ask_for_experts(driver: Driver, kb: RecordedKb) -> None:
    await driver.press("f3")
    await driver.until(lambda: isinstance(driver.app.screen, Experts))
    driver.app.screen.query_one(TopicLine).value = TOPIC
    await driver.until(lambda: driver.app.screen.query_one(ExpertList).view is not None)
    await driver.press("down", "K")  # the recorded answer ranks all kinds
    await driver.until_shown(ExpertList, "5 experts, most facts first")
    driver.app.screen.query_one(StatusLine).clear_notice()


def graded(kb: RecordedKb, query: str) -> JudgedQuery:
    """Return a judged query: some of the first results are relevant, the best ones by far."""
    ranking = kb.rank(kb.retrieve(SearchRequest(query)))
    paths = [ranking.evidence.paths[row] for row in ranking.best(20).tolist()]
    grades = {path: (3, 0, 1, 0, 2)[place % 5] for place, path in enumerate(paths)}
    return JudgedQuery(query, query, "judged", grades, frozenset())


async def tune(driver: Driver, kb: RecordedKb) -> None:
    """Open the tune mode with judged queries, past queries and a snapshot, and move alpha."""
    kb.judged = (graded(kb, TWO_PASS), graded(kb, FLAT))
    kb.past_queries = tuple(PastQuery(query) for query in (TWO_PASS, FLAT))
    kb.snapshots_of_knobs = (TuningSnapshot("2026-03-17T09:41:05Z", {"alpha": 0.5}),)
    driver.explore.session.judging.start()
    await driver.press("f4")
    tuning = driver.explore.session.tune
    await driver.until(lambda: tuning.curve is not None)
    await driver.press(*["left_square_bracket"] * 5)
    await driver.until_shown(CurvePane, "alpha .25 now")
    await driver.until(lambda: tuning.p is not None)
    await driver.until(lambda: tuning.past is not None and len(tuning.past.observed.queries) == 2)
    rows = driver.app.screen.query_one(SnapshotList)
    await driver.until(lambda: rows.rows and rows.rows[0].difference is not None)


async def compare_blind(driver: Driver, kb: RecordedKb) -> None:
    """Begin a round in which the list of A is first."""
    await tune(driver, kb)
    await driver.press(*["right_square_bracket"] * 15)
    await driver.until(lambda: driver.state.alpha == 1.0)
    await driver.until_shown(SnapshotList, "now wins 1, ties 1")  # compared with today's settings
    session = driver.explore.session
    pinned, current = session.judging.pinned, session.explore.settings
    assert pinned is not None
    assert current is not None
    model = BlindModel(
        session.client, session.judging, "", (pinned.tuning, current.tuning), random=Random(2)
    )
    await driver.app.push_screen(BlindScreen(model))
    await driver.until(lambda: model.question is not None or model.votes is not None)


SCREENS: dict[str, tuple[Play, Size, str]] = {
    "explore-wide": (search, WIDE, ""),
    "explore-narrow": (search, NARROW, ""),
    "explore-tiny": (search, TINY, ""),
    "explore-light": (search, WIDE, "textual-light"),
    "document": (read_a_document, WIDE, ""),
    "entity-card": (open_a_card, WIDE, ""),
    "comparing": (compare_settings, WIDE, ""),
    "why-not": (ask_why_not, WIDE, ""),
    "dedup": (review_drafts, WIDE, ""),
    "experts": (ask_for_experts, WIDE, ""),
    "tune": (tune, WIDE, ""),
    "blind": (compare_blind, WIDE, ""),
}


@pytest.mark.parametrize(("play", "size", "theme"), SCREENS.values(), ids=SCREENS)
def test_screen(play: Play, size: Size, theme: str, snap_compare: SnapCompare) -> None:
    kb = RecordedKb()
    app = KbxApp(kb.root, bases=RecordedBases(kb), debounce=0.0)

    async def run_before(pilot: Pilot[Any]) -> None:
        driver = Driver(app, pilot, Watched())
        app.theme = theme or app.theme
        await driver.until(lambda: is_counted(driver))
        await play(driver, kb)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=run_before)
