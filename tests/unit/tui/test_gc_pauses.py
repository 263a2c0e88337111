"""Old garbage is let go while nobody waits; Python's own moment for it is never taken."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator

import pytest

from kbx_tui.tui.gc_pauses import (
    LONG_REST,
    MANY,
    REST,
    Sweeper,
    freeze_loaded,
    loading,
    make_calm,
)


class Hands:
    """A clock, and a collector that tells how many collections of old objects are due."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.pending, self.takes, self.sweeps = 100.0, 0, 0.01, 0
        monkeypatch.setattr("kbx_tui.tui.gc_pauses._loads.frozen", 0)
        monkeypatch.setattr(gc, "get_count", lambda: (0, 0, self.pending))
        monkeypatch.setattr(gc, "collect", self.collect)
        monkeypatch.setattr(gc, "freeze", lambda: None)

    def clock(self) -> float:
        return self.now

    def collect(self, generation: int = 2) -> int:
        self.now += self.takes
        self.pending = 0
        self.sweeps += 1
        return 0


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    return Hands(monkeypatch)


@pytest.fixture
def sweeper(hands: Hands) -> Sweeper:
    return Sweeper(hands.clock)


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_nothing_is_swept_in_the_middle_of_an_action(hands: Hands, sweeper: Sweeper) -> None:
    hands.pending = 1
    sweeper.stir()
    sweeper.sweep()
    assert hands.sweeps == 0
    hands.now += REST
    sweeper.sweep()
    assert hands.sweeps == 1


def test_hands_that_never_rest_do_not_put_it_off_for_ever(hands: Hands, sweeper: Sweeper) -> None:
    hands.pending = MANY
    sweeper.stir()
    sweeper.sweep()
    assert hands.sweeps == 1


def test_an_idle_app_sweeps_nothing(hands: Hands, sweeper: Sweeper) -> None:
    for _ in range(100):
        hands.now += 1.0
        sweeper.sweep()
    assert hands.sweeps == 0


def test_a_sweep_that_takes_long_comes_seldom(hands: Hands, sweeper: Sweeper) -> None:
    hands.takes = 0.5
    for _ in range(20):
        hands.pending, hands.now = 1, hands.now + 1.0
        sweeper.sweep()
    assert hands.sweeps == 2


def test_nothing_is_swept_while_a_base_is_loaded(hands: Hands, sweeper: Sweeper) -> None:
    hands.pending, hands.now = MANY, hands.now + 1.0
    with loading():
        sweeper.sweep()
    assert hands.sweeps == 1  # what `loading` itself does at its end


def test_bases_may_be_loaded_at_the_same_time(hands: Hands, sweeper: Sweeper) -> None:
    hands.pending, hands.now = MANY, hands.now + 1.0
    with loading():
        with loading():
            pass
        hands.pending, hands.sweeps = MANY, 0
        sweeper.sweep()
        assert hands.sweeps == 0


def test_what_was_frozen_is_looked_at_once_in_a_long_rest(hands: Hands, sweeper: Sweeper) -> None:
    freeze_loaded()
    hands.sweeps, hands.now = 0, hands.now + LONG_REST
    for _ in range(5):
        sweeper.sweep()
        hands.now += LONG_REST
    assert hands.sweeps == 1


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the collector works in steps there")
def test_garbage_that_was_frozen_is_let_go_in_a_long_rest(thresholds: None) -> None:
    class Node:
        def __init__(self) -> None:
            self.itself = self

    make_calm()
    now = 0.0
    sweeper = Sweeper(lambda: now)
    node = Node()
    gone = weakref.ref(node)
    gc.collect()  # it is old now
    del node
    freeze_loaded()
    try:
        assert gone() is not None
        now = LONG_REST
        sweeper.sweep()
        assert gone() is None
    finally:
        gc.unfreeze()


def test_python_never_picks_the_moment_itself(thresholds: None) -> None:
    make_calm()
    assert gc.get_threshold()[2] >= 1_000_000
