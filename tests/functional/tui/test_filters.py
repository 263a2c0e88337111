"""Narrowing a search in the app: the path field, typed filters and their chips, facets, dates."""

import gc
from pathlib import Path

import pytest

from kbx_tui.search.request import command_line
from kbx_tui.tui.explore.entities import EntityList
from kbx_tui.tui.explore.facets import FacetPane
from kbx_tui.tui.explore.inputs import (
    DateChip,
    FilterChip,
    PathChoices,
    PathField,
    PathLine,
    QueryLine,
)
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running
from tests.functional.tui.watched import Watched
from tests.functional.vaults import index_vault

MEETINGS = "memory/meetings/2026/03"


def path_of(driver: Driver) -> str:
    return driver.explore.query_one(PathLine).value


async def test_a_path_is_completed_by_tab_and_enter(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/meet")
        await driver.until(lambda: driver.explore.query_one(PathLine).completion)
        await driver.press("enter")
        await driver.until(lambda: driver.state.path == "memory/meetings/")
        assert path_of(driver) == "memory/meetings/"
        await driver.press("f", "ctrl+u")
        await driver.write("memory/m")
        await driver.until_shown(PathChoices, "memory/meetings/")
        await driver.press("tab")
        await driver.until_shown(PathChoices, "memory/meetings/2025/", "memory/meetings/2026/")
        await driver.press("escape")  # leaving the field hides the completions
        await driver.until(lambda: not driver.explore.query_one(PathChoices).display)
        assert path_of(driver) == "memory/meetings/"  # a folder is whole without its first folder
        await driver.press("f")
        await driver.until_focused(PathLine)
        await driver.until_shown(PathChoices, "memory/meetings/2025/")
        await driver.press("down", "enter")
        await driver.until(lambda: driver.state.path == "memory/meetings/2026/")


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_part_of_a_name_finds_its_folder_and_tab_never_leaves_it_untaken(
    demo: Path, size: Size
) -> None:
    async with running(demo, size) as driver:
        await driver.press("escape", "f")
        await driver.write("mee")
        await driver.until_shown(PathChoices, "› memory/meetings/")
        await driver.press("tab")
        await driver.until(lambda: path_of(driver) == "memory/meetings/")
        assert driver.has_focus(PathLine)
        await driver.press("ctrl+u")
        await driver.until_shown(PathChoices, "memory/people/")
        await driver.write("memory/people/alice-chen.md")
        await driver.until(lambda: driver.state.path == "memory/people/alice-chen.md")
        await driver.press("tab")
        assert driver.has_focus(PathLine)
        await driver.until_shown(PathLine, "alice-chen.md")  # where the cursor is
        await driver.press("enter")
        await driver.until_shown(PathLine, "memory/people/")


async def test_completions_of_an_earlier_text_are_not_taken(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        # All is in one folder, so the folders in it are shown at once, with their documents.
        await driver.until_shown(PathChoices, "memory/ 63", "memory/meetings/ 25")
        driver.explore.query_one(PathLine).suggester = None  # the next ones would come too late
        await driver.write("meet")
        await driver.press("tab")
        assert (path_of(driver), driver.has_focus(PathLine)) == ("meet", True)
        await driver.press("enter")
        await driver.until(lambda: driver.state.path == "meet")


async def test_a_path_that_finds_nothing_says_so(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        shown = driver.paths
        driver.explore.query_one(PathLine).value = "../elsewhere"
        await driver.until_shown(StatusLine, "✗", "../elsewhere")
        assert driver.paths == shown  # the results stay
        assert driver.text_of(StatusLine).strip().count("\n") <= 1
        driver.explore.query_one(PathLine).value = ""
        await driver.until(lambda: not driver.status.display)
        await driver.narrow("memory/nowhere")
        nothing = "There is no document at memory/nowhere."
        await driver.until_shown(ResultList, "Nothing found", nothing, "f changes the path")
        await driver.until_shown(PathField, "0 in scope")


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_results_are_limited_to_the_path_and_counted(demo: Path, size: Size) -> None:
    async with running(demo, size, asked=QUESTION) as driver:
        field = driver.explore.query_one(PathField)  # hidden on small terminals unless used
        assert field.display == (size == WIDE)
        await driver.press("escape", "f")
        await driver.until_focused(PathLine)
        assert field.display
        await driver.press("escape")
        await driver.until(lambda: field.display == (size == WIDE))
        await driver.press("f")
        await driver.until_focused(PathLine)
        await driver.narrow(MEETINGS)
        assert driver.paths
        assert all(path.startswith(f"{MEETINGS}/") for path in driver.paths)
        await driver.until_shown(PathField, MEETINGS, "6 in scope")
        await driver.press("enter")
        await driver.until_focused(ResultList)
        assert MEETINGS in driver.words_of(PathField)  # visible as long as it applies


async def test_scope_is_counted_before_there_is_a_query(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/people/")
        await driver.until_shown(PathField, "15 in scope")
        assert not driver.watched.calls["retrieve"]
        await driver.ask("rehearsal")
        assert all(path.startswith("memory/people/") for path in driver.paths)


async def test_escape_leaves_the_path_and_a_key_or_a_click_clears_it(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        everywhere = driver.paths
        await driver.press("escape", "f")
        await driver.narrow(MEETINGS)
        await driver.press("escape")
        await driver.until_focused(ResultList)
        await driver.until_shown(StatusLine, f"only {MEETINGS} is searched; z takes it back")
        assert MEETINGS in driver.text_of(PathLine)
        assert path_of(driver) == MEETINGS
        await driver.press("f")
        await driver.until_shown(PathChoices, f"{MEETINGS}/", "everywhere")
        await driver.pilot.click(PathChoices, offset=(5, 2))
        await driver.until(lambda: driver.paths == everywhere)
        await driver.narrow(MEETINGS)
        await driver.press("ctrl+u")
        await driver.until(lambda: driver.paths == everywhere)
        assert driver.has_focus(PathLine)
        assert "in scope" not in driver.text_of(PathField)
        await driver.narrow(MEETINGS)
        line = driver.text_of(PathLine)
        await driver.pilot.click(PathLine, offset=(line.index("×"), 0))
        await driver.until(lambda: driver.paths == everywhere)
        await driver.press("escape", "f")
        await driver.until_shown(PathChoices, "memory/")
        await driver.pilot.click(PathChoices, offset=(5, 1))
        await driver.until(lambda: path_of(driver) == "memory/")
        assert driver.has_focus(PathLine)


async def test_folder_is_the_scope_while_a_file_name_is_typed(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("escape", "f")
        await driver.write("memory/people/bob")
        await driver.until(lambda: driver.view.scope.path == "memory/people/")
        assert driver.view.scope.in_scope == 15
        await driver.press("tab")
        await driver.until(lambda: driver.paths == ["memory/people/bob-okafor.md"])
        await driver.press("ctrl+u")
        await driver.until(lambda: not driver.view.scope.path)
        shown = driver.paths
        await driver.write("2026/")  # no folder begins so
        await driver.until_shown(PathChoices, "memory/meetings/2026/")
        assert (driver.state.path, driver.paths) == ("", shown)
        await driver.press("tab")
        await driver.until(lambda: driver.view.scope.path == "memory/meetings/2026/")
        assert driver.explore.query_one(QueryLine).value == QUESTION


async def test_filters_are_completed_shown_as_chips_and_removed(demo_kb_path: Path) -> None:
    async with running(demo_kb_path, WIDE, asked="rollback") as driver:
        matched, line = driver.view.matched, driver.explore.query_one(QueryLine)
        line.show_query("rollback type:mee")
        await driver.until(lambda: line.completion == "rollback type:meeting")
        assert driver.state.query == "rollback"  # half a type narrows nothing
        await driver.press("tab")
        await driver.until(lambda: driver.view.query == "rollback type:meeting")
        assert driver.view.filters == ("type:meeting",)
        assert driver.view.matched < matched
        line.show_query("rollback type:meeting @alcie")
        await driver.press("down")
        await driver.until_shown(ResultList, "type:meeting and @alcie;", "v d removes")
        assert "no entity is called alcie; did you mean Alice Chen?" in driver.view.note
        await driver.press("backspace")
        await driver.until(lambda: driver.view.query == "rollback type:meeting")
        await driver.until_shown(FilterChip, "[type:meeting x]", "v d remove")
        await driver.pilot.click(FilterChip, offset=(3, 0))
        await driver.until(lambda: driver.view.query == "rollback")
        assert not driver.explore.query_one(FilterChip).display
        await driver.press("backspace", "z")
        await driver.until(lambda: driver.view.query == "rollback type:meeting")
        line.focus()
        line.show_query("rollback -status:acc")
        await driver.until(lambda: line.completion == "rollback -status:accepted")
        line.show_query("status:active migration")
        await driver.press("down")
        await driver.until_shown(FilterChip, "[status:active x]")
        await driver.press("backspace")
        await driver.until(lambda: driver.view.query == "migration")


async def test_facets_narrow_by_one_key_and_undo(demo_kb_path: Path) -> None:
    async with running(demo_kb_path, NARROW) as driver:
        await driver.press("escape", "D")
        await driver.until_shown(StatusLine, "no results to narrow")
        await driver.ask("migration")
        await driver.press("down", "D")
        facets = driver.explore.query_one(FacetPane)
        await driver.until_shown(FacetPane, "Types", "meeting", "Tags")
        count = facets.rows[0].count
        await driver.press("enter")
        await driver.until(lambda: driver.view.query == "migration type:meeting")
        await driver.until(lambda: facets.rows[0].is_on)
        assert facets.facets is not None
        assert driver.view.matched == count == facets.facets.total
        assert driver.has_focus(ResultList)  # which the facets cover in a narrow terminal
        await driver.press("z", "e")
        await driver.until(lambda: driver.view.query == "migration")
        await driver.until(lambda: not facets.rows[0].is_on)
        await driver.until_focused(FacetPane)
        await driver.press("left", "left", "shift+right", "enter")
        await driver.until(lambda: "from:" in driver.view.query)
        assert "to:" in driver.view.query
        assert driver.view.results
        await driver.press("e", "escape", "e")  # esc gives the entities their place again
        await driver.until_focused(EntityList)


NOTES = {
    f"Beds/Bed {number}.md": f"---\ntags: [garden]\ndate: 2026-0{number}-01\n---\nTomatoes.\n"
    for number in (1, 2)
} | {
    "Trips/Coast.md": "---\ntags: [walk]\n---\nSee [[Tent]]. No tomatoes.\n",
    "Trips/Hills.md": "See [[Tent]].\n",
    "Tent.md": "Two coats of sealer.\n",
}


async def test_facets_narrow_a_base_without_entities(tmp_path: Path) -> None:
    root = index_vault(tmp_path / "notes", NOTES)
    async with running(root, WIDE) as driver:
        await driver.until_shown(
            FacetPane, "Facets of 5 documents", "garden 2", "Beds 2", "Most linked Tent 2", "Dates"
        )
        assert not driver.explore.query_one(EntityList).display
        await driver.press("escape", "e")
        await driver.until_focused(FacetPane)
        await driver.press("enter")
        await driver.until_shown(FacetPane, "Facets of 2 results", "garden 2")
        assert driver.state.query == driver.explore.query_one(QueryLine).value == "tag:garden"
        assert driver.has_focus(FacetPane)
        await driver.press("z")
        await driver.until_shown(FacetPane, "Facets of 5 documents")
        assert driver.state.query == ""
        await driver.ask("tomatoes")
        await driver.until_shown(FacetPane, "Facets of 3 results", "Trips 1")
        pane = driver.explore.query_one(FacetPane)
        row = next(y for y in range(20) if "Trips" in driver.text_of(FacetPane).split("\n")[y])
        await driver.pilot.click(FacetPane, offset=(6, row))
        await driver.until(lambda: driver.titles == ["Coast"])
        assert driver.state.query == "tomatoes in:Trips"
        await driver.press("z")
        await driver.until_shown(FacetPane, "Facets of 3 results", "Dates")
        await driver.press("G", "right", "enter")  # the last row is the strip of dates
        await driver.until(lambda: driver.titles == ["Bed 2"])
        await driver.press("z")
        await driver.ask("tent")
        await driver.until(lambda: any(each.kind == "linked" for each in pane.rows))
        await driver.press("home", "up")
        await driver.until_focused(QueryLine)
        driver.explore.query_one(QueryLine).show_query("")
        await driver.until_shown(FacetPane, "Facets of 5 documents")
        pane.focus()
        pane.choose([each.label for each in pane.rows].index("Tent"))
        await driver.press("enter")
        await driver.until_shown(PreviewPane, "Two coats of sealer")
        await driver.ask("zzqx")
        await driver.until_shown(FacetPane, "There is no result to narrow.")
    async with running(root, NARROW) as driver:
        await driver.until(lambda: "Tags: garden 2" in driver.screen_text())
        await driver.press("escape", "e", "enter")  # the results take the place of the facets
        await driver.until_focused(ResultList)
        await driver.until(lambda: set(driver.titles) == {"Bed 1", "Bed 2"})
        assert not driver.explore.query_one(StatusLine).error


DATED = "platform sync in March 2026"


def chip(driver: Driver) -> DateChip:
    return driver.explore.query_one(DateChip)


async def test_chip_shows_the_time_that_was_read_and_T_filters_by_it(demo: Path) -> None:  # noqa: N802
    async with running(demo, WIDE, asked="platform sync") as driver:
        assert not chip(driver).display
        await driver.ask(DATED)
        await driver.until_shown(DateChip, "prefers March 2026")
        assert "v T" not in driver.words_of(DateChip)  # which would be typed
        await driver.press("down", "tab")
        await driver.until_shown(WhyPane, "date", "of that time")
        await driver.press("escape", "T")
        await driver.until_shown(DateChip, "only March 2026", "v T prefer", "v t any time")
        assert {result.date[:7] for result in driver.results.rows} == {"2026-03"}
        usual = driver.explore.model.defaults.request()
        command = command_line(driver.state.request(), usual)
        assert command == "kbx search --dates filter 'platform sync in March 2026'"
        await driver.press("T")
        await driver.until_shown(DateChip, "prefers March 2026")
        assert len({result.date[:7] for result in driver.results.rows}) > 1
        await driver.ask("platform sync in March 2019")
        await driver.until_shown(DateChip, "no document is dated March 2019")
        await driver.ask("in March 2026")  # alone it lists its documents, the newest first
        dates = [result.date for result in driver.results.rows]
        assert dates == sorted(dates, reverse=True)
        assert {day[:7] for day in dates} == {"2026-03"}
        await driver.until_shown(ResultList, "date asked for 2026-03-26")


async def test_t_removes_the_preference_z_and_the_next_query_bring_it_back(demo: Path) -> None:
    async with running(demo, NARROW, asked=DATED) as driver:
        preferred = driver.paths
        driver.results.show_grades({preferred[0]: 3})
        assert "of the" not in str(driver.results.border_title)  # cut, it would read as 1 of 1
        await driver.press("escape", "t")
        await driver.until_shown(DateChip, "date words are not read", "t read them")
        await driver.press("z")
        await driver.until_shown(DateChip, "prefers March 2026")
        await driver.until_shown(StatusLine, "documents of that time are preferred again")
        assert driver.paths == preferred
        await driver.press("t")
        await driver.until_shown(DateChip, "date words are not read")
        driver.explore.query_one(QueryLine).value = ""
        await driver.until(lambda: not chip(driver).display)
        await driver.ask("migration in January 2026")
        await driver.until_shown(DateChip, "prefers January 2026")
        await driver.pilot.resize_terminal(*TINY)
        await driver.ask(DATED)
        await driver.until_shown(DateChip, "prefers March 2026")
        assert "t rem" not in driver.text_of(DateChip)  # the keys would be cut


async def test_keys_say_so_where_the_query_has_no_date_words(demo: Path) -> None:
    watched = Watched()
    async with running(demo, WIDE, watched=watched) as driver:
        watched.retrieving.clear()
        await driver.write(DATED)
        await driver.until(lambda: watched.queries)
        await driver.press("escape", "t")
        await driver.until_shown(StatusLine, "still searching")
        watched.retrieving.set()
        await driver.press("slash")
        await driver.ask("platform sync")
        await driver.press("escape", "t")
        await driver.until_shown(StatusLine, "the query has no date words")
        await driver.press("T")
        assert driver.state.dates == "prefer"


async def test_a_query_from_elsewhere_is_kept_when_settings_are_shown_at_the_same_moment(
    demo_kb_path: Path,
) -> None:
    async with running(demo_kb_path, WIDE, asked="rollback") as driver:
        line = driver.explore.query_one(QueryLine)
        driver.explore.show_query("incident review")
        driver.explore.show_state()  # as when a base opens, or undo shows earlier settings
        assert line.value == "incident review"
        await driver.until(lambda: driver.view.query == "incident review")
        for query in ("migration", "rollback plan"):  # before the first is searched for
            driver.explore.show_query(query)
        assert driver.state.query == "rollback plan"
        await driver.until(lambda: driver.view.query == "rollback plan")
        assert line.value == "rollback plan"


@pytest.mark.parametrize("query", ["@bob", "tag:rota", "type:meeting in:meetings"])
async def test_a_query_of_filters_alone_does_not_seem_to_name_nobody(
    demo: Path, query: str
) -> None:
    async with running(demo, WIDE, asked=query) as driver:
        await driver.until_shown(EntityList, "Only filters: all documents that pass them.")
        assert driver.results.rows
        await driver.ask(f"{query} zzz")
        await driver.until_shown(EntityList, "The query names nobody")


async def test_the_sort_key_takes_back_what_the_query_asks_for(demo: Path) -> None:
    async with running(demo, WIDE, asked="Migration newest first") as driver:
        await driver.press("escape")
        await driver.until_shown(ResultList, "newest first")
        await driver.press("v", "s")
        await driver.until(lambda: driver.explore.view is not None and not driver.view.order)
        assert driver.explore.query_one(QueryLine).value == "Migration"
        await driver.press("z")
        await driver.until(lambda: driver.view.order)


async def test_a_request_for_completions_that_another_replaces_leaves_no_warning(
    demo: Path, recwarn: pytest.WarningsRecorder
) -> None:
    async with running(demo, WIDE) as driver:
        path = driver.explore.query_one(PathLine)
        for _ in range(3):
            path.request_completions()
        await driver.pilot.pause()
        gc.collect()
    assert not [warning for warning in recwarn if "never awaited" in str(warning.message)]
