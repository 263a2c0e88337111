"""Two settings compared: side by side (`d`), and blind."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.ranking.explain import Comparison
from kbx_tui.tui.comparing import Compare, CompareView, LostAndGained, SettingsLine, SideBySide
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.judging.blind import BlindLine, BlindScreen, TwoLists, ask
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.tune.panes import QueryTable
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running
from tests.functional.tui.watched import Watched

QUERY = "what did Alice decide about rollbacks"


async def compare(driver: Driver, query: str = QUERY) -> SideBySide:
    await driver.ask(query)
    await driver.press("down")
    await driver.until_focused(ResultList)
    await driver.press("d")
    await driver.until_focused(SideBySide)
    rows = driver.app.screen.query_one(SideBySide)
    await driver.until(lambda: rows.rows)
    return rows


def shown(driver: Driver) -> CompareView:
    view = driver.app.screen.query_one(LostAndGained).view
    assert view is not None
    return view


async def test_both_lists_are_those_of_a_search_with_their_settings(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        rows = await compare(driver)
        await driver.press("m")
        await driver.until(lambda: shown(driver).after == "flat")
        with KnowledgeBase(demo) as kb:
            before = [result.path for result in kb.search(QUERY).results]
            after = [result.path for result in kb.search(QUERY, hierarchy=False).results]
        assert [row.before.path for row in rows.rows if row.before] == before
        assert [row.after.path for row in rows.rows if row.after] == after
        for row in rows.rows:
            assert row.before is not None
            path = row.before.path
            rise = row.rank - after.index(path) - 1 if path in after else None
            expected = "lost" if rise is None else f"▲{rise}" if rise > 0 else f"▼{-rise}"
            assert shown(driver).moves[path] == (expected if rise != 0 else "")
        both = shown(driver).comparison
        assert len(both.lost) == len(set(before) - set(after)) > 0
        assert all(reason.reason for reason in (*both.lost, *both.gained))
        await driver.until_shown(SettingsLine, "A two-pass, alpha .50, threshold .50", "B flat")
        await driver.until_shown(LostAndGained, "Lost", both.lost[0].title, "Gained")
        first, second = (row.before for row in rows.rows[:2])
        assert first is not None
        assert second is not None
        await driver.press("left", "v", "v", "down")
        await driver.until_shown(
            LostAndGained, f"Under A, “{first.title}” beats “{second.title}” by"
        )
        await driver.press("escape")  # removes the mark
        await driver.until(lambda: not driver.app.screen.query_one(LostAndGained).pair)


async def test_knobs_change_b_alone_and_retrieve_nothing(demo: Path) -> None:
    watched = Watched()
    async with running(demo, NARROW, watched=watched) as driver:
        rows = await compare(driver)
        before = [row.before for row in rows.rows]
        retrieved = len(watched.queries)
        await driver.press(*["right_square_bracket"] * 8)
        await driver.until(lambda: shown(driver).after == "two-pass, alpha .90, threshold .50")
        assert [row.before and row.before.path for row in rows.rows] == [
            result and result.path for result in before
        ]
        assert any(shown(driver).moves.values())
        await driver.press("z")
        await driver.until(lambda: shown(driver).after == shown(driver).before)
        await driver.until_shown(LostAndGained, "Both find the same. Nothing moved: change")
        assert len(watched.queries) == retrieved


async def test_another_preset_and_fast_search_keep_evidence_of_their_own(demo: Path) -> None:
    watched = Watched()
    async with running(demo, WIDE, watched=watched) as driver:
        rows = await compare(driver)
        before = [row.before.path for row in rows.rows if row.before]
        retrieved = len(watched.queries)
        await driver.press("m", "m")
        await driver.until(lambda: shown(driver).after == "fast")
        assert [row.before.path for row in rows.rows if row.before] == before
        assert len(watched.queries) == retrieved + 2  # B by words, and A by meaning too
        await driver.press("m")
        await driver.until(lambda: shown(driver).after.startswith("two-pass"))
        assert not shown(driver).comparison.lost
        await driver.press("M")
        await driver.until(lambda: shown(driver).after.endswith("ranking of the seed"))
        assert [row.before.path for row in rows.rows if row.before] == before


async def test_a_is_pinned_and_documents_are_graded_here_too(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        rows = await compare(driver, "rollback rehearsal")
        await driver.press("m")
        await driver.until(lambda: shown(driver).after == "flat")
        await driver.press("A")
        await driver.until(lambda: shown(driver).before == "flat")
        assert rows.result is not None
        path = rows.result.path
        await driver.press("2")
        await driver.until(
            lambda: driver.explore.session.judging.grades_of("rollback rehearsal") == {path: 2}
        )
        await driver.until(lambda: rows.result and rows.result.path != path)
        shared = {row.after.path for row in rows.rows if row.after}
        for _ in range(len(shared) - 1):
            await driver.press("1")
        only_a = [row.before.path for row in rows.rows if row.before]
        assert set(driver.explore.session.judging.judged_paths("rollback rehearsal")) >= shared
        assert not rows.on_left or rows.result is None or rows.result.path in only_a
        await driver.press("z")
        await driver.until(lambda: rows.result and rows.result.path in shared)


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=str)
async def test_enter_reads_and_escape_returns_with_the_settings_b(demo: Path, size: Size) -> None:
    async with running(demo, size) as driver:
        rows = await compare(driver)
        await driver.press("m")
        await driver.until(lambda: shown(driver).after == "flat")
        assert (" │ " in driver.text_of(SideBySide)) == (size != TINY)
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        assert driver.explore.query_one(PreviewPane).path == rows.rows[1].after.path  # type: ignore[union-attr]
        await driver.press("escape")
        await driver.until_focused(SideBySide)
        await driver.until(lambda: driver.app.screen.query_one(SideBySide).cursor == 1)
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert driver.state.mode == "flat"


async def test_without_a_query_there_is_nothing_to_compare(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        await driver.press("escape", "d")
        await driver.until_shown(SideBySide, "Nothing to compare yet.")
        await driver.press("m", "right_square_bracket", "2", "enter", "escape")
        await driver.until(lambda: driver.app.screen is driver.explore)


async def test_settings_of_a_query_that_names_no_entity_are_said_to_rank_flat(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await compare(driver, "rehearsal")
        await driver.until_shown(SettingsLine, "B flat: no sure entity · set to")


async def test_a_query_without_results_and_hostile_titles_are_compared(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f'---\ntitle: "[red]{"long " * 90}[/] \\e[31m"\n---\nharbour\n')
    with KnowledgeBase(tmp_path) as kb:
        kb.index()
    async with running(tmp_path, WIDE) as driver:
        await compare(driver, "harbour")
        assert "[red]long" in driver.screen_text()
        assert "\x1b" not in driver.screen_text()
        await driver.press("escape")
        await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.narrow("nowhere")
        await driver.press("d")
        await driver.until(lambda: isinstance(driver.app.screen, Compare))
        await driver.until_shown(LostAndGained, "Both find the same.")


FILE = Path(".kbx", "preferences.jsonl")


def blind(driver: Driver) -> BlindScreen:
    screen = driver.app.screen
    assert isinstance(screen, BlindScreen)
    return screen


def asked(driver: Driver) -> str:
    """Return the query of the question on the screen, empty without one."""
    if not isinstance(driver.app.screen, BlindScreen):
        return ""
    question = driver.app.screen.model.question
    return "" if question is None else question.query


async def ask_blind(driver: Driver) -> None:
    """Move alpha, then begin a round."""
    await driver.press(*["right_square_bracket"] * 10)
    await driver.until(lambda: driver.state.alpha == 1.0)
    await driver.press("B")


async def test_a_round_stores_what_is_preferred_and_tune_counts_it(judged_demo: Path) -> None:
    async with running(judged_demo, WIDE) as driver:
        await driver.press("escape", "B")
        await driver.until_shown(StatusLine, "the current settings are A: change one")
        await driver.press("f4")
        await ask_blind(driver)
        await driver.until(lambda: asked(driver))
        first = asked(driver)
        shown = driver.text_of(TwoLists)
        assert "alpha" not in shown  # nothing tells whose list it is
        assert "List 1 ──" in shown
        await driver.press("1")
        await driver.until(lambda: asked(driver) not in ("", first))
        second = asked(driver)
        await driver.press("z")
        await driver.until(lambda: asked(driver) == first)
        await driver.until_shown(BlindLine, "0 answers in this round")
        await driver.press("2")
        await driver.until(lambda: asked(driver) == second)
        await driver.press("n")
        await driver.until(lambda: asked(driver) not in ("", first, second))
        await driver.press("equals_sign")
        await driver.press("escape")
        await driver.until_shown(StatusLine, "preferred: A ", "neither 1 (sign test p 1.000)")
        await driver.until_shown(QueryTable, "vs A: ", "preferred")
        await driver.press("z")
        await driver.until_shown(StatusLine, "the preference for ", "is taken back")
    with KnowledgeBase(judged_demo) as kb:
        (kept,) = kb.preferences.read()
        assert (kept.query, kept.better) == (first, "second")
        assert {kept.first.knobs["alpha"], kept.second.knobs["alpha"]} == {1.0, 0.5}


async def test_a_query_is_asked_about_once_and_the_end_is_said(demo_copy: Path) -> None:
    async with running(demo_copy, TINY, asked=QUESTION) as driver:
        await driver.press("down")
        await ask_blind(driver)
        await driver.until(lambda: asked(driver) == QUESTION)
        await driver.press("2")
        await driver.until_shown(TwoLists, "That is all", "Preferred: A ", "may be chance")
        await driver.press("q")
        await driver.until(lambda: not isinstance(driver.app.screen, BlindScreen))
        await driver.press("B")
        await driver.until_shown(TwoLists, "That is all", "or you have said which you prefer")
        assert blind(driver).model.answered == 0


async def test_an_answer_right_before_quitting_is_stored(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.press("down")
        await ask_blind(driver)
        await driver.until(lambda: asked(driver) == QUESTION)
        await driver.press("1", "ctrl+q")
    (line,) = (demo_copy / FILE).read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["query"] == QUESTION


def test_which_list_is_shown_first_is_random(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        settings = kb.tuning(), replace(kb.tuning(), alpha=1.0)
        random = Random(1)
        questions = [ask(kb, QUESTION, settings, (), random) for _ in range(12)]
    alphas = [question.first.knobs["alpha"] for question in questions if question is not None]
    assert set(alphas) == {1.0, 0.5}


def test_heads_of_both_settings_are_set_apart_and_cut_between_words() -> None:
    line = SettingsLine()
    before = "two-pass · alpha .50 · threshold .50 · temporal weight .20 · vector share .70"
    view = CompareView(before, "flat", (), {}, Comparison((), (), (), (), ()))
    line.set_reactive(SettingsLine.view, view)
    text = "".join(span.text for span in line.line(100))
    assert "threshold .50 …  " in text
    assert "  B flat" in text
