"""The lines of the result list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.formatting import stacked_bar
from kbx_tui.tui.drawing.lines import width_of
from kbx_tui.tui.explore.result_list import Columns, result_line
from kbx_tui.tui.explore.view import ResultRow

unit = st.floats(0.0, 1.0)
titles = st.text(alphabet="abc é港🛳", max_size=60)


@given(
    titles,
    unit,
    unit,
    st.integers(40, 120),
    st.integers(-30, 30),
    st.sampled_from("› ◆"),
    st.sampled_from(("", "changed", "no vector")),
)
def test_a_result_fills_its_line_exactly(
    title: str, document: float, entity: float, width: int, move: int, sign: str, badge: str
) -> None:
    parts = document / 2, entity / 4, entity / 4
    result = ResultRow(7, "p.md", title, "2026-03-17", 12, sum(parts), *parts, known_item="")
    line = result_line(result, Columns.of(width, 200), move, sign, badge=badge)
    assert width_of(line) == width
    assert f" ! {badge}" in "".join(span.text for span in line) or not badge


@given(unit, unit, st.integers(1, 40))
def test_a_bar_is_as_long_as_the_score(document: float, entity: float, width: int) -> None:
    document, entity = document / 2, entity / 2
    assert len("".join(stacked_bar(document, entity, width))) == min(
        round((document + entity) * width), width
    )
