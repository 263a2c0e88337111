"""Python's garbage collector, kept from stopping the app where a person would notice."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

YOUNG, MIDDLE = 5_000, 5
"""Drawing leaves thousands of small cycles a second (a `Strip` refers to itself through its
caches), and a collection takes as long as there is garbage to let go."""
NEVER = 1_000_000
"""Old objects are looked at by a `Sweeper`, not when Python thinks it is time: that was in the
middle of laying out a resized screen, 50 ms each, which together a person sees."""
LOOKS = 0.25
"""Seconds between two looks whether old objects wait to be let go."""
REST = 0.15
"""Seconds without a key, a mouse or a resize after which nobody waits for the app."""
MANY = 8
"""Collections of the middle generation after which it does not wait for a rest: 100 to 250 ms
where garbage came together for half a minute, 10 to 40 ms every few seconds."""
SHARE = 20
"""A look at all there is comes at most every so many times as long as it takes."""

_loading = threading.Lock()


def make_calm() -> None:
    """Collect what is drawn a little at a time; what is old waits for a `Sweeper`."""
    gc.set_threshold(YOUNG, MIDDLE, NEVER)


@contextmanager
def loading() -> Iterator[None]:
    """Load what stays: nobody looks at all of it while it grows, nor afterwards."""
    with _loading:
        try:
            yield
        finally:
            freeze_loaded()


def freeze_loaded() -> None:
    """Leave out what is loaded now, which stays: an engine with its model, tables and snapshot.

    A look at all that a base of 5,706 documents has loaded takes a quarter of a second.
    """
    gc.collect(1)  # what is frozen is never collected: not also the cycles made just now
    gc.freeze()


class Sweeper:
    """Lets old garbage go while nobody waits for the app."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stirred = self._next = clock()

    def stir(self) -> None:
        """A person does something just now."""
        self._stirred = self._clock()

    def sweep(self) -> None:
        """Collect all generations if there is something to let go and nobody is in the way."""
        pending, now = gc.get_count()[2], self._clock()
        if not pending or now < self._next or _loading.locked():
            return
        if now - self._stirred < REST and pending < MANY:
            return
        gc.collect()
        ended = self._clock()
        self._next = ended + SHARE * (ended - now)
