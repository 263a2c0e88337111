"""Lines of spans and their widths."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.drawing.lines import Span, fit_line, highlight, slice_line, width_of

texts = st.text(alphabet="abc é港🛳", max_size=60)


@given(st.lists(texts, max_size=5), st.integers(1, 40))
def test_a_line_is_cut_to_its_width(spans: list[str], width: int) -> None:
    line = tuple(Span(text, "dim") for text in spans)
    assert width_of(fit_line(line, width)) <= width


def test_matches_are_strong_in_a_snippet() -> None:
    line = highlight("go with the migration now", ((12, 21),))
    assert [(span.text, span.look) for span in line] == [
        ("go with the ", "dim"),
        ("migration", "strong"),
        (" now", "dim"),
    ]


@given(st.lists(texts, max_size=5), st.integers(0, 60), st.integers(0, 60))
def test_slices_put_together_are_the_whole_text(spans: list[str], start: int, length: int) -> None:
    line, end = tuple(Span(text, "dim") for text in spans), start + length
    parts = (slice_line(line, 0, start), slice_line(line, start, end), slice_line(line, end))
    shown = ["".join(span.text for span in part) for part in parts]
    assert shown[1] == "".join(spans)[start:end]
    assert "".join(shown) == "".join(spans)


def test_a_slice_keeps_the_styles() -> None:
    line = (Span("Alice ", "dim"), Span("Chen", "strong"))
    assert slice_line(line, 3, 8) == (Span("ce ", "dim"), Span("Ch", "strong"))
