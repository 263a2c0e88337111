"""Bars of scores in eighths of a cell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.tui.drawing.lines import EIGHTHS, score_bar

share = st.floats(0.0, 1.0 / 3)


def eighths(bar: str) -> int:
    """Return the length of a bar in eighths of a cell."""
    return sum(EIGHTHS.index(cell) if cell in EIGHTHS else 8 for cell in bar)


@given(share, share, share, st.integers(1, 12))
def test_bar_is_about_as_long_as_the_score(
    document: float, entity: float, reranker: float, width: int
) -> None:
    bars = score_bar(document, entity, reranker, width)
    assert eighths(bars[0]) == max(round(document * width * 8), 1 if document else 0)
    assert abs(eighths("".join(bars)) - (document + entity + reranker) * width * 8) <= 16
    assert len("".join(bars)) <= width


def test_neighbouring_scores_differ() -> None:
    bars = [score_bar(score, 0.0, 0.0, 8, full=0.30)[0] for score in (0.30, 0.29, 0.28, 0.27)]
    assert bars == ["████████", "███████▊", "███████▌", "███████▎"]


def test_parts_of_a_score_differ_by_their_signs() -> None:
    assert score_bar(0.5, 0.25, 0.125, 8) == ("████", "▒▒", "░")
    assert score_bar(0.0, 0.5, 0.0, 8) == ("", "▒▒▒▒", "")
    assert score_bar(0.0, 0.0, 0.0, 8) == ("", "", "")


def test_score_that_is_not_zero_is_seen() -> None:
    assert score_bar(0.001, 0.0, 0.0, 6) == ("▏", "", "")
