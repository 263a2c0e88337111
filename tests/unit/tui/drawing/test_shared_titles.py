"""Titles that begin like their neighbours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.drawing.lines import shared_lengths, title_spans, width_of

MEETINGS = [f"Technical Steering Committee (TSC) Meeting 2023-0{month}-04" for month in (1, 2, 3)]
SHARED = len("Technical Steering Committee (TSC) Meeting ")


def test_neighbours_share_whole_words() -> None:
    assert shared_lengths([*MEETINGS, "Rollback plan"]) == [SHARED, SHARED, SHARED, 0]
    assert shared_lengths(["Migration plans one", "Migration plansheet"]) == [0, 0]
    assert shared_lengths(["The plan", "The road"]) == [0, 0]  # too little to be in the way
    assert shared_lengths([]) == []


def test_no_title_is_dimmed_whole() -> None:
    titles = ["Weekly notes of May", "Weekly notes of May"]
    assert shared_lengths(titles) == [len("Weekly notes of ")] * 2
    assert shared_lengths(["Weekly notes of May", "Weekly notes of"]) == [13, 13]


def test_shared_beginning_is_dimmed_and_cut_first() -> None:
    dim, strong = title_spans(MEETINGS[0], SHARED, 60)
    assert (dim.look, strong.look) == ("dim", "strong")
    shown = ["".join(span.text for span in title_spans(title, SHARED, 24)) for title in MEETINGS]
    assert shown == [f"Technical Ste…2023-0{month}-04" for month in (1, 2, 3)]


titles = st.text(alphabet="abc é港🛳", max_size=60)


@given(titles, st.integers(0, 60), st.integers(0, 60))
def test_title_fills_its_width(title: str, shared: int, width: int) -> None:
    assert width_of(title_spans(title, min(shared, len(title)), width)) == width
