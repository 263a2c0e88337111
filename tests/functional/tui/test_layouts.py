"""The layout at several terminal sizes, and the frame of every mode: tabs, status line, key bar."""

import asyncio
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual import events
from textual.app import App
from textual.filter import Monochrome, NoColor
from textual.geometry import Size as ScreenSize
from textual.widget import Widget

from kbx_tui import KnowledgeBase
from kbx_tui.tui.dedup.panes import DraftList
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.experts.screen import Experts
from kbx_tui.tui.explore.entities import EntityCard, EntityList, EntityStrip
from kbx_tui.tui.explore.inputs import Knobs, ModeBadge, QueryLine
from kbx_tui.tui.explore.result_list import PASSAGE_LINES, ResultList
from kbx_tui.tui.explore.screen import Explore
from kbx_tui.tui.explore.why_pane import WhyLine, WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell import frame_screen
from kbx_tui.tui.shell.frame_screen import ModeTabs
from kbx_tui.tui.shell.help_screen import Help
from kbx_tui.tui.widgets import footer
from kbx_tui.tui.widgets.footer import KeyBar, StatusLine
from tests.functional.tui.driving import (
    NARROW,
    QUESTION,
    TINY,
    WIDE,
    Driver,
    Size,
    rendered_strips,
    running,
)
from tests.waiting import until


async def test_narrow_terminal_gives_results_all_the_room_and_lists_entities_on_e(
    demo: Path,
) -> None:
    async with running(demo, NARROW) as driver:
        await driver.until_shown(ResultList, "Type to search")
        assert not driver.shows(WhyPane)
        await driver.ask(QUESTION)
        await driver.press("escape", "e")
        await driver.until_focused(EntityList)
        assert not driver.results.display
        await driver.press("escape")
        await driver.until_focused(ResultList)


async def test_tiny_terminal_shows_one_pane_and_tab_cycles_through_them(demo: Path) -> None:
    async with running(demo, TINY, asked=QUESTION) as driver:
        await driver.press("escape")
        panes: list[type[Widget]] = [ResultList, EntityList, WhyPane, ResultList]
        for kind in panes:
            await driver.until(partial(driver.has_focus, kind))
            shown = [pane for pane in panes[:3] if driver.shows(pane)]
            assert shown == [kind]
            assert driver.explore.query_one(QueryLine).region.height == 1
            assert "two-pass" in driver.text_of(ModeBadge)
            await driver.press("tab")


@pytest.mark.parametrize(
    "size", [(200, 60), (110, 30), (100, 20), (79, 24), (40, 12), (20, 6)], ids=str
)
async def test_app_works_at_any_terminal_size(demo: Path, size: Size) -> None:
    async with running(demo, size, asked=QUESTION) as driver:
        await driver.press("down", "j", "tab", "right_square_bracket", "question_mark", "escape")
        await driver.press("f", "escape", "escape", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("n", "l", "escape", "e", "enter")
        await driver.until(lambda: driver.explore.panes.read == "card")
        await driver.press("G", "escape")
        assert driver.app.is_running


async def test_resizing_the_terminal_changes_the_layout(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.pilot.resize_terminal(*NARROW)
        await driver.until(lambda: driver.explore.query_one(EntityStrip).display)
        await driver.pilot.resize_terminal(*TINY)
        await driver.until(lambda: not driver.explore.query_one(WhyPane).display)
        await driver.pilot.resize_terminal(*WIDE)
        await driver.until(lambda: driver.explore.query_one(EntityList).display)
        await driver.until_shown(ResultList, "2026-03-17")


@pytest.mark.parametrize("delay", [None, 0.0, 0.0005])
async def test_last_of_several_resizes_wins(
    demo: Path, monkeypatch: pytest.MonkeyPatch, delay: float | None
) -> None:
    last = ScreenSize(100, 30)
    sizes: list[ScreenSize] = []
    update_classes, fit = Explore.update_classes, Explore.fit

    def update(screen: Explore, *arguments: Any, **options: Any) -> Explore:
        if not sizes:
            sizes.append(screen.app.size)
            if delay is None:
                resize(screen.app, last)
            else:
                asyncio.get_running_loop().call_later(delay, resize, screen.app, last)
        return update_classes(screen, *arguments, **options)

    def record(screen: Explore, size: ScreenSize) -> None:
        sizes.append(size)
        fit(screen, size)

    async with running(demo, WIDE, asked=QUESTION) as driver:
        monkeypatch.setattr(Explore, "update_classes", update)
        monkeypatch.setattr(Explore, "fit", record)
        await driver.pilot.resize_terminal(*NARROW)
        await driver.until(lambda: driver.explore.size == last)
        for _ in range(5):  # no earlier size is laid out again
            await driver.pilot.pause()
        assert driver.explore.size == last
        assert len(sizes) <= 3, "two sizes were laid out in turns"


async def test_busy_overlay_and_the_screen_below_are_both_resized(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        driver.app.action_help()
        await driver.pilot.pause()
        overlay, narrow = driver.app.screen, ScreenSize(*NARROW)
        busy, gate = asyncio.Event(), asyncio.Event()

        async def be_busy() -> None:
            busy.set()
            await gate.wait()

        overlay.call_next(be_busy)
        await busy.wait()
        resize(driver.app, narrow)
        await until(lambda: driver.explore.size == narrow)
        gate.set()
        await driver.until(lambda: overlay.size == narrow)
        assert overlay.has_class("-narrow")
        assert driver.explore.has_class("-narrow")


def resize(app: App[None], size: ScreenSize) -> None:
    """Resize the terminal and notify the screens at once, without the usual delay."""
    app._driver._size = (size.width, size.height)  # type: ignore[union-attr]
    app._size, app._resize_event = size, events.Resize(size, size)
    app._check_resize()


async def test_shrinking_the_terminal_keeps_the_focused_pane_visible(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "e")
        await driver.until_focused(EntityList)
        monkeypatch.setattr(frame_screen, "LAYOUT_PAUSE", 0.1)
        driver.results.refresh()  # drawn by a timer, between the steps of the resize
        await driver.pilot.resize_terminal(*TINY)
        await driver.until(lambda: not driver.results.display)
        assert driver.explore.query_one(EntityList).display
        assert driver.has_focus(EntityList)


async def test_document_that_covers_the_results_has_the_focus_or_closes(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "p")
        await driver.until_shown(PreviewPane, "Migration go/no-go")
        assert driver.has_focus(ResultList)
        await driver.pilot.resize_terminal(*NARROW)
        await driver.until(lambda: not driver.explore.reader.is_open)
        assert driver.has_focus(ResultList)
        assert driver.results.display
        await driver.press("p")
        await driver.until_focused(PreviewPane)
        assert not driver.results.display
        await driver.press("slash")
        await driver.until_focused(QueryLine)
        await driver.until(lambda: driver.results.display)
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.press("p")
        await driver.until_focused(ResultList)
        assert driver.results.display


async def test_wide_characters_keep_columns_aligned(demo: Path) -> None:
    async with running(demo, NARROW, asked="spring all-hands") as driver:
        await driver.until_shown(ResultList, "🚢 Spring all-hands")
        results, width = driver.results, driver.results.line_width
        lines = [
            results.draw(results.line_at(y, width), width) for y in range(results.visible_height)
        ]
        assert {line.cell_length for line in lines} == {width}
        assert (
            lines[driver.titles.index("🚢 Spring all-hands")].text.rstrip().endswith("2026-04-16")
        )
        columns = [_column_of_date(line.text) for line in lines if "2026-" in line.text]
        assert len(set(columns)) == 1


def _column_of_date(text: str) -> int:
    return cell_len(text[: text.index("2026-")])


async def test_reasons_of_an_entity_are_whole_only_while_the_list_has_the_focus(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape")
        entities = driver.explore.query_one(EntityList)
        before = driver.text_of(EntityList)
        reasons = entities.rows[0].signals
        assert reasons not in driver.words_of(EntityList)  # too long for a line
        await driver.press("e")
        await driver.until_shown(EntityList, reasons)
        await driver.press("escape")
        await driver.until(lambda: driver.text_of(EntityList) == before)


README_QUESTION = "what did the platform team decide about migration?"
LONG = "kbx.toml: search.hierarchy_alpha = 7 is not valid: " + "use a number from 0 to 1, " * 8


async def test_tabs_show_modes_drafts_and_base_and_open_a_mode_on_a_click(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.drafts.save(kb.drafts.in_file("drafts.md"))
    async with running(demo_copy, WIDE) as driver:
        await driver.until_shown(ModeTabs, "F1 Explore F2 Drafts (7)", "63 documents")
        await click_tab(driver, "Experts")
        await driver.until(lambda: isinstance(driver.app.screen, Experts))
        await driver.until_shown(ModeTabs, "F1 Explore F2 Drafts (7) F3 Experts")
        await click_tab(driver, "Drafts")
        await driver.until(lambda: isinstance(driver.app.screen, Dedup))
        drafts = driver.app.screen.query_one(DraftList)
        await driver.until(lambda: len(drafts.rows) == 7)
        await driver.press("escape", "delete")
        await driver.until_shown(ModeTabs, "F2 Drafts (6)")
        await driver.press("f1")
        await driver.until_shown(ModeTabs, "F1 Explore F2 Drafts (6)")


async def test_messages_move_nothing_and_long_ones_are_whole_while_they_are_read(
    demo: Path,
) -> None:
    async with running(demo, NARROW, asked=QUESTION) as driver:
        await driver.press("escape")
        before = places(driver)
        driver.status.show_notice("one")
        await driver.until_shown(StatusLine, "one")
        assert places(driver) == before
        driver.app.show_error(LONG)
        await driver.until_shown(StatusLine, "✗ kbx.toml: ", "0 to 1, use a number")
        assert driver.status.size.height > 1
        assert driver.status.region.bottom == driver.explore.query_one(KeyBar).region.y
        assert places(driver) == before
        driver.status.show_notice("two")  # a notice comes before an error, then goes
        await driver.until_shown(StatusLine, "two")
        assert driver.status.size.height == 1
        assert places(driver) == before


async def test_last_message_is_shown_again(demo: Path) -> None:
    async with running(demo, TINY) as driver:
        await driver.press("escape", "m")
        await driver.until_shown(StatusLine, "flat search")
        await driver.until(lambda: not driver.status.notice, seconds=30.0)
        await driver.until_shown(KeyBar, "? keys")
        await driver.press("exclamation_mark")
        await driver.until_shown(StatusLine, "flat search")


async def test_a_note_covers_results_of_a_small_terminal_only_while_it_is_read(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(footer, "READING_SPEED", 1000.0)
    monkeypatch.setattr(StatusLine, "NOTICE_SECONDS", 0.1)
    note = "only 9 documents match “migration”; the others are linked to Alice Chen"
    async with running(demo, TINY, asked=QUESTION) as driver:
        driver.status.show_note(note)
        await driver.until_shown(StatusLine, note)
        await driver.until(lambda: not driver.status.text)
        await driver.press("escape", "exclamation_mark")
        await driver.until_shown(StatusLine, note)


async def click_tab(driver: Driver, title: str) -> None:
    line = driver.text_of(ModeTabs)
    await driver.pilot.click(ModeTabs, offset=(line.index(title), 0))


def places(driver: Driver) -> list[object]:
    kinds = (ModeTabs, Knobs, KeyBar)
    return [driver.results.region, *(driver.explore.query_one(kind).region for kind in kinds)]


async def test_zoomed_pane_fills_the_screen_until_the_focus_leaves_it(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "e", "Z")
        entities = driver.explore.query_one(EntityList)
        await driver.until(lambda: entities.region.width == WIDE[0])
        assert driver.explore.query_one(ModeTabs).region.y == 0
        assert entities.region.height == WIDE[1] - 2
        await driver.press("Z")
        await driver.until(lambda: entities.region.width < 40)
        await driver.press("Z", "slash")  # a field cannot be used while it is hidden
        await driver.until(lambda: driver.results.region.width > 40)
        await driver.until(lambda: driver.explore.maximized is None)


async def test_no_color_shows_text_in_a_theme_of_terminal_colours(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(demo, NARROW) as driver:
        for theme, kind in (("ansi-dark", NoColor), ("textual-dark", Monochrome)):
            driver.app.theme = theme
            await driver.pilot.pause()
            filters = [type(each) for each in driver.app.get_line_filters()]
            assert [each for each in filters if each in (NoColor, Monochrome)] == [kind]
        await driver.ask(README_QUESTION)
        await driver.press("escape")
        await driver.until_focused(ResultList)
        why = driver.explore.query_one(WhyPane)
        await driver.until(lambda: driver.results.styles.border_title_style.reverse)
        assert not why.styles.border_title_style.reverse  # the title says who has the focus


async def test_at_140_columns_nothing_is_said_that_has_no_meaning_yet(demo_copy: Path) -> None:
    """Before, the screen held 480 words; at most half of them are left."""
    async with running(demo_copy, (140, 40), asked=README_QUESTION) as driver:
        await driver.press("escape")
        await driver.until_shown(ResultList, "signed off by Alice after the Wednesday rehearsal.")
        await driver.until_shown(WhyPane, "says “decides” and “migration”; mentions Platform;")
        words = re.findall(r"[^\W_]+(?:[.'’/@-][^\W_]+)*|\.\d+", driver.screen_text())
        assert len(words) <= 240, f"{len(words)} words"
        assert "search quality" not in driver.screen_text()
        assert driver.explore.query_one(Knobs).size.height == 1
        await driver.press("right_square_bracket")
        await driver.until_shown(Knobs, ".55")
        assert "search quality" not in driver.screen_text()
        assert " ms" not in driver.text_of(ModeBadge)


async def test_weak_results_are_one_line_until_the_cursor_goes_there(demo: Path) -> None:
    async with running(demo, (120, 36), asked=README_QUESTION) as driver:
        await driver.until_shown(ResultList, " weaker", "2026-03-17")
        assert "end shows them" not in driver.words_of(ResultList)  # it moves in the query
        await driver.press("down")
        await driver.until_shown(ResultList, " weaker · end shows them", "2026-03-17")
        shown, weakest = len(driver.results.visible_rows()), driver.results.rows[-1]
        assert f" {len(driver.results.rows) - shown} weaker" in driver.text_of(ResultList)
        assert result_look(driver.results, shown - 1) == "dim"
        spare = driver.results.visible_height - driver.results.virtual_size.height
        assert spare <= PASSAGE_LINES  # kept for passages under the cursor
        await driver.press(*["down"] * shown)
        await driver.until(lambda: driver.results.cursor == shown)
        assert "weaker" not in driver.text_of(ResultList)
        await driver.press("end")
        await driver.until_shown(ResultList, weakest.title)
        heights = driver.results.row_heights()[:-1]  # the cursor stays on a document
        await driver.press(*["left_square_bracket"] * 4)
        await driver.until(lambda: driver.alpha == 0.3)
        await driver.press("end")
        assert driver.results.row_heights()[:-1] == heights  # whatever their scores are now
        await driver.press(*["right_square_bracket"] * 3)
        await driver.until(lambda: driver.alpha == 0.45)
        assert "weaker" not in driver.text_of(ResultList)
        assert result_look(driver.results, 0) == "strong"
        assert result_look(driver.results, -1) == "dim"


async def test_passages_fill_the_room_that_weak_results_leave(demo: Path) -> None:
    async with running(demo, (140, 60), asked=README_QUESTION) as driver:
        await driver.press("escape")
        await driver.until_shown(ResultList, " weaker · end shows them")
        results = driver.results
        assert result_look(results, 3) == "text"
        assert results.row_heights()[3] == 3  # a title, a line of the passage, a blank line
        await driver.pilot.resize_terminal(140, 40)  # too low for a passage of each
        await driver.until(lambda: results.row_heights()[3] == 1)
        assert "weaker" in driver.text_of(ResultList)
        await driver.pilot.resize_terminal(140, 90)  # high enough for the weak ones, too
        await driver.until_shown(ResultList, results.rows[-1].title)
        assert "weaker" not in driver.text_of(ResultList)


async def test_bars_show_scores_why_details_and_the_threshold_what_it_keeps(demo: Path) -> None:
    async with running(demo, (140, 40), asked=README_QUESTION) as driver:
        await driver.press("down")
        await driver.until_shown(WhyPane, "document .", "words", "tab shows details")
        assert "bm25" not in driver.text_of(WhyPane)
        await driver.press("tab")
        await driver.until_shown(WhyPane, "bm25", "cosine", "line 54")
        assert "tab shows details" not in driver.text_of(WhyPane)
        await driver.press("escape", "end")  # all results are shown
        for row, result in enumerate(driver.results.rows):
            line = "".join(span.text for span in driver.results.row_line(row, 0, 60))
            assert line.count("━") + line.count("─") == round(result.score * 8)
        await driver.until_shown(Knobs, ".50 no effect: only named ones count")
        assert not driver.explore.query_one(Knobs).threshold.has_effect
        await driver.press("left_curly_bracket", "left_curly_bracket")
        await driver.until_shown(Knobs, ".40 no effect: only named ones count")
        await driver.press("m")  # flat: alpha has nothing to weigh
        await driver.until(lambda: driver.view.mode.name == "flat")
        assert not driver.explore.query_one(Knobs).alpha.has_effect
        await driver.until_shown(Knobs, "document .50 no effect")


def result_look(results: ResultList, row: int) -> str:
    row = row % len(results.rows)
    line = results.row_line(row, 0, 60)
    return next(span.look for span in line if span.text.strip() == results.rows[row].title)


async def test_the_empty_screen_shows_what_the_base_is_about_in_few_words(demo: Path) -> None:
    async with running(demo, (140, 40)) as driver:
        await driver.until_shown(ResultList, "↑ enter asks the next", "25 meetings, 15 people")
        assert not driver.shows(WhyPane)
        words = re.findall(r"[^\W_]+(?:[.'’/@-][^\W_]+)*", driver.screen_text())
        assert len(words) <= 100, f"{len(words)} words"
        driver.app.show_notice("alpha is .50 again")
        await driver.write("?")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        await driver.press("escape")
        await driver.ask("ferry")
        await driver.until(lambda: not driver.status.notice)
        assert not driver.explore.query_one(Knobs).alpha.has_effect


async def test_sliders_are_shown_from_the_first_answer_or_move_on(demo: Path) -> None:
    async with running(demo, NARROW) as driver:
        knobs = driver.explore.query_one(Knobs)
        assert not knobs.display
        await driver.press("escape", "right_square_bracket")
        await driver.until_shown(Knobs, ".55")
        await driver.press("z")
        await driver.until(lambda: not knobs.display)
        await driver.ask("ferry")
        await driver.until(lambda: knobs.display)


@pytest.mark.parametrize(("measures", "shown"), [("always", True), ("never", False)])
async def test_settings_decide_for_good_whether_measures_are_shown(
    demo_copy: Path, measures: str, *, shown: bool
) -> None:
    (demo_copy / "kbx.toml").write_text(f'[app]\nmeasures = "{measures}"\n')
    async with running(demo_copy, WIDE, asked=QUESTION) as driver:
        await driver.press("escape")
        if not shown:
            await driver.press("3")
            await driver.until_shown(StatusLine, "graded 3")
        await driver.press("right_square_bracket")
        await driver.until(lambda: driver.alpha == 0.55)
        assert (" ms" in driver.text_of(ModeBadge)) is shown


async def test_mode_ends_its_line_and_names_entities_where_no_pane_does(demo_copy: Path) -> None:
    async with running(demo_copy, NARROW, asked=QUESTION, measured=True) as driver:
        await driver.press("escape", "right_square_bracket")
        await driver.until_shown(ModeBadge, " ms")
        badge = driver.explore.query_one(ModeBadge)
        await driver.until(lambda: badge.region.right == NARROW[0])
        assert "Alice Chen" not in driver.text_of(ModeBadge)  # the line below names her
        await driver.pilot.resize_terminal(*TINY)
        await driver.press("left_square_bracket")
        await driver.until_shown(ModeBadge, "two-pass · Alice Chen")
        await driver.until_shown(Knobs, "alpha [ ]", "threshold { }")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=str)
async def test_sliders_name_their_ends_and_give_way_to_what_is_read(demo: Path, size: Size) -> None:
    async with running(demo, size, asked=QUESTION) as driver:
        await driver.until_shown(Knobs, "alpha [ ] entity ━", "─ document .50", "threshold { }")
        for keys in (("escape", "enter"), ("e", "enter")):
            await driver.press(*keys)
            await driver.until(lambda: not driver.shows(Knobs))
            await driver.press("escape")
            await driver.until(lambda: driver.shows(Knobs))


async def test_narrow_terminal_says_why_in_a_line_that_opens(demo: Path) -> None:
    async with running(demo, NARROW, asked=README_QUESTION) as driver:
        await driver.press("escape")
        await driver.until_shown(
            WhyLine,
            "why says “decides”; mentions Platform; Migration in the title x more",
        )
        assert driver.results.styles.border_bottom[0] == "round"
        assert driver.results.region.height == 17
        for opens in (partial(driver.press, "x"), partial(driver.pilot.click, WhyLine)):
            await opens()
            await driver.until_shown(
                WhyPane, "document .80", ".52 of .54 Platform", ".46 of .46 Migration"
            )
            await driver.until_shown(WhyPane, "86 % of a full answer", "mention, 5 members")
            await driver.until(lambda: driver.explore.query_one(WhyPane).max_scroll_y == 0)
            await driver.until_shown(WhyLine, "x less")
            assert driver.has_focus(ResultList)
            await driver.press("down", "x")
            await driver.until(lambda: not driver.shows(WhyPane))
            await driver.press("up")
        await driver.ask("what did Alice Chen say about Migration")  # fewer reasons, none cut off
        await driver.until_shown(WhyLine, "says “migration”; Alice Chen attended x more")
        await driver.ask("asdfqwer")
        await driver.until_shown(ResultList, "Nothing found")
        assert not driver.words_of(WhyLine)  # nothing is left to explain


async def test_a_document_has_most_of_the_width_until_the_entities_have_the_focus(
    demo: Path,
) -> None:
    async with running(demo, (140, 40), asked=README_QUESTION) as driver:
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.until(lambda: driver.explore.query_one(PreviewPane).region.width > 80)
        assert not driver.shows(EntityList)
        await driver.press("e")
        await driver.until_focused(EntityList)
        await driver.press("tab")
        await driver.until_focused(ResultList)
        await driver.until(lambda: not driver.shows(EntityList))
        await driver.press("escape")
        await driver.until(lambda: driver.shows(EntityList))
        await driver.press("e", "enter")
        await driver.until_focused(EntityCard)
        await driver.press("end", "enter")  # a document of a card, too
        await driver.until_focused(PreviewPane)
        assert not driver.shows(EntityList)
        document = driver.explore.query_one(PreviewPane)
        assert document.scroll_offset.y == 0  # the query did not lead there: it opens at the top
        assert "match" in document.position
        await driver.press("escape", "escape")
        await driver.until_focused(EntityList)
        await driver.press("tab")
        await driver.pilot.resize_terminal(*NARROW)
        await driver.press("enter")
        await driver.until(lambda: driver.explore.query_one(PreviewPane).region.height == 19)


async def test_the_entity_of_an_open_card_is_marked_and_a_new_query_closes_it(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "e", "down", "enter")
        await driver.until_focused(EntityCard)
        assert "› ● Migration" in driver.text_of(EntityList)
        await driver.press("escape", "escape")
        await driver.until_focused(ResultList)
        assert "›" not in driver.text_of(EntityList)
        await driver.press("e", "enter")
        await driver.until(lambda: driver.explore.panes.read == "card")
        await driver.press("slash")
        await driver.write("rollback")  # it replaces the old query
        await driver.until(lambda: driver.view.query == "rollback")
        assert driver.explore.panes.read is None
        await driver.press("escape", "slash", "right")
        await driver.write(" plan")
        await driver.until(lambda: driver.view.query == "rollback plan")


async def test_query_is_cleared_by_a_key_or_a_click(demo: Path) -> None:
    async with running(demo, NARROW, asked=QUESTION) as driver:
        cells = (cell for strip in rendered_strips(driver.app) for cell in strip)
        (sign,) = [cell for cell in cells if "×" in cell.text]
        assert sign.style is not None and sign.style.color is not None  # else dialogs dim it not
        badge = driver.explore.query_one(ModeBadge)
        await driver.until(lambda: badge.region.right == NARROW[0])  # it is laid out
        line = driver.text_of(QueryLine)
        await driver.pilot.click(QueryLine, offset=(line.index("×"), 0))
        await driver.until(lambda: driver.explore.view is None)
        await driver.ask(QUESTION)
        await driver.press("slash", "ctrl+u")
        await driver.until(lambda: driver.explore.view is None)
        assert "×" not in driver.text_of(QueryLine)
