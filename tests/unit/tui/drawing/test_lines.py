"""Lines are as wide as they should be, and bars tell the truth."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.formatting import stacked_bar
from kbx_tui.tui.drawing.lines import Span, fit_line, highlighted, width_of
from kbx_tui.tui.explore.panes.entity_list import entity_line, passing, strip_line, threshold_line
from kbx_tui.tui.explore.panes.result_list import Columns, rank_moves, result_line
from kbx_tui.tui.explore.view import EntityRow, ResultRow

unit = st.floats(0.0, 1.0)
titles = st.text(alphabet="abc é港🛳", max_size=60)


def result(title: str = "t", document: float = 0.4, entity: float = 0.3) -> ResultRow:
    return ResultRow(7, "p.md", title, "2026-03-17", 12, document + entity, document, entity, "")


def entity(name: str = "Alice Chen", score: float = 1.0, kept: bool = True) -> EntityRow:
    return EntityRow("person:a", name, "person", "", score, kept, "name “alice”")


@given(titles, unit, unit, st.integers(40, 120), st.integers(-30, 30), st.booleans())
def test_a_result_fills_its_line_exactly(
    title: str, first: float, second: float, width: int, move: int, cursor: bool
) -> None:
    line = result_line(
        result(title, first / 2, second / 2), Columns.of(width, 200), move, cursor=cursor
    )
    assert width_of(line) == width


@given(titles, st.integers(30, 60))
def test_an_entity_fills_its_line_exactly(name: str, width: int) -> None:
    assert width_of(entity_line(entity(name), width)) == width


@given(unit, unit, st.integers(1, 40))
def test_a_bar_is_as_long_as_the_score_says(first: float, second: float, width: int) -> None:
    document, rest = stacked_bar(first / 2, second / 2, width)
    assert len(document + rest) == min(round((first / 2 + second / 2) * width), width)


@given(st.lists(st.tuples(titles, st.just("dim")), max_size=5), st.integers(1, 40))
def test_a_line_is_cut_to_its_width(spans: list[tuple[str, str]], width: int) -> None:
    line = tuple(Span(text, "dim") for text, _ in spans)
    assert width_of(fit_line(line, width)) <= width


def test_matches_stand_out_in_a_snippet() -> None:
    line = highlighted("go with the migration now", ((12, 21),))
    assert [(span.text, span.look) for span in line] == [
        ("go with the ", "dim"),
        ("migration", "strong"),
        (" now", "dim"),
    ]


def test_the_threshold_is_drawn_between_kept_and_not_kept() -> None:
    entities = (entity(), entity("Platform", 0.41, kept=False))
    assert passing(entities, 0.5) == 1
    text = "".join(span.text for span in strip_line(entities, 0.5, 80))
    assert text == " ● Alice Chen 1.00 ┊ .50 ┊ ○ Platform .41"
    assert width_of(threshold_line(0.5, 34)) == 34


def test_moves_are_counted_in_ranks_and_newcomers_have_none() -> None:
    now = {"c": 1, "a": 2, "b": 3, "new": 4}
    assert rank_moves({"a": 1, "b": 2, "c": 3}, now) == {"c": 2, "a": -1, "b": -1}
