"""The tour of the demo's first start, and the queries that an empty screen offers."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.shell.tour import TourBubble
from tests.functional.tui.driving import NARROW, TINY, WIDE, Driver, is_counted
from tests.functional.tui.watched import Watched, WatchedBases


async def test_the_tour_follows_its_keys_and_ends_with_escape(demo: Path) -> None:
    watched = Watched()
    app = KbxApp(demo, bases=WatchedBases(watched), tour="first", debounce=0.0)
    async with app.run_test(size=WIDE) as pilot:
        driver = Driver(app, pilot, watched)
        await driver.until(lambda: is_counted(driver))
        await driver.until_shown(TourBubble, "1/6 Press ↑ to ask a question")
        await driver.until_shown(ResultList, "for example what did", "↑ asks the next of them")
        await driver.press("up")
        query = driver.explore.query_one(QueryLine).value
        assert query.startswith("what did ")
        await driver.until(lambda: driver.explore.view is not None and driver.titles)
        await driver.until_shown(TourBubble, "2/6 Press ↓")
        await driver.press("down")
        await driver.until_shown(TourBubble, "3/6 Press ] and watch row ")
        bubble, results = driver.explore.query_one(TourBubble), driver.results
        assert not bubble.region.overlaps(results.region)  # it hides no row
        before = driver.paths
        row = int(driver.words_of(TourBubble).rpartition("row ")[2].split()[0])
        await driver.press("right_square_bracket")
        await driver.until(lambda: driver.paths != before)
        assert driver.paths.index(before[row - 1]) != row - 1
        await driver.until_shown(TourBubble, "4/6 Press z")
        await driver.press("enter")
        await driver.until(lambda: driver.explore.panes.read == "document")
        await driver.press("escape")
        await driver.until(lambda: not driver.explore.query_one(TourBubble).display)
        await driver.until_focused(ResultList)  # escape went back, too, as it always does
        assert driver.explore.panes.read is None
        await driver.press("tab")
        await driver.until_focused(WhyPane)
        await driver.press("question_mark")
        await driver.until_shown(HelpText, "the document part weighs 55 %", "bm25", "cosine")
    assert KbxApp(demo, bases=WatchedBases(watched), tour="always").explore is not None
    again = KbxApp(demo, bases=WatchedBases(watched), tour="first")
    assert again.explore is not None
    assert not again.explore.tour.is_wanted  # it has been seen


async def test_the_bubble_covers_nothing_where_there_is_no_room_beside_the_panes(
    demo: Path,
) -> None:
    watched = Watched()
    app = KbxApp(demo, bases=WatchedBases(watched), tour="always", debounce=0.0)
    async with app.run_test(size=NARROW) as pilot:
        driver = Driver(app, pilot, watched)
        await driver.until_shown(TourBubble, "1/6 Press ↑", "esc ends the tour")
        await driver.press("up")
        await driver.until_shown(TourBubble, "2/6 Press ↓")
        bubble = driver.explore.query_one(TourBubble).region
        assert bubble.y == driver.explore.panes.region.bottom
        await driver.press("down")
        await driver.until_shown(TourBubble, "3/6")
        assert driver.explore.query_one(TourBubble).region == bubble
        await pilot.pause()
        assert driver.results.cursor == 0  # the row to watch is in view anyway


async def test_the_row_to_watch_is_in_view_before_and_after_it_moves(demo: Path) -> None:
    watched = Watched()
    app = KbxApp(demo, bases=WatchedBases(watched), tour="always", debounce=0.0)
    async with app.run_test(size=TINY) as pilot:
        driver = Driver(app, pilot, watched)
        await driver.until_shown(TourBubble, "1/6 Press ↑")
        await driver.press("up")
        await driver.until_shown(TourBubble, "2/6 Press ↓")
        await driver.until(lambda: driver.titles)
        await driver.press("down")
        await driver.until_shown(TourBubble, "3/6 Press ] and watch row ")
        row = int(driver.words_of(TourBubble).rpartition("watch row ")[2].split()[0]) - 1
        path = driver.paths[row]
        await driver.until(lambda: row in driver.results.visible_rows())
        await driver.press("right_square_bracket")
        await driver.until(lambda: driver.paths.index(path) < row)
        await driver.until(lambda: driver.paths.index(path) in driver.results.visible_rows())


async def test_escape_in_the_query_line_ends_the_tour_and_leaves_the_focus_there(
    demo: Path,
) -> None:
    watched = Watched()
    app = KbxApp(demo, bases=WatchedBases(watched), tour="always", debounce=0.0)
    async with app.run_test(size=WIDE) as pilot:
        driver = Driver(app, pilot, watched)
        await driver.until_shown(TourBubble, "1/6 Press ↑")
        await driver.press("escape")
        await driver.until(lambda: not driver.explore.query_one(TourBubble).display)
        await driver.write("what did")
        assert driver.explore.query_one(QueryLine).value == "what did"
