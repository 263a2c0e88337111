"""What was asked lately is known, for a while."""

from __future__ import annotations

from kbx_tui.search.lru_cache import Recent


def test_the_least_recently_asked_goes_first() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert (recent.get("a"), recent.get("b"), recent.get("c"), len(recent)) == (1, None, 3, 2)


def test_an_answer_grows_old() -> None:
    now = [0.0]
    recent: Recent[str, int] = Recent(2, seconds=60.0, clock=lambda: now[0])
    recent.put("a", 1)
    now[0] = 60.0
    assert recent.get("a") == 1
    now[0] = 60.5
    assert recent.get("a") is None


def test_an_answer_can_be_forgotten() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.drop("a")
    recent.drop("b")
    assert recent.get("a") is None
