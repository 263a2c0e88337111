"""Text fits the cells it is given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, shorten, wrap

words = st.text(alphabet="abc /·é港🛳", max_size=40)
widths = st.integers(2, 30)


@given(words, widths)
def test_fitted_text_takes_exactly_its_width(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == width


@given(words, widths)
def test_shortened_text_is_never_wider_than_requested(text: str, width: int) -> None:
    assert cell_len(shorten(text, width)) <= width


@given(words, widths)
def test_wrapped_lines_fit_and_lose_no_letters(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_path_breaks_after_a_slash() -> None:
    assert wrap("memory/meetings/2026-03-17-go-no-go.md", 30) == [
        "memory/meetings/",
        "2026-03-17-go-no-go.md",
    ]


def test_a_title_of_escape_sequences_is_blank() -> None:
    assert fit(safe_line("\x1b[31m"), 4) == "    "
