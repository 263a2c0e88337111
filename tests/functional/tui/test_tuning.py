"""Sliders, modes and sorting: only fast search retrieves again."""

import re
from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest
from textual import on
from textual.app import App, ComposeResult

from kbx_tui.tui.explore.entities import EntityList
from kbx_tui.tui.explore.inputs import Knobs, ModeBadge, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.widgets.footer import KeyBar, StatusLine
from kbx_tui.tui.widgets.number_slider import NumberSlider
from tests.functional.tui.driving import (
    NARROW,
    QUESTION,
    TINY,
    WIDE,
    Driver,
    Size,
    rendered_text,
    running,
)


async def test_moved_rows_show_it_for_a_moment_and_the_cursor_stays_on_its_document(
    demo: Path,
) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        driver.results.SETTLE_SECONDS = 600.0
        before = driver.paths
        await driver.press("down", "down", "down", "down")
        chosen = driver.results.current
        assert chosen is not None
        await driver.press(*["right_square_bracket"] * 10)
        await driver.until(lambda: driver.alpha == 1.0)
        now = driver.results.current
        assert now is not None
        assert now.path == chosen.path
        assert driver.paths != before
        await driver.until_shown(ResultList, "▲", "▼")
        driver.results.SETTLE_SECONDS = 0.1
        await driver.press("left_square_bracket")
        await driver.until(lambda: "▲" not in driver.text_of(ResultList))


async def test_moves_after_an_undo_count_from_the_list_that_it_brought_back(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        driver.results.SETTLE_SECONDS = 600.0
        before = driver.paths
        await driver.press("down", *["right_square_bracket"] * 10)
        await driver.until(lambda: driver.alpha == 1.0)
        await driver.press("z")
        await driver.until(lambda: driver.paths == before)
        await driver.until(lambda: not re.search("[▲▼]", driver.text_of(ResultList)))
        await driver.press("right_square_bracket")
        await driver.until(lambda: driver.alpha == 0.55)
        await driver.press("left_square_bracket")
        await driver.until(lambda: driver.alpha == 0.5)
        await driver.until(lambda: "▲" not in driver.text_of(ResultList))


async def test_a_slider_has_fine_steps_and_ends(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        driver.explore.query_one("#alpha", NumberSlider).focus()
        await driver.until_focused(NumberSlider)
        await driver.until_shown(KeyBar, "← → alpha")
        await driver.press("right", "l", "shift+right", "L")
        await driver.until(lambda: driver.alpha == 0.62)
        await driver.until_shown(KeyBar, "S save settings")
        await driver.until_shown(KeyBar, "z undo")
        await driver.press("home")
        await driver.until(lambda: driver.alpha == 0.0)
        await driver.press("left", "end", "h", "shift+left", "H")
        await driver.until(lambda: driver.alpha == 0.93)
        await driver.press("z")
        await driver.until(lambda: driver.alpha == 0.5)
        assert "save" not in driver.text_of(KeyBar)  # the settings are those of kbx.toml again


async def test_m_cycles_through_two_pass_flat_and_fast(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION, measured=True) as driver:
        await driver.press("down", "m")
        await driver.until_shown(ModeBadge, "flat · entities switched off")
        await driver.until_shown(StatusLine, "text alone ranks, on a lower scale of scores; again")
        await driver.until_shown(EntityList, "○ Alice Chen person 1.00")
        assert driver.watched.calls["retrieve"] == 1
        await driver.press("m")
        await driver.until(lambda: driver.view.mode.name == "fast")
        await driver.until_shown(StatusLine, "fast search: words only")
        await driver.until_shown(EntityList, "A fast search looks for no people")
        await driver.press("m")
        await driver.until_shown(ModeBadge, "two-pass · Alice Chen + Migration")
        assert driver.watched.queries == [QUESTION] * 3  # fast search reads other evidence


async def test_knobs_moved_before_a_query_apply_to_it(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", *["right_square_bracket"] * 2, "m", "s")
        await driver.until_shown(StatusLine, "results are sorted by date now")
        await driver.ask(QUESTION)
        await driver.until_shown(ResultList, "newest first")
        assert driver.alpha == 0.6
        assert driver.view.mode.name == "flat"


async def test_knobs_start_at_the_values_of_kbx_toml(demo_copy: Path) -> None:
    (demo_copy / "kbx.toml").write_text(
        "[search]\nhierarchy_alpha = 0.7\nhierarchy_entity_threshold = 0.3\n", encoding="utf-8"
    )
    async with running(demo_copy, WIDE) as driver:
        alpha, threshold = driver.explore.query(NumberSlider)
        await driver.until(lambda: (alpha.value, threshold.value) == (0.7, 0.3))
        await driver.ask(QUESTION)
        assert driver.alpha == 0.7
        assert driver.view.threshold == 0.3


async def test_a_moved_slider_names_the_alpha_of_the_next_change(demo: Path) -> None:
    async with running(demo, NARROW, asked=QUESTION, measured=True) as driver:
        await driver.press("down", "right_square_bracket")
        await driver.until_shown(StatusLine, "alpha .55: ", "next change")
        await driver.press("right_curly_bracket")
        await driver.until_shown(StatusLine, "threshold .55 has no effect: only named ones count")
        assert driver.status.size.height == 1  # else it would cover the sliders
        first, note = driver.titles[:10], driver.view.alpha_note
        change = float(note.rpartition(" ")[2])
        driver.explore.model.update(alpha=change - 0.02)
        await driver.until(lambda: driver.alpha == change - 0.02)
        assert driver.titles[:10] == first
        driver.explore.model.update(alpha=change + 0.02)
        await driver.until(lambda: driver.titles[:10] != first)
        await driver.ask("rehearsal")
        await driver.press("down", "left_square_bracket")
        await driver.until_shown(StatusLine, "alpha has no effect on a flat search")
        driver.explore.query_one(QueryLine).value = ""  # they go with the query
        await driver.until(lambda: driver.explore.view is None)


async def test_s_toggles_sorting_the_best_results_by_date(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        best = driver.paths
        await driver.press("down", "s")
        count = min(len(best), 50)
        await driver.until_shown(ResultList, f"Results · the best {count}, newest first")
        dates = [result.date for result in driver.results.rows]
        assert dates == sorted(dates, reverse=True)
        assert set(driver.paths) == set(best[:count])
        assert driver.results.rows[0].rank > 1  # what it would be by score
        await driver.press("s")
        await driver.until(lambda: driver.paths == best)
        assert driver.watched.calls["retrieve"] == 1
        await driver.ask("rehearsal newest first")  # another query is sorted as it asks
        await driver.until_shown(ResultList, "newest first")
        await driver.press("down", "s")
        await driver.until(lambda: driver.view.order == "")


async def test_ranking_of_the_seed_retrieves_again_and_is_undone(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        before = driver.paths
        await driver.press("escape", "M")
        await driver.until_shown(StatusLine, "seed ranking: the formula of the first proposal")
        await driver.until_shown(ModeBadge, "two-pass, seed")
        assert driver.watched.calls["retrieve"] == 2
        assert driver.paths != before
        await driver.press("z")
        await driver.until_shown(StatusLine, "preset is default again")
        await driver.until(lambda: driver.paths == before)


async def test_a_hollow_entity_above_the_threshold_says_why_it_does_not_count(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        assert sum(entity.kept for entity in driver.view.entities) > 1
        driver.explore.model.update(max_entities=1)
        await driver.until(lambda: sum(entity.kept for entity in driver.view.entities) == 1)
        await driver.until_shown(EntityList, "only the best 1 count")
        driver.explore.query_one(EntityList).focus()
        await driver.press("down", "question_mark")
        await driver.until_shown(HelpText, "it reaches the threshold, but only the best 1 count")


async def test_entities_count_only_if_none_is_named_outright(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", *["left_curly_bracket"] * 7)  # many reach this threshold
        await driver.until_shown(StatusLine, "threshold .15 has no effect: only named ones count")
        await driver.until_shown(Knobs, "no effect: only named ones count")
        await driver.until_shown(EntityList, "only named ones count")
        assert driver.view.mode.reason == "Alice Chen + Migration"


async def test_a_slider_moved_back_says_so(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", *["left_square_bracket"] * 3)
        await driver.until_shown(StatusLine, "results moved", "S saves it")
        await driver.press(*["right_square_bracket"] * 3)
        await driver.until_shown(StatusLine, "alpha .50 again: all is as it was")
        assert "saves" not in driver.words_of(StatusLine)
        await driver.press(*["left_square_bracket"] * 3)
        driver.results.settle()  # time has passed: arrows count from here
        await driver.press(*["right_square_bracket"] * 3)
        await driver.until_shown(StatusLine, "alpha .50 again:", "results moved back")


async def marked_first(driver: Driver) -> WhyPane:
    """Ask a question and mark the first result."""
    await driver.ask(QUESTION)
    await driver.press("down")
    await driver.until_focused(ResultList)
    await driver.press("v", "v")
    assert driver.results.marked == driver.paths[0]
    return driver.explore.query_one(WhyPane)


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=str)
async def test_difference_from_the_marked_result_is_shown(demo: Path, size: Size) -> None:
    async with running(demo, size) as driver:
        why = await marked_first(driver)
        assert why.difference == ""
        await driver.press("down")
        await driver.until(lambda: why.difference)
        assert why.difference.startswith(f"{driver.titles[0]} beats {driver.titles[1]} by .")
        if size != WIDE:
            await driver.press("x")
        await driver.until_shown(WhyPane, why.difference)


async def test_the_mark_is_removed_by_the_same_key_escape_and_another_query(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        why = await marked_first(driver)
        await driver.press("v", "v")
        assert driver.results.marked == ""
        await driver.press("v", "v", "j")
        await driver.until(lambda: why.difference)
        await driver.press("escape")
        assert (driver.results.marked, why.difference) == ("", "")
        await driver.press("v", "v", "j")
        await driver.until(lambda: why.difference)
        driver.explore.model.apply(doc_types=("person",))  # leaves the marked one out
        await driver.until(lambda: driver.explore.model.displayed.answers(driver.state))
        await driver.until(lambda: not why.difference)
        await driver.ask("rollback plan")
        assert driver.results.marked == ""


class SliderApp(App[None]):
    def compose(self) -> ComposeResult:
        self.changes: list[float] = []
        yield NumberSlider("alpha", 0.5, ends=("entity", "document"))

    @on(NumberSlider.Changed, "#alpha")
    def record(self, event: NumberSlider.Changed) -> None:
        self.changes.append(event.value)


async def test_slider_reports_only_changes_by_the_user_and_does_not_drift() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        slider.show(0.3)
        await pilot.pause()
        assert app.changes == []
        slider.focus()
        await pilot.press("right")
        for _ in range(11):  # a burst, faster than the app can answer
            slider.action_move(5)
        await pilot.pause()
        assert app.changes == [0.35, 0.9]
        slider.action_move_to_end(False)
        for _ in range(20):
            slider.action_move(5)
        await pilot.pause()
        assert app.changes[-1] == 1.0
        slider.action_move(5)
        await pilot.pause()
        assert app.changes[-1] == 1.0


async def test_slider_is_clicked_and_dragged_with_the_mouse() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        layout = slider.layout_for(slider.size.width)
        await pilot.mouse_down(slider, offset=(layout.start, 0))
        await pilot.pause()
        assert slider.value == 0.0
        await pilot.hover(slider, offset=(layout.start + layout.track - 1, 0))
        await pilot.pause()
        assert slider.value == 1.0
        await pilot.mouse_up(slider, offset=(layout.start + layout.track - 1, 0))
        await pilot.pause()
        await pilot.hover(slider, offset=(layout.start, 0))
        assert slider.value == 1.0


async def test_brackets_in_a_note_are_not_markup() -> None:
    app = SliderApp()
    async with app.run_test(size=(120, 16)) as pilot:
        app.query_one(NumberSlider).annotate("[red]2 of [b]3")
        await pilot.pause()
        text = rendered_text(app)
        assert "[red]2 of [b]3" in text


async def test_rows_that_a_change_of_the_base_moves_have_no_arrows(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        first, second, *others = driver.view.results
        rows = (replace(second, rank=1), replace(first, rank=2), *others)
        displayed = copy(driver.explore.model.displayed)
        assert displayed.evidence is not None
        generation = displayed.evidence.generation + 1
        displayed.evidence = replace(displayed.evidence, generation=generation)
        driver.results.show(replace(driver.view, results=rows), displayed, fresh=False)
        assert driver.results.settled == rows
        assert "▲" not in driver.text_of(ResultList)
