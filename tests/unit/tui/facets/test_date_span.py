"""The strip of dates: bars, and the span that keys and mouse select."""

from __future__ import annotations

from kbx_tui.tui.explore.facet_list import MONTHS, DateStrip

QUARTER = (("2026-01", 1), ("2026-02", 0), ("2026-03", 8))


def test_every_time_with_a_result_has_a_bar() -> None:
    strip = DateStrip.of(QUARTER)
    assert strip.bars == "▁" * strip.cells + " " * strip.cells + "█" * strip.cells
    assert DateStrip().bars == ""


def test_many_months_are_shown_as_years() -> None:
    months = [(f"{2000 + n // 12}-{n % 12 + 1:02}", 1) for n in range(MONTHS + 1)]
    assert DateStrip.of(months).times == (*((str(2000 + n), 12) for n in range(5)), ("2005", 1))
    assert len(DateStrip.of(months, width=3).times) == 3
    assert [len(DateStrip.of(months[:5], width).bars) for width in (60, 28, 5)] == [30, 25, 5]


def test_a_wrong_date_centuries_away_does_not_hide_the_others() -> None:
    months = [("0001-01", 1), ("2024-12", 3), ("2026-02", 5), ("9999-12", 1)]
    assert DateStrip.of(months).times == (("2024", 3), ("2025", 0), ("2026", 5))


def test_months_without_a_result_are_filled_in() -> None:
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


def test_a_span_is_dragged_in_either_direction() -> None:
    strip = DateStrip.of(QUARTER)
    assert strip.between(2, 1).span == strip.between(1, 9).span == ("2026-02", "2026-03")
