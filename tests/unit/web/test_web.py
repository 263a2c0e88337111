"""Messages of a page, and visitors."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.web.links import Visitors
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


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_link_that_nobody_used_expires() -> None:
    clock = Clock()
    visitors = Visitors(60, 600, clock)
    token, late = visitors.new_token(), visitors.new_token()
    clock.now = 59
    assert visitors.enter(token) is not None
    assert visitors.enter(token) is None
    clock.now = 60
    assert visitors.enter(late) is None


def test_a_visitor_is_known_until_the_cookie_expires() -> None:
    clock = Clock()
    visitors = Visitors(60, 600, clock)
    first = visitors.enter(visitors.new_token()) or ""
    second = visitors.enter(visitors.new_token()) or ""
    assert visitors.visitor(first) not in (None, visitors.visitor(second), first)
    clock.now = 600
    assert visitors.visitor(first) is None
    assert visitors.visitor("") is None
    assert visitors.visitor("\ud800") is None
