"""What a visitor types reaches the app without reports of a size, however it is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.web.page_messages import REPORT_LENGTH, without_size_reports

REPORT = "\x1b[48;0;0;0;0t"


def typed(parts: list[str]) -> str:
    """Return what the app receives of several messages."""
    received = ""
    for part in parts:
        received += without_size_reports(received[-REPORT_LENGTH:], part)
    return received


@pytest.mark.parametrize(
    ("text", "received"),
    [
        ("plan", "plan"),
        ("\x1b[A\x1b", "\x1b[A\x1b"),
        (f"a{REPORT}b", "ab"),
        (f"\x1b[48;0{REPORT};0;0;0t", ""),
        ("\x1b[200~costs 48;0t\x1b[201~", "\x1b[200~costs 48;0t\x1b[201~"),
    ],
)
def test_reports_of_a_size_are_left_out(text: str, received: str) -> None:
    assert without_size_reports("", text) == received


@given(st.lists(st.integers(0, 40), max_size=6), st.sampled_from([REPORT, f"x{REPORT}{REPORT}y"]))
def test_report_in_several_messages_never_arrives_whole(cuts: list[int], text: str) -> None:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    parts = [text[start:end] for start, end in pairwise(ends)]
    assert REPORT not in typed(parts)
