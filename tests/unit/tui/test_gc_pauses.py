"""Old garbage is collected only while the app is idle, never when Python chooses."""

import gc
import sys
import weakref
from collections.abc import Iterator

import pytest

from kbx_tui.tui.gc_pauses import (
    IDLE_SECONDS,
    LONG_IDLE_SECONDS,
    MAX_PENDING,
    IdleCollector,
    limit_automatic_collection,
    loading,
)


class FakeGc:
    """A clock, and a stand-in for the garbage collector that counts full collections."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.pending, self.duration, self.collections = 100.0, 0, 0.01, 0
        monkeypatch.setattr(IdleCollector, "freezes", 0)
        monkeypatch.setattr(gc, "get_count", lambda: (0, 0, self.pending))
        monkeypatch.setattr(gc, "collect", self.collect)
        monkeypatch.setattr(gc, "freeze", lambda: None)

    def clock(self) -> float:
        return self.now

    def collect(self, generation: int = 2) -> int:
        self.now += self.duration
        self.pending = 0
        self.collections += 1
        return 0


@pytest.fixture
def fake_gc(monkeypatch: pytest.MonkeyPatch) -> FakeGc:
    return FakeGc(monkeypatch)


@pytest.fixture
def collector(fake_gc: FakeGc) -> IdleCollector:
    return IdleCollector(fake_gc.clock)


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_nothing_is_collected_right_after_activity(
    fake_gc: FakeGc, collector: IdleCollector
) -> None:
    fake_gc.pending = 1
    collector.note_activity()
    collector.collect_if_idle()
    assert fake_gc.collections == 0
    fake_gc.now += IDLE_SECONDS
    collector.collect_if_idle()
    assert fake_gc.collections == 1


def test_constant_activity_does_not_postpone_collection_forever(
    fake_gc: FakeGc, collector: IdleCollector
) -> None:
    fake_gc.pending = MAX_PENDING
    collector.note_activity()
    collector.collect_if_idle()
    assert fake_gc.collections == 1


def test_idle_app_without_garbage_collects_nothing(
    fake_gc: FakeGc, collector: IdleCollector
) -> None:
    for _ in range(100):
        fake_gc.now += 1.0
        collector.collect_if_idle()
    assert fake_gc.collections == 0


def test_slow_collections_are_rare(fake_gc: FakeGc, collector: IdleCollector) -> None:
    fake_gc.duration = 0.5
    for _ in range(20):
        fake_gc.pending, fake_gc.now = 1, fake_gc.now + 1.0
        collector.collect_if_idle()
    assert fake_gc.collections == 2


def test_nothing_is_collected_while_a_base_is_loading(
    fake_gc: FakeGc, collector: IdleCollector
) -> None:
    fake_gc.pending, fake_gc.now = MAX_PENDING, fake_gc.now + 1.0
    with loading():
        collector.collect_if_idle()
    assert fake_gc.collections == 1  # by `loading` itself, at its end


def test_two_bases_may_load_at_the_same_time(fake_gc: FakeGc, collector: IdleCollector) -> None:
    fake_gc.pending, fake_gc.now = MAX_PENDING, fake_gc.now + 1.0
    with loading():
        with loading():
            pass
        fake_gc.pending, fake_gc.collections = MAX_PENDING, 0
        collector.collect_if_idle()
        assert fake_gc.collections == 0


def test_frozen_objects_are_collected_once_per_long_idle_time(
    fake_gc: FakeGc, collector: IdleCollector
) -> None:
    with loading():
        pass
    fake_gc.collections, fake_gc.now = 0, fake_gc.now + LONG_IDLE_SECONDS
    for _ in range(5):
        collector.collect_if_idle()
        fake_gc.now += LONG_IDLE_SECONDS
    assert fake_gc.collections == 1


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the collector is incremental there")
def test_frozen_garbage_is_collected_in_a_long_idle_time(thresholds: None) -> None:
    class Node:
        def __init__(self) -> None:
            self.itself = self

    limit_automatic_collection()
    now = 0.0
    collector = IdleCollector(lambda: now)
    node = Node()
    reference = weakref.ref(node)
    gc.collect()  # moves the node to the old generation
    del node
    with loading():
        pass
    try:
        assert reference() is not None
        now = LONG_IDLE_SECONDS
        collector.collect_if_idle()
        assert reference() is None
    finally:
        gc.unfreeze()


def test_python_never_collects_the_old_generation_by_itself(thresholds: None) -> None:
    limit_automatic_collection()
    assert gc.get_threshold()[2] >= 1_000_000
