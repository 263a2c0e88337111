"""Grades are given by keys, are on disk before they are shown, and change the measure."""

import json
from pathlib import Path
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.tui.explore.inputs import MeasureLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import QUESTION, WIDE, Driver, running


def lines(base: Path) -> list[dict[str, Any]]:
    """Return the judgments on disk of the query of the tests."""
    text = (base / ".kbx" / "judgments.jsonl").read_text(encoding="utf-8")
    return [line for line in map(json.loads, text.splitlines()) if line["query"] == QUESTION]


def grades(driver: Driver) -> dict[str, int | None]:
    return dict(driver.explore.session.judging.grades_of(QUESTION))


def newest(driver: Driver) -> list[str]:
    """Return the paths of the newest ranking, which the list may not show yet."""
    view = driver.explore.model.displayed.view
    return [result.path for result in view.results] if view is not None else []


async def test_digit_or_full_stop_grades_the_highlighted_result(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION, measured=True) as driver:
        path = driver.paths[0]
        await driver.press("down")
        assert not driver.words_of(MeasureLine)
        await driver.press("3")
        await driver.until(lambda: grades(driver) == {path: 3})
        await driver.until_shown(ResultList, f"3 {driver.titles[0]}")
        await driver.press("full_stop")
        await driver.until_shown(ResultList, f"? {driver.titles[1]}")
        line, unsure = lines(demo_copy)
        assert (line["path"], line["grade"]) == (path, 3)
        assert line["knobs"]["alpha"] == driver.alpha
        assert (unsure["path"], unsure["grade"]) == (driver.paths[1], "unsure")


async def test_grade_before_the_results_are_there_is_refused_in_words(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        driver.watched.retrieving.clear()
        await driver.write(QUESTION)
        await driver.press("down", "3")
        await driver.until_shown(StatusLine, "nothing was graded", "not there yet")
        driver.watched.retrieving.set()
        await driver.until(lambda: driver.paths)
        driver.watched.retrieving.clear()
        await driver.press("slash", "end", "x")
        await driver.press("down", "3")  # the former results are still shown
        await driver.until_shown(StatusLine, "nothing was graded", "not there yet")
        driver.watched.retrieving.set()
    with KnowledgeBase(demo_copy) as kb:
        assert not kb.judgments.queries()


async def test_undo_takes_back_grades_and_knobs_in_order(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        path = driver.paths[0]
        await driver.press("down", "1", "home", "3", "right_square_bracket")
        await driver.until(lambda: grades(driver).get(path) == 3 and driver.alpha == 0.55)
        await driver.press("z")
        await driver.until(lambda: driver.alpha == 0.5)
        assert grades(driver)[path] == 3
        await driver.press("z")
        await driver.until(lambda: grades(driver)[path] == 1)
        await driver.until_shown(StatusLine, "is 1 again")
        await driver.press("z")
        await driver.until(lambda: not grades(driver))
        await driver.until_shown(StatusLine, "has no grade again")
        with KnowledgeBase(demo_copy) as kb:
            assert not kb.judgments.grades(QUESTION)


async def test_grade_pressed_right_before_quitting_is_stored(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        path = driver.paths[0]
        await driver.press("down", "2", "q")
    with KnowledgeBase(demo_copy) as kb:
        assert kb.judgments.grades(QUESTION) == {path: 2}


async def test_grades_that_came_with_the_base_are_measured_from_the_first_own_grade_on(
    judged_demo: Path,
) -> None:
    graded, judged = "what did Alice decide about rollbacks", " of the first 10 judged"
    async with running(judged_demo, WIDE, asked=graded) as driver:
        assert driver.explore.session.judging.grades_of(graded)
        assert judged not in driver.text_of(ResultList)
        await driver.ask(QUESTION)
        await driver.press("down", "right_square_bracket")
        await driver.until(lambda: driver.explore.session.judging.measured)
        assert "nDCG" not in driver.words_of(MeasureLine)
        await driver.press("f4")
        await driver.until(lambda: driver.app.screen is not driver.explore)
        await driver.press("f1")
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert "nDCG" not in driver.words_of(MeasureLine)
        await driver.press("3")
        await driver.until_shown(MeasureLine, "nDCG@10")
    async with running(judged_demo, WIDE, asked=graded) as driver:  # they stay
        await driver.until_shown(ResultList, judged)


async def test_line_measures_the_settings_against_a(judged_demo: Path) -> None:
    async with running(judged_demo, WIDE, measured=True) as driver:
        await driver.until_shown(MeasureLine, "nDCG@10", "over 12 judged queries")
        await driver.press("escape", "M")  # of the seed, on its own evidence
        await driver.until_shown(MeasureLine, "(start", "better")
        assert driver.watched.calls["retrieve judged"] >= 24
        await driver.press("M")
        await driver.until_shown(MeasureLine, "over 12 judged queries")
        await driver.ask(QUESTION)
        await driver.press("down", *["left_square_bracket"] * 8)
        await driver.until_shown(MeasureLine, "(start", "better", "worse")
        await driver.press("A")
        await driver.until_shown(StatusLine, "A is now two-pass, alpha .10, threshold .50")
        await driver.until_shown(MeasureLine, "over 12 judged queries")  # where the message was
        await driver.press("3")
        await driver.until_shown(MeasureLine, "over 13 judged queries")
        await driver.press("m", "m")
        await driver.until_shown(MeasureLine, "a fast search is not measured")


async def test_refused_grade_is_one_line_and_no_step_of_undo(demo_copy: Path) -> None:
    (demo_copy / "kbx.toml").write_text("[app]\nwatch = false\n", encoding="utf-8")
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        (demo_copy / driver.paths[0]).unlink()
        await driver.press("down", "3")
        await driver.until_shown(StatusLine, "there is no document")
        assert not grades(driver)
        await driver.press("z")
        await driver.until(lambda: driver.status.notice == "nothing to undo")


async def test_grade_moves_on_to_the_next_result_without_one_and_undo_returns(
    demo_copy: Path,
) -> None:
    with KnowledgeBase(demo_copy) as kb:
        paths = [result.path for result in kb.search(QUESTION).results]
        kb.judgments.add(QUESTION, paths[1], 2)
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.until(lambda: grades(driver) == {driver.paths[1]: 2})
        await driver.press("down", "3")
        assert driver.results.cursor == 2
        await driver.until_shown(ResultList, "2 of the first 10 judged")
        await driver.press("z")
        await driver.until(lambda: driver.results.cursor == 0)


async def test_all_of_the_first_ten_judged_is_said(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.press("down", *"3210123012")
        await driver.until_shown(StatusLine, "the first 10 results are judged: ask another query")
        await driver.until(lambda: len(grades(driver)) == 10)
        assert set(grades(driver)) == set(driver.paths[:10])
        await driver.press("J")
        await driver.until_shown(StatusLine, "the first 10 results are judged")


async def test_next_goes_to_the_result_on_which_a_and_the_settings_disagree(
    demo_copy: Path,
) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        before = driver.paths[:10]
        await driver.press("down", *["left_square_bracket"] * 10)
        await driver.until(lambda: driver.alpha == 0.0 and driver.paths == newest(driver))
        after = driver.paths[:10]
        await driver.press("J")
        current = driver.results.current
        assert current is not None
        ranks = [paths.index(current.path) for paths in (before, after) if current.path in paths]
        assert len(set(ranks)) == 2 or len(ranks) == 1
        await driver.press("space")
        assert driver.results.current not in (current, None)


async def test_open_document_shows_its_grade_and_grading_opens_the_next(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        pane = driver.explore.query_one(PreviewPane)
        await driver.press("2")
        await driver.until(lambda: pane.path == driver.paths[1])
        assert driver.results.cursor == 1
        await driver.press("z")
        await driver.until(lambda: pane.path == driver.paths[0])
        await driver.press("3")
        await driver.until(lambda: grades(driver) == {driver.paths[0]: 3})
        await driver.press("escape", "home", "enter")
        await driver.until_shown(PreviewPane, f"3 {driver.titles[0]}")


async def test_grade_while_a_search_runs_is_of_the_query_on_the_screen(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        path = driver.paths[0]
        await driver.press("down")
        driver.watched.retrieving.clear()
        driver.explore.model.update(query="rollback plan")
        await driver.until(lambda: "rollback plan" in driver.watched.queries)
        await driver.press("1")
        driver.watched.retrieving.set()
        await driver.until(lambda: driver.view.query == "rollback plan")
        await driver.until(lambda: grades(driver) == {path: 1})


async def test_without_results_there_is_nothing_to_judge(demo: Path) -> None:
    reasons = {"3": "no document is chosen", "J": "no result to judge", "space": "no result to"}

    async def says(key: str, reason: str) -> None:
        driver.status.show_notice("")
        await driver.press("escape", key)
        await driver.until_shown(StatusLine, reason)

    async with running(demo, WIDE) as driver:
        for key in ("3", "J"):
            await says(key, "type a query first")
        await driver.press("m", "m")
        await driver.ask("zzzz")
        for key, reason in reasons.items():
            await says(key, reason)


async def test_grades_of_another_app_are_shown_and_measured(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "3")
        await driver.until(lambda: len(grades(driver)) == 1)
        with KnowledgeBase(demo_copy) as kb:
            kb.judgments.add(QUESTION, driver.paths[4], 0)
        await driver.press("2")
        await driver.until(lambda: sorted(map(str, grades(driver).values())) == ["0", "2", "3"])
