"""Typing searches: once per burst of keys, and never out of order."""

from __future__ import annotations

from kbx_tui.errors import IndexFault
from kbx_tui.tui.widgets.entity_list import EntityList
from kbx_tui.tui.widgets.mode_badge import ModeBadge
from kbx_tui.tui.widgets.query_line import QueryLine
from kbx_tui.tui.widgets.result_list import ResultList
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import QUESTION, WIDE, running
from tests.functional.tui.fake_kb import FakeKb


async def test_results_come_while_typing() -> None:
    async with running(size=WIDE) as driver:
        await driver.press(*"alice")
        await driver.until(lambda: driver.titles)
        assert "Alice Chen" in driver.titles
        assert isinstance(driver.explore.focused, QueryLine)


async def test_a_burst_of_keys_is_one_search() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE, debounce=0.3) as driver:
        await driver.press(*"alic")
        await driver.ask("alice")
        assert kb.calls["retrieve"] == 1
        assert kb.queries == ["alice"]


async def test_a_stale_answer_never_replaces_a_newer_one() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        line = driver.explore.query_one(QueryLine)
        kb.gate.clear()
        line.value = "rollback"
        await driver.until(lambda: kb.queries == ["rollback"])  # its answer is on the way
        line.value = "kiosk"
        await driver.pilot.pause(0.02)
        kb.gate.set()
        await driver.until(lambda: driver.explore.view is not None)
        assert driver.explore.view is not None
        assert driver.explore.view.query == "kiosk"


async def test_queries_that_were_overtaken_while_waiting_are_not_searched() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        line = driver.explore.query_one(QueryLine)
        kb.gate.clear()
        line.value = "r"
        await driver.until(lambda: kb.queries == ["r"])
        for overtaken in ("ro", "rol", "roll"):
            line.value = overtaken
            await driver.pilot.pause(0.01)
        kb.gate.set()
        await driver.until(lambda: driver.explore.view is not None)
        assert kb.queries == ["r", "roll"]


async def test_a_slow_search_says_so_and_keeps_the_old_results() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        await driver.ask("rollback")
        kb.gate.clear()
        driver.explore.query_one(QueryLine).value = "kiosk"
        await driver.until(lambda: "searching" in driver.text_of(ModeBadge))
        assert "Rollback plan" in driver.titles
        kb.gate.set()
        await driver.until(lambda: "searching" not in driver.text_of(ModeBadge))


async def test_the_badge_tells_mode_and_reason_in_words() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.until(
            lambda: "two-pass · Alice Chen + Migration · 9 ms" in driver.text_of(ModeBadge)
        )
        await driver.ask("rehearsal")
        await driver.until(lambda: "flat · no entity named" in driver.text_of(ModeBadge))
        await driver.ask("leads")
        await driver.until(
            lambda: "flat · entities below the threshold" in driver.text_of(ModeBadge)
        )


async def test_missing_vectors_show_in_the_badge() -> None:
    async with running(FakeKb(vector_share=0.34), size=WIDE) as driver:
        await driver.ask("rehearsal")
        await driver.until(lambda: "meaning 34 %" in driver.text_of(ModeBadge))


async def test_entities_show_score_reason_and_threshold() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.until(lambda: "threshold .50" in driver.text_of(EntityList))
        lines = [line.strip("│ ") for line in driver.text_of(EntityList).split("\n")]
        assert lines[1].startswith("● Alice Chen")
        assert lines[1].endswith("person 1.00")
        assert lines[2].startswith("name “alice”")
        assert "threshold .50" in lines[5]
        assert lines[6].startswith("○ Platform")


async def test_an_error_is_one_line_and_the_app_lives_on() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        kb.fails = IndexFault("the index at /x is broken; run kbx index --full")
        driver.explore.query_one(QueryLine).value = "alice"
        await driver.until(lambda: "kbx index --full" in driver.text_of(StatusLine))
        kb.fails = None
        await driver.ask("migration")
        await driver.until(lambda: not driver.explore.query_one(StatusLine).display)
        assert driver.titles


async def test_an_unexpected_error_is_one_line_too() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        kb.fails = ZeroDivisionError("oh\x1b[31m no")
        driver.explore.query_one(QueryLine).value = "alice"
        await driver.until(lambda: "ZeroDivisionError: oh no" in driver.text_of(StatusLine))


async def test_nothing_typed_says_what_to_try() -> None:
    async with running(size=WIDE) as driver:
        await driver.until(lambda: "8 documents, 5 entities" in driver.text_of(ResultList))
        assert "alice migration" in driver.text_of(ResultList)
        await driver.ask("alice")
        driver.explore.query_one(QueryLine).value = ""
        await driver.until(lambda: "Type to search" in driver.text_of(ResultList))


async def test_nothing_found_says_what_to_do() -> None:
    async with running(size=WIDE) as driver:
        await driver.ask("zzzz")
        await driver.until(lambda: "Nothing found for “zzzz”" in driver.text_of(ResultList))


async def test_matched_words_stand_in_a_line_under_the_title() -> None:
    kb = FakeKb()
    async with running(kb, size=WIDE) as driver:
        await driver.ask(QUESTION)
        await driver.until(lambda: "We cut over on Thursday" in driver.text_of(ResultList))
        assert kb.calls["retrieve"] == 1
