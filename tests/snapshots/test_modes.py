"""Snapshots of the dedup and experts modes on recorded answers, in the three layouts."""

from __future__ import annotations

from kbx_tui.base_trust import TrustRequest
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot
from kbx_tui.search.query_history import PastQuery
from kbx_tui.search.request import SearchRequest
from kbx_tui.tui.dedup.panes import DiffPane, DraftLine, DraftList, KnownList
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.experts.screen import ExpertList, Experts, TopicLine
from kbx_tui.tui.shell.questions import TrustQuestion
from kbx_tui.tui.tune.panes import CurvePane, QueryTable, SnapshotList
from kbx_tui.tui.widgets.rows_view import ChoiceList
from tests.functional.tui.driving import NARROW, TINY, Driver, Size
from tests.snapshots.questions import DATED, FLAT, TOPIC, TWO_PASS, Question
from tests.snapshots.recorded_kb import RecordedKb
from tests.snapshots.scenarios import WIDE, MatchesSnapshot, sizes


async def review(driver: Driver, kb: RecordedKb) -> None:
    """Open the dedup mode and wait until the seven drafts of the demo are checked."""
    reviewing = driver.explore.session.review
    kb.drafts.save(kb.drafts.in_file("drafts.md"))
    await driver.press("f2")
    await driver.until(lambda: isinstance(driver.app.screen, Dedup))
    await driver.press("down")  # leaves the draft line
    drafts = driver.app.screen.query_one(DraftList)
    await driver.until(lambda: len(drafts.rows) == 7 and not reviewing.is_checking)
    await driver.until(lambda: driver.app.screen.query_one(DiffPane).lines)


async def go_to(driver: Driver, number: int) -> None:
    """Move the cursor to a draft, counted from 1, and wait for its diff."""
    drafts = driver.app.screen.query_one(DraftList)
    diff = driver.app.screen.query_one(DiffPane)
    before = diff.lines
    drafts.choose(number - 1)
    await driver.until(lambda: diff.lines != before)
    known = driver.app.screen.query_one(KnownList)
    await driver.until(lambda: known.subject == drafts.rows[number - 1].id)


@sizes(WIDE, NARROW, TINY)
def test_checked_drafts(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    assert matches_snapshot(review, size)


@sizes(WIDE, NARROW)
def test_draft_that_conflicts_with_a_fact(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await go_to(driver, 4)

    assert matches_snapshot(play, size)


def test_known_facts_in_a_tiny_terminal(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await go_to(driver, 4)
        await driver.press("tab")
        await driver.until_focused(KnownList)

    assert matches_snapshot(play, TINY)


def test_decided_drafts(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await driver.press("minus")  # the cursor is then on the conflict
        await driver.press("u")
        rows = driver.app.screen.query_one(DraftList)
        await driver.until(lambda: sum(row.is_decided for row in rows.rows) == 2)
        await go_to(driver, 7)

    assert matches_snapshot(play, WIDE)


def test_editing_a_merged_text(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await review(driver, kb)
        await driver.press("m")
        await driver.until_focused(DraftLine)

    assert matches_snapshot(play, NARROW)


def test_dedup_without_drafts(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.press("f2")
        await driver.until(lambda: isinstance(driver.app.screen, Dedup))
        await driver.until_shown(DraftList, "No drafts.")

    assert matches_snapshot(play, NARROW)


async def ask_for_experts(driver: Driver, kb: RecordedKb) -> None:
    """Open the experts mode with the recorded topic."""
    await driver.press("f3")
    await driver.until(lambda: isinstance(driver.app.screen, Experts))
    driver.app.screen.query_one(TopicLine).value = TOPIC
    await driver.until(lambda: driver.app.screen.query_one(ExpertList).view is not None)
    await driver.press("down")
    await driver.until_focused(ExpertList)


@sizes(WIDE, NARROW, TINY)
def test_expert_ranking(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    assert matches_snapshot(ask_for_experts, size)


def test_expanded_expert(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        await ask_for_experts(driver, kb)
        await driver.press("enter")

    assert matches_snapshot(play, WIDE)


def graded(kb: RecordedKb, question: Question) -> JudgedQuery:
    """Return a judged query: some of the first results are relevant, the best ones by far."""
    ranking = kb.rank(kb.retrieve(SearchRequest(question.query)))
    paths = [ranking.evidence.paths[row] for row in ranking.best(20).tolist()]
    grades = {path: (3, 0, 1, 0, 2)[place % 5] for place, path in enumerate(paths)}
    return JudgedQuery(question.query, question.query, "judged", grades, frozenset())


async def tune(driver: Driver, kb: RecordedKb) -> None:
    """Open the tune mode with two judged queries, past queries and a snapshot, and move alpha."""
    kb.judged = (graded(kb, TWO_PASS), graded(kb, FLAT))
    kb.past_queries = tuple(PastQuery(query.query) for query in (TWO_PASS, FLAT, DATED))
    kb.snapshots_of_knobs = (TuningSnapshot("2026-03-17T09:41:05Z", {"alpha": 0.5}),)
    driver.explore.session.judging.start()
    await driver.press("f4")
    await driver.until(lambda: driver.explore.session.tune.curve is not None)
    await driver.press(*["left_square_bracket"] * 5)
    await driver.until_shown(CurvePane, "alpha .25 now")
    tuning = driver.explore.session.tune
    await driver.until(lambda: tuning.p is not None)
    await driver.until(lambda: tuning.past is not None and len(tuning.past.observed.queries) == 3)
    rows = driver.app.screen.query_one(SnapshotList)
    await driver.until(lambda: rows.rows and rows.rows[0].difference is not None)


@sizes(WIDE, NARROW)
def test_tuning(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    assert matches_snapshot(tune, size)


def test_tuning_on_light_background(matches_snapshot: MatchesSnapshot) -> None:
    assert matches_snapshot(tune, WIDE, theme="textual-light")


def test_curve_in_a_tiny_terminal(matches_snapshot: MatchesSnapshot) -> None:
    async def play(driver: Driver, kb: RecordedKb) -> None:
        kb.judged = (graded(kb, TWO_PASS), graded(kb, FLAT))
        driver.explore.session.judging.start()
        await driver.press("f4")
        await driver.until_focused(QueryTable)
        await driver.press("tab")
        await driver.until_shown(CurvePane, "alpha .50 now")
        await driver.until(lambda: driver.explore.session.tune.p is not None)

    assert matches_snapshot(play, TINY)


@sizes(NARROW, TINY)
def test_trust_question(matches_snapshot: MatchesSnapshot, size: Size) -> None:
    requests = [
        TrustRequest(
            "index.uri",
            "s3://notes",
            '[index] uri = "s3://notes/index"',
            "keeps the index, which holds the texts of all pages, at s3://notes/index",
            blocks=True,
        ),
        TrustRequest(
            "writes.auto_commit",
            "true",
            "[writes] auto_commit = true",
            "runs git, and with it the hooks of the repository, after each write",
            blocks=False,
        ),
    ]

    async def play(driver: Driver, kb: RecordedKb) -> None:
        await driver.app.push_screen(TrustQuestion("/home/ada/team-notes", requests))
        await driver.until_focused(ChoiceList)

    assert matches_snapshot(play, size)
