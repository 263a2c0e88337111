"""The slider and the status line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.scrollbar import ScrollBar

from kbx_tui.drafting.decided_pairs import ThresholdMetrics
from kbx_tui.tui.dedup.panes import KnownList, no_draft_selected
from kbx_tui.tui.dedup.rows import metrics_note
from kbx_tui.tui.widgets.footer import StatusLine, seconds_to_read
from kbx_tui.tui.widgets.number_slider import NOTE_FROM, STEPS, NumberSlider, cell_of, position_at


@given(st.integers(0, STEPS), st.integers(2, 120))
def test_a_click_on_the_knob_moves_it_by_less_than_a_cell(position: int, track: int) -> None:
    clicked = position_at(cell_of(position, track), track)
    assert abs(clicked - position) <= STEPS / (track - 1)


@given(st.integers(-50, 200), st.integers(1, 120))
def test_a_click_beside_the_track_stays_in_range(cell: int, track: int) -> None:
    assert 0 <= position_at(cell, track) <= STEPS


@given(st.integers(0, STEPS), st.integers(24, 160))
def test_the_slider_fits_its_width(position: int, width: int) -> None:
    layout = NumberSlider("threshold", 0.9, ends=("entity", "document")).layout_for(width)
    assert layout.start + layout.track <= width


@pytest.mark.parametrize("width", [NOTE_FROM, 118, 138])
def test_no_figure_of_the_longest_note_is_cut(width: int) -> None:
    slider = NumberSlider("threshold", 0.9)
    slider.note = metrics_note(ThresholdMetrics(20, 1.0, 1.0))
    line = "".join(span.text for span in slider.line(width))
    assert "precision 1.00 recall 1.00 o" in line


@pytest.mark.parametrize("position", [0, 1, 3, 7])
def test_the_thumb_of_a_scrollbar_is_of_whole_cells(position: int) -> None:
    bar = ScrollBar.renderer.render_bar(
        size=2, virtual_size=9, window_size=2, position=position, vertical=True
    )
    cells = [segment for segment in bar.segments if segment.text.strip("\n")]
    assert [segment.text for segment in cells] == [" ", " "]
    thumbs = [segment.style is not None and segment.style.reverse for segment in cells]
    assert thumbs.count(True) == 1


def lines(status: StatusLine, width: int = 30) -> list[str]:
    return ["".join(span.text for span in line) for line in status.lines(width)]


def test_errors_and_notes_keep_their_sign_and_reason() -> None:
    status = StatusLine()
    status.error = "no disk"
    assert lines(status) == [" ✗ no disk"]
    status.notice = "saved"
    assert lines(status) == [" saved"]
    status.notice = ""
    assert lines(status) == [" ✗ no disk"]

    status = StatusLine()
    status.note = "only 3 documents match “migration”; the others are linked to Alice Chen"
    first, second = lines(status, 50)
    assert first == " only 3 documents match “migration”; the others"
    assert second == " are linked to Alice Chen"


def test_long_text_takes_one_line_once_read_and_stays_longer() -> None:
    status = StatusLine()
    status.error = "the index in .kbx/index is damaged; `kbx index --full` rebuilds it"
    (line,) = lines(status)
    assert line == " ✗ the index in .kbx/index i…"

    assert seconds_to_read("saved", 4.0) == 4.0
    assert seconds_to_read("x" * 150, 4.0) == 11.0


def test_without_a_text_or_width_there_are_no_lines() -> None:
    assert lines(StatusLine()) == []
    pane = KnownList()
    pane.empty_state = no_draft_selected
    assert not pane.count_lines()  # else one letter per line, until it is laid out


@pytest.mark.parametrize("width", [64, 70, 99])
def test_the_track_of_a_slider_is_as_long_without_a_note(width: int) -> None:
    slider = NumberSlider("alpha", 0.5, ends=("entity", "document"), note_room=12)
    before = slider.layout_for(width)
    slider.note = "no effect"
    assert slider.layout_for(width) == before
