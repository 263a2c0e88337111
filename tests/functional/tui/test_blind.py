"""Blind preferences: the lists of two settings in random order, stored, counted and undone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random

from kbx_tui.api import KnowledgeBase
from kbx_tui.tui.judging.blind import BlindLine, BlindScreen, TwoLists, ask
from kbx_tui.tui.tune.panes import QueryTable
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import QUESTION, TINY, WIDE, Driver, running

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
    async with running(demo_copy, TINY) as driver:
        await driver.ask(QUESTION)
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
    async with running(demo_copy, WIDE) as driver:
        await driver.ask(QUESTION)
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
