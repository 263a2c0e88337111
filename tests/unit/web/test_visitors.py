"""Links expire and are used up; cookies expire."""

from __future__ import annotations

from kbx_tui.web.links import Visitors


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
