"""The tune mode on the real engine: figures, curve, past queries, snapshots, advice, kbx.toml."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.evaluation.judgments import JudgedQuery, read_judgments
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.query_history import QueryHistory
from kbx_tui.search.request import Preset
from kbx_tui.tui.explore.inputs import Knobs, QueryLine
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.judging.live_measure import EvidenceKeeper
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.shell.overlay import Confirm, ConfirmText
from kbx_tui.tui.tune.model import TuneModel
from kbx_tui.tui.tune.panes import CurvePane, DecisionPane, QueryTable, SnapshotList, ThresholdPane
from kbx_tui.tui.tune.screen import Tune
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running

TALL = (140, 40)
RUTH = "Ruth Castellane notice to operators"
PAGE = "memory/people/alice-chen.md"


@asynccontextmanager
async def tuning(root: Path, size: Size = TALL) -> AsyncIterator[Driver]:
    """Run the app in the tune mode, with the curve of the judged queries if there are any."""
    async with running(root, size) as driver:
        await driver.press("f4")
        await driver.until(lambda: isinstance(driver.app.screen, Tune))
        await driver.until(lambda: model(driver).past_total is not None)
        await driver.until(lambda: model(driver).curve or not driver_queries(driver))
        yield driver


def model(driver: Driver) -> TuneModel:
    return driver.explore.session.tune


def driver_queries(driver: Driver) -> list[str]:
    queries = driver.explore.session.judging.queries
    return [query.text for query in queries if query.is_measurable]


def judge_as_labelled(root: Path) -> None:
    """Replace the judgments of a base by the 60 labelled queries of the demo."""
    folder = Path(__file__).parents[1] / "search" / "demo_judgments"
    lines = [
        json.dumps({"query": query.text, "path": path, "grade": grade})
        for query in read_judgments(folder)
        for path, grade in query.grades.items()
    ]
    (root / ".kbx" / "judgments.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


async def test_judged_queries_are_measured_without_searching(judged_demo: Path) -> None:
    async with tuning(judged_demo) as driver:
        await driver.until_shown(
            QueryTable, "12 judged queries · order ", " of 1.00 (", " % graded"
        )
        await driver.until_shown(QueryTable, RUTH, "?: not sure")
        assert "→" not in driver.text_of(QueryTable)  # it would repeat every figure
        await driver.until_shown(CurvePane, "nDCG@10 over alpha", "alpha .50 now ", "●")
        await driver.press("question_mark")
        await driver.until_shown(HelpText, "nDCG@10", "How good the first ten results are")
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.app.screen, Tune))
        await driver.until(lambda: model(driver).p is not None)
        before = driver.watched.calls["retrieve"]
        await driver.press("i", "i", "i", "i", *["right_square_bracket"] * 3, "left_curly_bracket")
        await driver.until_shown(QueryTable, "vs A: ", "better", "worse", "same · S saves")
        await driver.until_shown(QueryTable, "A → now")
        await driver.press("tab", "right", "I")
        await driver.until_shown(CurvePane, "judged@10 over parent score", "max now ")
        assert driver.watched.calls["retrieve"] == before
        driver.explore.model.update(mode="fast")
        await driver.until_shown(CurvePane, "A fast search has no knobs")
        await driver.press("S")
        await driver.until_shown(StatusLine, "a fast search is no setting of kbx.toml")


async def test_keys_and_clicks_move_the_knob_of_the_curve(judged_demo: Path) -> None:
    async with tuning(judged_demo) as driver:
        await driver.press("tab", "right", "L")
        await driver.until_shown(CurvePane, "alpha .56 now ")
        assert driver.state.alpha == 0.56
        await driver.press("home")
        await driver.until_shown(CurvePane, "alpha .00 now ")
        await driver.press("right")
        await driver.until_shown(CurvePane, "alpha .05 now ")
        await driver.press("left", "right")  # faster than a curve can be drawn
        await driver.until_shown(CurvePane, "alpha .05 now ")
        assert driver.state.alpha == 0.05
        pane = driver.app.screen.query_one(CurvePane)
        await driver.pilot.click(CurvePane, offset=(pane.size.width - 1, 4))
        await driver.until_shown(CurvePane, "alpha 1.00 now ")
        await driver.press("i")
        await driver.until_shown(CurvePane, "nDCG@10 over threshold", "threshold .50 now ")
        await driver.press("f1")
        await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.until_shown(Knobs, "1.00")  # explore shows what was moved here
        await driver.press("escape", "f4", "z")
        await driver.until(lambda: driver.state.alpha == 0.5)


async def test_past_queries_are_measured_again_after_a_change(judged_demo: Path) -> None:
    history = QueryHistory(judged_demo)
    for query in ("rollback plan", "what did Alice Chen decide", "who owns the migration"):
        history.add(query)
    async with tuning(judged_demo) as driver:
        await driver.until_shown(ThresholdPane, "best entity scores of 3 past queries", "two-pass")
        await driver.press(*["right_curly_bracket"] * 10)
        await driver.until_shown(ThresholdPane, "threshold 1.00", "A .50")
        observed = model(driver).past
        assert observed is not None
        flips = observed.observed.flips(0.5, 1.0)
        shown = "no query changes" if not flips else "change"
        await driver.until_shown(ThresholdPane, shown)
        page = judged_demo / "memory" / "notes" / "new.md"
        page.write_text("# Rollbacks\n\nAlice decided about rollbacks again.\n", encoding="utf-8")
        before = model(driver).curve
        driver.explore.session.index_sync.index(maybe_changed=["memory/notes/new.md"])
        await driver.until(lambda: model(driver).curve not in (None, before))
        await driver.until_shown(CurvePane, "alpha .50 now ")
        await driver.until_shown(ThresholdPane, "3 past queries")


async def test_snapshots_are_kept_compared_pinned_and_dropped(judged_demo: Path) -> None:
    async with tuning(judged_demo) as driver:
        await driver.press("r")
        await driver.until_shown(SnapshotList, "Snapshots (1)", "the same results")
        await driver.press(*["left_square_bracket"] * 9, "r")
        await driver.until_shown(SnapshotList, "Snapshots (2)", "now wins ", "p ")
    async with tuning(judged_demo) as driver:  # they survive the app
        await driver.until_shown(SnapshotList, "Snapshots (2)", "alpha .05")
        driver.app.screen.set_focus(driver.app.screen.query_one(SnapshotList))
        await driver.press("A")
        await driver.until(lambda: pinned_alpha(driver) == 0.05)
        await driver.until_shown(SnapshotList, "A two-pass, alpha .05")
        await driver.press("enter")
        await driver.until(lambda: driver.state.alpha == 0.05)
        await driver.press("z")
        await driver.until(lambda: driver.state.alpha == 0.5)
        await driver.press("delete")
        await driver.until_shown(SnapshotList, "Snapshots (1)")
        await driver.press("z")
        await driver.until_shown(SnapshotList, "Snapshots (2)", "alpha .05")
        await driver.press("home", "delete")
        await driver.until_shown(SnapshotList, "Snapshots (1)")
    with KnowledgeBase(judged_demo) as kb:
        (left,) = kb.tuner.snapshots.read()
        assert left.tuning == kb.tuning()
        assert left.generation is not None
        assert left.model == "bundled"


def pinned_alpha(driver: Driver) -> float | None:
    pinned = driver.explore.session.judging.pinned
    return None if pinned is None else pinned.tuning.alpha


async def test_optimising_says_keep_where_nothing_wins(judged_demo: Path) -> None:
    async with tuning(judged_demo) as driver:
        await driver.press("O")
        await driver.until_shown(DecisionPane, "Keep what you have")
        await driver.press("escape")
        await driver.until(lambda: not driver.app.screen.query_one(DecisionPane).display)
        assert driver.state.alpha == 0.5
        driver.app.screen.set_focus(driver.app.screen.query_one(QueryTable))
        await driver.press("down", "enter")  # opens the query in explore
        await driver.until(lambda: isinstance(driver.app.screen, Explore))
        await driver.until(lambda: driver.explore.view is not None)
        assert driver.explore.query_one(QueryLine).value.startswith(RUTH)


async def test_offered_settings_are_taken_saved_and_taken_back(demo_copy: Path) -> None:
    judge_as_labelled(demo_copy)
    toml = demo_copy / "kbx.toml"
    toml.write_text("# ours\n[search]\nhierarchy_alpha = 1.0\n", encoding="utf-8")
    async with tuning(demo_copy) as driver:
        await driver.until(lambda: len(driver_queries(driver)) >= 60)
        await driver.press("O", "escape")  # it can be stopped
        await driver.until(lambda: not driver.app.screen.query_one(DecisionPane).display)
        assert model(driver).progress is None
        await driver.press("left_square_bracket")
        await driver.until_shown(CurvePane, "alpha .95 now ")
        assert model(driver).advice is None
        await driver.press("z")
        await driver.until_shown(CurvePane, "alpha 1.00 now ")
        await driver.press("O")
        await driver.until_shown(DecisionPane, "Change: +", "hierarchy_alpha 1.0 →")
        await driver.press("enter")
        await driver.until(lambda: driver.state.alpha < 1.0)
        await driver.until_shown(QueryTable, "vs A: ")
        taken = driver.state.alpha
        await driver.press("S")
        await driver.until(lambda: isinstance(driver.app.screen, Confirm))
        assert "1.0" in toml.read_text()
        await driver.press("enter")
        await driver.until(lambda: f"hierarchy_alpha = {taken}" in toml.read_text())
        await driver.until(lambda: driver.explore.model.defaults.alpha == taken)
        assert toml.read_text().startswith("# ours\n")
        await driver.press("z")
        await driver.until(lambda: "hierarchy_alpha = 1.0" in toml.read_text())
        await driver.press("z")
        await driver.until(lambda: driver.state.alpha == 1.0)


@pytest.mark.parametrize("size", [TALL, NARROW, TINY])
async def test_without_judged_queries_it_says_what_to_do(demo_copy: Path, size: Size) -> None:
    (demo_copy / ".kbx" / "judgments.jsonl").unlink(missing_ok=True)
    async with tuning(demo_copy, size) as driver:
        await driver.until_shown(QueryTable, "No query is judged yet", "f1", "kbx demo")
        await driver.press("O")
        await driver.until_shown(StatusLine, "nothing to optimise by")


async def test_one_judged_query_is_measured_without_an_interval(demo_copy: Path) -> None:
    (demo_copy / ".kbx" / "judgments.jsonl").unlink(missing_ok=True)
    with KnowledgeBase(demo_copy) as kb:
        kb.judgments.add("alice chen", PAGE, 0)
    async with tuning(demo_copy) as driver:
        await driver.until_shown(CurvePane, "No judged query has a relevant document")
        with KnowledgeBase(demo_copy) as kb:
            kb.judgments.add("alice chen", PAGE, 3)
        await driver.press("f1")
        await driver.until(lambda: isinstance(driver.app.screen, Explore))
        await driver.press("f4")  # reads what others have graded
        await driver.until_shown(QueryTable, "1 judged query · order ")
        await driver.until_shown(CurvePane, "alpha .50 now ", "no other value is better")
        await driver.press("O")
        await driver.until_shown(DecisionPane, "1 judged queries are too few")


@pytest.mark.parametrize("size", [TALL, NARROW, TINY])
async def test_tab_reaches_every_pane_at_every_size(judged_demo: Path, size: Size) -> None:
    async with tuning(judged_demo, size) as driver:
        for pane in (CurvePane, ThresholdPane, SnapshotList, QueryTable):
            await driver.press("tab")
            await driver.until_focused(pane)
            assert driver.app.screen.query_one(pane).region.height > 3
        await driver.press("shift+tab")
        await driver.until_focused(SnapshotList)


async def test_keys_are_answered_while_judged_queries_are_read(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_as_labelled(demo_copy)
    retrieve = EvidenceKeeper._retrieve
    is_last, last = asyncio.Event(), asyncio.Event()
    numbers = count(1)

    async def wait_for_the_last(
        self: EvidenceKeeper, query: JudgedQuery, preset: Preset
    ) -> Evidence:
        if next(numbers) == 50:
            is_last.set()
            await last.wait()
        return await retrieve(self, query, preset)

    monkeypatch.setattr(EvidenceKeeper, "_retrieve", wait_for_the_last)
    async with running(demo_copy, TALL) as driver:
        await driver.press("f4")
        judging = driver.explore.session.judging
        await driver.until(lambda: len(driver.app.screen.query_one(QueryTable).rows) == 60)
        await driver.until(lambda: judging.reading.is_running)
        await driver.press("down", "down")
        assert driver.app.screen.query_one(QueryTable).cursor == 2
        await driver.until(is_last.is_set, seconds=240.0)
        assert judging.measured is None or len(judging.measured.queries) < 60
        await driver.press("left_square_bracket")  # measured on those that have been read
        await driver.until_shown(CurvePane, "alpha .45 now ")
        assert judging.reading.is_running
        last.set()
        await driver.until(lambda: not judging.reading.is_running, seconds=240.0)
        await driver.until(lambda: judging.measured and len(judging.measured.queries) == 60)


BEFORE = "# mine\n[search]\nhierarchy_entity_threshold = 0.5  # as measured\n"


async def propose(driver: Driver) -> None:
    await driver.ask(QUESTION)
    await driver.press("down", "right_square_bracket")
    await driver.until(lambda: driver.alpha == 0.55)
    await driver.press("S")
    await driver.until(lambda: isinstance(driver.app.screen, Confirm))


async def test_change_is_shown_written_and_undone(demo_copy: Path) -> None:
    file = demo_copy / "kbx.toml"
    file.write_text(BEFORE, encoding="utf-8")
    async with running(demo_copy, NARROW) as driver:
        await propose(driver)
        await driver.until_shown(ConfirmText, "+hierarchy_alpha = 0.55", "enter writes")
        assert file.read_text(encoding="utf-8") == BEFORE
        sync = driver.explore.session.index_sync
        run = sync.run
        await driver.press("enter")
        await driver.until_shown(StatusLine, "saved to larkwater/kbx.toml; z undoes it")
        await driver.until(lambda: sync.run is not run and not sync.is_indexing)
        # not "1 change on disk indexed"
        await driver.until_shown(StatusLine, "saved to larkwater/kbx.toml")
        text = file.read_text(encoding="utf-8")
        assert text == BEFORE + "hierarchy_alpha = 0.55\n"
        assert driver.explore.session.judging.pinned == driver.explore.model.settings
        await driver.press("S")
        await driver.until_shown(StatusLine, "nothing to save")
        await driver.press("z")
        await driver.until_shown(StatusLine, "kbx.toml is as before again")
        assert file.read_text(encoding="utf-8") == BEFORE
        assert driver.alpha == 0.55
        await driver.press("z")
        await driver.until(lambda: driver.alpha == 0.5)


async def test_nothing_is_written_if_cancelled_changed_meanwhile_or_broken(demo_copy: Path) -> None:
    file = demo_copy / "kbx.toml"
    before = file.read_bytes()
    async with running(demo_copy, WIDE) as driver:
        await propose(driver)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert file.read_bytes() == before
        await driver.press("S")
        await driver.until(lambda: isinstance(driver.app.screen, Confirm))
        file.write_text(BEFORE, encoding="utf-8")
        await driver.press("enter")
        await driver.until_shown(StatusLine, "kbx.toml has changed meanwhile")
        driver.app.show_notice("1 change on disk indexed", yields=True)
        await driver.pilot.pause()
        assert driver.status.text.startswith("kbx.toml has changed meanwhile")
        assert file.read_text(encoding="utf-8") == BEFORE
        file.write_text("[search\n", encoding="utf-8")
        await driver.press("S")
        await driver.until_shown(StatusLine, "kbx.toml is not valid TOML")
        assert driver.app.screen is driver.explore
