"""Keeps Python's garbage collector from pausing the app while the user works.

This is for the generational collector of Python 3.11 to 3.13. From 3.14 on, the collector is
incremental, and an `IdleCollector` finds nothing to do.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import ClassVar

YOUNG_THRESHOLD, MIDDLE_THRESHOLD = 5_000, 5
"""Collect young objects often: drawing leaves thousands of small cycles a second (a `Strip` refers
to itself through its caches), and a collection takes as long as there is garbage."""
NEVER = 1_000_000
"""Threshold of the old generation, which Python would collect in the middle of a resize."""
CHECK_INTERVAL = 0.25
"""Seconds between two checks whether old objects may be collected."""
IDLE_SECONDS = 0.15
"""Seconds without input or an answer after which the app counts as idle."""
LONG_IDLE_SECONDS = 30.0
"""Idle seconds after which frozen objects are collected as well."""
MAX_PENDING = 8
"""Middle collections after which the old generation is collected without waiting for idleness.
Chosen by the experiment "old garbage, collected early or late" in docs/quality.md."""
MAX_SHARE = 20
"""Full collections take at most 1/MAX_SHARE of the time."""


_lock = Lock()


def limit_automatic_collection() -> None:
    """Let Python collect young objects only; an `IdleCollector` does the rest."""
    gc.set_threshold(YOUNG_THRESHOLD, MIDDLE_THRESHOLD, NEVER)


@contextmanager
def loading() -> Iterator[None]:
    """Exempt the modules, engine and model loaded in this block from collection.

    For the opening of a base and of its tables, not for each index run: what is drawn at that
    moment is exempted as well, so every call keeps a screenful of later garbage until the app is
    idle for long. Chosen by the experiment "a full collection over a loaded base" in
    docs/quality.md.
    """
    with _lock:
        IdleCollector.loads += 1
    try:
        yield
    finally:
        gc.collect(1)  # or the cycles made just now would be frozen as well
        gc.freeze()
        with _lock:
            IdleCollector.freezes += 1
            IdleCollector.loads -= 1


class IdleCollector:
    loads: ClassVar[int] = 0
    """Number of loads in progress on any thread."""
    freezes: ClassVar[int] = 0
    """Number of freezes that may have frozen garbage."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_activity = self._earliest = clock()

    def note_activity(self) -> None:
        self._last_activity = self._clock()

    def collect_if_idle(self) -> None:
        now = self._clock()
        if self.loads or now < self._earliest:
            return
        idle = now - self._last_activity
        if self.freezes and idle >= LONG_IDLE_SECONDS:
            IdleCollector.freezes = 0
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        elif (pending := gc.get_count()[2]) and (idle >= IDLE_SECONDS or pending >= MAX_PENDING):
            gc.collect()
        else:
            return
        end = self._clock()
        self._earliest = end + MAX_SHARE * (end - now)
