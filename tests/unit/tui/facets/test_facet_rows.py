"""The rows of facets, and the query after one is chosen."""

from __future__ import annotations

from kbx_tui.search.link_records import LinkedDocument
from kbx_tui.search.results.facets import Facets, FacetValue
from kbx_tui.tui.explore.facet_list import (
    FacetRow,
    facet_rows,
    linked_rows,
    narrowed,
)
from kbx_tui.tui.explore.facet_sidebar import facet_strip_line

FACETS = Facets(
    12,
    (
        FacetValue("tag", "garden", "garden", 7),
        FacetValue("tag", "idea", "idea", 2),
        FacetValue("in", "Road trips", "Road trips", 4),
    ),
    (),
    0,
)


def test_a_value_that_the_query_names_alone_is_on() -> None:
    query = "soil tag:garden tag:idea,garden"
    assert [row.is_on for row in facet_rows(FACETS, query)] == [True, False, False]


def test_choosing_a_value_adds_its_filter_and_again_removes_it() -> None:
    row = facet_rows(FACETS, "soil")[2]
    query = narrowed("soil", row)
    assert query == 'soil in:"Road trips"'
    assert narrowed(query, facet_rows(FACETS, query)[2]) == "soil"
    assert narrowed("", row) == 'in:"Road trips"'


def test_a_span_replaces_the_dates_of_the_query() -> None:
    query = "soil from:2025 to:2025-03"
    assert (
        narrowed(query, FacetRow("dates", "2026-01 2026-02", "", 0))
        == "soil from:2026-01 to:2026-02"
    )


def test_a_linked_document_narrows_nothing() -> None:
    (row,) = linked_rows([LinkedDocument("a/Compost.md", "", 3)])
    assert (row.label, row.count) == ("a/Compost.md", 3)
    assert narrowed("soil", row) == "soil"


def test_the_strip_names_as_many_values_as_fit() -> None:
    rows: tuple[FacetRow, ...] = facet_rows(FACETS, "")

    def words(width: int) -> str:
        return "".join(span.text for span in facet_strip_line(rows, "e", width)).rstrip()

    assert words(80) == " e narrows  Tags: garden 7, idea 2  Folders: Road trips 4"
    assert words(40) == " e narrows  Tags: garden 7, idea 2"
    assert words(12) == " e narrows"
