"""The sidebar of a base without entities holds facets."""

from __future__ import annotations

from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.tui.explore.entity_list import EntityList
from kbx_tui.tui.explore.facet_sidebar import FacetPane
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.widgets.status_line import StatusLine
from tests.functional.tui.driving import NARROW, WIDE, running
from tests.functional.vaults import write_vault

NOTES = {
    f"Beds/Bed {number}.md": f"---\ntags: [garden]\ndate: 2026-0{number}-01\n---\nTomatoes.\n"
    for number in (1, 2)
} | {
    "Trips/Coast.md": "---\ntags: [walk]\n---\nSee [[Tent]]. No tomatoes.\n",
    "Trips/Hills.md": "See [[Tent]].\n",
    "Tent.md": "Two coats of sealer.\n",
}


async def test_facets_narrow_a_base_without_entities(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "notes", NOTES)
    with KnowledgeBase(root) as kb:
        kb.index()
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
        await driver.press("g", "up")
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
