"""What the app remembers between runs: theme, panes, queries, and knobs if configured."""

import json
from pathlib import Path

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.tui.app_state import user_file
from kbx_tui.tui.base_session import Bases
from kbx_tui.tui.boxes.recall_box import RecallList
from kbx_tui.tui.explore.entities import EntityList
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.shell.menu import ThemePalette
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.functional.tui.driving import QUESTION, WIDE, running, starting

HISTORY = Path(".kbx", "queries.jsonl")


async def test_unknown_theme_falls_back_to_the_default(demo: Path) -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(json.dumps({"theme": "of long ago"}), encoding="utf-8")
    async with running(demo, WIDE) as driver:
        assert driver.app.theme in driver.app.available_themes


async def test_theme_and_hidden_panes_are_remembered(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        driver.app.search_themes()
        await driver.until(lambda: isinstance(driver.app.screen, ThemePalette))
        await driver.write("nord")
        await driver.until(lambda: driver.app.theme == "nord")
        await driver.press("enter")
        await driver.until(lambda: driver.app.screen is driver.explore)
        await driver.press("escape", "x", "E")
        await driver.until(lambda: not driver.shows(EntityList))
    async with running(demo, WIDE, asked=QUESTION) as driver:
        assert driver.app.theme == "nord"
        assert not driver.shows(WhyPane)
        assert not driver.shows(EntityList)
        await driver.press("escape", "x", "E")
        await driver.until(lambda: driver.shows(WhyPane))
        assert driver.shows(EntityList)
        await driver.press("E")
        await driver.until(lambda: not driver.shows(EntityList))
        await driver.press("e")  # shown again, they are not remembered as hidden
        await driver.until_focused(EntityList)
    async with running(demo, WIDE) as driver:
        assert driver.shows(EntityList)


async def test_up_in_the_query_line_recalls_earlier_queries(demo_copy: Path) -> None:
    for query in ("rehearsal", "rollback plan", QUESTION):
        async with running(demo_copy, WIDE, asked=query):
            pass
    async with running(demo_copy, WIDE) as driver:
        await driver.until_shown(ResultList, f"recent queries {QUESTION[:30]}", "rollback plan")
        line = driver.explore.query_one(QueryLine)
        for query in (QUESTION, "rollback plan", "rehearsal"):
            await driver.press("up")
            await driver.until(lambda query=query: line.value == query)  # type: ignore[misc]
            assert line.cursor_position == len(query)
        await driver.until(lambda: driver.explore.view is not None)
        await driver.until(lambda: driver.view.query == "rehearsal")
        await driver.press("up")  # after them come those made from the base
        await driver.until(lambda: line.value.startswith("what did "))


@pytest.mark.parametrize("remember", [True, False], ids=["remembering", "as-usual"])
async def test_knobs_are_remembered_only_if_configured(demo_copy: Path, remember: bool) -> None:
    toml = f"[app]\nremember_knobs = {str(remember).lower()}\n"
    (demo_copy / "kbx.toml").write_text(toml, encoding="utf-8")
    async with running(demo_copy, WIDE) as driver:
        await driver.press("escape", "right_square_bracket", "left_curly_bracket", "m")
        await driver.until(lambda: driver.state.threshold == 0.45)
    async with running(demo_copy, WIDE) as driver:
        values = [slider.value for slider in driver.explore.query(NumberSlider)]
        assert values == ([0.55, 0.45] if remember else [0.5, 0.5])
        await driver.ask(QUESTION)
        assert (driver.alpha, driver.view.threshold) == tuple(values)
        assert driver.view.mode.name == "two-pass"  # a mode is not a knob


async def test_damaged_state_and_history_are_reported_and_kept(demo_copy: Path) -> None:
    file, history = demo_copy / ".kbx" / "app.json", demo_copy / HISTORY
    history.write_bytes(b'{"query": "rollback plan", "at": 1.0}\n{"query": "reh')
    file.write_bytes(b'{"hidden": ["why"')
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_bytes(b"\xff\xfe")
    async with running(demo_copy, WIDE) as driver:
        await driver.until_shown(StatusLine, "app.json cannot be read", "one line cannot be read")
        await driver.until_shown(ResultList, "recent queries rollback plan")
        await driver.ask(QUESTION)
    (kept,) = file.parent.glob("app.*.unreadable")
    assert kept.read_bytes() == b'{"hidden": ["why"'
    assert json.loads(file.read_bytes())["hidden"] == []
    lines = history.read_bytes().splitlines()
    assert lines[:2] == [b'{"query": "rollback plan", "at": 1.0}', b'{"query": "reh']
    assert json.loads(lines[2])["query"] == QUESTION


async def test_history_is_on_disk_while_the_app_runs_and_can_be_cleared_meanwhile(
    demo_copy: Path,
) -> None:
    async with running(demo_copy, WIDE, asked="rollback plan") as driver:
        await driver.press("down", "enter")
        await driver.until(lambda: driver.explore.panes.read)
        with KnowledgeBase(demo_copy) as other:
            assert [past.query for past in other.queries.asked()] == ["rollback plan"]
            assert other.queries.forget(dry_run=True) == 1
            assert other.queries.forget() == 1
        await driver.press("escape")
        await driver.ask("rehearsal")
        await driver.press("escape", "2")  # a grade writes it, too
        with KnowledgeBase(demo_copy) as other:
            assert [past.query for past in other.queries.asked()] == ["rehearsal"]
    with KnowledgeBase(demo_copy) as other:  # leaving the app brings nothing back
        assert [past.query for past in other.queries.asked()] == ["rehearsal"]


async def test_what_the_engine_reports_is_shown(demo_copy: Path) -> None:
    (demo_copy / ".kbx" / "usage.jsonl").write_bytes(b"nonsense\n")
    async with starting(demo_copy, WIDE, bases=Bases()) as driver:
        driver.explore.query_one(QueryLine).value = QUESTION
        await driver.until_shown(StatusLine, "usage.jsonl: one line cannot be read")


async def test_a_past_query_is_found_and_run_with_its_settings(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked="rollback plan") as driver:
        await driver.press("down", "right_square_bracket", "m")
        await driver.until(lambda: (driver.state.alpha, driver.state.mode) == (0.55, "flat"))
        await driver.press("enter")
        await driver.until(lambda: driver.explore.panes.read)
        with KnowledgeBase(demo_copy) as other:
            (past, *_) = other.queries.asked()
        assert past.found == driver.view.matched
        assert past.first[0] == driver.paths[0]
        assert past.settings["mode"] == "flat"
        await driver.press("escape", "m", "m", "left_square_bracket")
        await driver.until(lambda: (driver.state.alpha, driver.state.mode) == (0.5, "two-pass"))
        await driver.ask("rehearsal")
        await driver.press("slash", "ctrl+r")  # from the query line
        await driver.write("plan roll")
        await driver.until_shown(RecallList, "› rollback plan", "alpha .55", "found memory/")
        await driver.press("enter")
        await driver.until(lambda: driver.view.query == "rollback plan")
        assert (driver.state.mode, driver.state.alpha) == ("flat", 0.55)
        await driver.press("z")
        await driver.until(lambda: driver.view.query == "rehearsal")
        assert (driver.state.mode, driver.state.alpha) == ("two-pass", 0.5)


async def test_a_saved_query_lists_what_is_new_and_is_removed(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked="rollback plan") as driver:
        await driver.press("down", "asterisk")
        await driver.write("rollbacks")
        await driver.press("enter")
        await driver.until_shown(StatusLine, "saved as rollbacks")
        page = demo_copy / "memory/notes/second-rollback.md"
        page.write_text("# Rollback plan, second\n\nThe rollback plan.\n", encoding="utf-8")
        await driver.press("R", "ctrl+r")
        await driver.until(lambda: "memory/notes/second-rollback.md" in driver.paths)
        await driver.until_shown(RecallList, "› rollbacks rollback plan")
        await driver.press("enter")
        await driver.until_shown(RecallList, "› new Rollback plan, second")
        await driver.press("enter")
        await driver.until(lambda: "1 new since" in driver.status.last)
        await driver.until_focused(ResultList)
        await driver.until(lambda: driver.results.current is not None)
        await driver.press("ctrl+r")
        await driver.until_shown(RecallList, "› rollbacks")
        await driver.press("ctrl+x")
        await driver.until(lambda: "rollbacks" not in driver.words_of(RecallList))
        await driver.press("escape")
        await driver.press("z")
        await driver.until_shown(StatusLine, "rollbacks is saved again")
        with KnowledgeBase(demo_copy) as other:
            await driver.until(lambda: [one.name for one in other.queries.saved()] == ["rollbacks"])
