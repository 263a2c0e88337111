"""Every state of judging and tuning at four sizes, as text: one app per state, which is resized."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from kbx_tui.search.query_history import PastQuery
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.boxes.why_not_box import AnswerList, DocumentList
from kbx_tui.tui.comparing.screen import LostAndGained
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.judging.blind import BlindModel, BlindScreen
from kbx_tui.tui.judging.judging_screen import SaveSettings
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.tune.panes import CurvePane, DecisionPane, QueryTable, SnapshotList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import Driver, Size, is_counted, rendered_text
from tests.functional.tui.watched import Watched
from tests.snapshots.questions import DATED, FLAT, TWO_PASS
from tests.snapshots.recorded_kb import RecordedBases, RecordedKb
from tests.snapshots.scenarios import WIDE
from tests.snapshots.test_modes import graded, tune

SIZES: tuple[Size, ...] = ((200, 60), WIDE, (80, 24), (50, 16))

Play = Callable[[Driver, RecordedKb], Awaitable[None]]


class TextFile(SingleFileSnapshotExtension):  # type: ignore[misc]  # syrupy is untyped
    """A snapshot in a file of its own that can be read as it is."""

    _write_mode = WriteMode.TEXT
    _file_extension = "txt"


@pytest.fixture
def as_text(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(TextFile)


async def screens(play: Play, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what the app shows after `play`, at each size."""
    monkeypatch.setattr(ResultList, "SETTLE_SECONDS", 3600.0)
    monkeypatch.setattr(StatusLine, "NOTICE_SECONDS", 3600.0)
    engine = RecordedKb("demo")
    app = KbxApp(engine.root, bases=RecordedBases(engine), debounce=0.0)
    shown = []
    async with app.run_test(size=WIDE) as pilot:
        driver = Driver(app, pilot, Watched())
        await driver.until(lambda: is_counted(driver))
        await play(driver, engine)
        for width, height in SIZES:
            await pilot.resize_terminal(width, height)
            await driver.until(lambda: app.screen.size == (width, height))  # noqa: B023
            await driver.until(lambda: is_preview_shown(driver))
            await pilot.pause()
            text = "\n".join(line.rstrip() for line in rendered_text(app).splitlines())
            shown.append(f"{width} x {height}\n{text}\n")
    return "\n".join(shown)


def is_preview_shown(driver: Driver) -> bool:
    """Return whether the live preview, if there is room for it, shows the current result."""
    pane, current = driver.explore.query_one(PreviewPane), driver.results.current
    if not driver.explore.panes.is_live or current is None:
        return True
    return pane.path == current.path and pane.laid_out.width == pane.text_width


async def ask(driver: Driver, kb: RecordedKb) -> None:
    """Show the results of a query in two passes, with judged queries."""
    kb.judged = (graded(kb, FLAT),)
    driver.explore.session.judging.start()
    await driver.ask(TWO_PASS.query)
    await driver.press("down")


async def grade(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, kb)
    await driver.press("3", "0", "full_stop", "2")
    await driver.until_shown(ResultList, "4 of the first 10 judged")
    await driver.until(lambda: driver.explore.session.judging.measured is not None)


async def compare(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, kb)
    await driver.press("d", *["right_square_bracket"] * 10)
    await driver.until_shown(LostAndGained, "moved")
    await driver.until(lambda: driver.state.alpha == 1.0)


async def find_document(driver: Driver, kb: RecordedKb) -> None:
    await ask(driver, kb)
    await driver.press("w")
    await driver.write("rehearsal")
    await driver.until_shown(DocumentList, "rehearsal")


async def ask_why_not(driver: Driver, kb: RecordedKb) -> None:
    await find_document(driver, kb)
    await driver.press("enter")
    await driver.until(lambda: driver.app.screen.query_one(AnswerList).display)


async def optimise(driver: Driver, kb: RecordedKb) -> None:
    await tune(driver, kb)
    await driver.press("O")
    await driver.until_shown(DecisionPane, "Optimised")


async def save(driver: Driver, kb: RecordedKb) -> None:
    await tune(driver, kb)
    await driver.press("S")
    await driver.until(lambda: isinstance(driver.app.screen, SaveSettings))


async def begin_blind(driver: Driver, kb: RecordedKb) -> BlindModel:
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
    await driver.app.push_screen(BlindScreen(model, driver.app.keymap))
    await driver.until(lambda: model.question is not None or model.votes is not None)
    return model


async def answer_blind(driver: Driver, kb: RecordedKb) -> None:
    await begin_blind(driver, kb)


async def end_blind(driver: Driver, kb: RecordedKb) -> None:
    model = await begin_blind(driver, kb)
    while model.question is not None:
        await driver.press("2")
        await driver.until(lambda: model.question is not None or model.votes is not None)
    table = driver.app.screen_stack[-2].query_one(QueryTable)
    await driver.until(lambda: "preferred" in str(table.border_subtitle))


async def tune_without_judgments(driver: Driver, kb: RecordedKb) -> None:
    kb.past_queries = (PastQuery(DATED.query),)
    await driver.press("f4")
    await driver.until_shown(CurvePane, "With judged queries")
    await driver.until(lambda: driver.explore.session.tune.past_queries.total is not None)


STATES: dict[str, Play] = {
    "tune": tune,
    "tune-without-judgments": tune_without_judgments,
    "advice": optimise,
    "save": save,
    "grading": grade,
    "compare": compare,
    "why-not-documents": find_document,
    "why-not-answer": ask_why_not,
    "blind": answer_blind,
    "blind-end": end_blind,
}


@pytest.mark.parametrize("play", STATES.values(), ids=STATES)
async def test_state_at_four_sizes(
    play: Play, as_text: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await screens(play, monkeypatch) == as_text
