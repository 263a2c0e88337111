"""Facets: their rows, the strip of dates, and the query after one is chosen."""

from kbx_tui.search.link_records import LinkedDocument
from kbx_tui.search.results.facets import Facets, FacetValue
from kbx_tui.tui.explore.facets import (
    MONTHS,
    DateStrip,
    FacetRow,
    facet_rows,
    facet_strip_line,
    linked_rows,
    narrowed,
)

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
    assert not any(row.is_on for row in facet_rows(FACETS, "soil -tag:garden"))


def test_choosing_a_value_or_a_span_changes_its_filter_and_a_linked_document_none() -> None:
    row = facet_rows(FACETS, "soil")[2]
    query = narrowed("soil", row)
    assert query == 'soil in:"Road trips"'
    assert narrowed(query, facet_rows(FACETS, query)[2]) == "soil"
    assert narrowed("", row) == 'in:"Road trips"'

    query = "soil from:2025 to:2025-03"
    assert (
        narrowed(query, FacetRow("dates", "2026-01 2026-02", "", 0))
        == "soil from:2026-01 to:2026-02"
    )

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


QUARTER = (("2026-01", 1), ("2026-02", 0), ("2026-03", 8))


def test_a_strip_has_a_bar_for_every_time_and_is_dragged_in_either_direction() -> None:
    strip = DateStrip.of(QUARTER)
    assert strip.bars == "▁" * strip.cells + " " * strip.cells + "█" * strip.cells
    assert DateStrip().bars == ""

    strip = DateStrip.of(QUARTER)
    assert strip.between(2, 1).span == strip.between(1, 9).span == ("2026-02", "2026-03")


def test_times_are_filled_in_shown_as_years_and_without_wrong_ones() -> None:
    months = [(f"{2000 + n // 12}-{n % 12 + 1:02}", 1) for n in range(MONTHS + 1)]
    assert DateStrip.of(months).times == (*((str(2000 + n), 12) for n in range(5)), ("2005", 1))
    assert len(DateStrip.of(months, width=3).times) == 3
    assert [len(DateStrip.of(months[:5], width).bars) for width in (60, 28, 5)] == [30, 25, 5]

    months = [("0001-01", 1), ("2024-12", 3), ("2026-02", 5), ("9999-12", 1)]
    assert DateStrip.of(months).times == (("2024", 3), ("2025", 0), ("2026", 5))

    assert DateStrip.of([("2025-12", 1), ("2026-02", 8)]).times == (
        ("2025-12", 1),
        ("2026-01", 0),
        ("2026-02", 8),
    )


def test_keys_select_and_extend_a_span_within_the_strip() -> None:
    strip = DateStrip.of(QUARTER)
    assert (strip.span, strip.words) == (None, "")
    strip = strip.moved(-1)
    assert strip.span == ("2026-03", "2026-03")
    strip = strip.moved(-1).moved(-1).moved(-1)
    assert strip.words == "2026-01, 1 result"
    strip = strip.extended(1).extended(5)
    assert strip.words == "2026-01 to 2026-03, 9 results"
    assert strip.extended(-7).span == ("2026-01", "2026-01")
    assert DateStrip().moved(1).extended(1).span is None
