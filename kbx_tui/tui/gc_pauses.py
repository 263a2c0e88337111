"""Python's garbage collector, kept from stopping the app where a person would notice.

As Python 3.11 to 3.13 have it, with three generations. From 3.14 on it works in small steps of its
own; a `Sweeper` finds nothing to do there.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

YOUNG, MIDDLE = 5_000, 5
"""Drawing leaves thousands of small cycles a second (a `Strip` refers to itself through its
caches), and a collection takes as long as there is garbage to let go."""
NEVER = 1_000_000
"""Old objects are looked at by a `Sweeper`, not when Python thinks it is time: that was in the
middle of laying out a resized screen, 50 ms each, which together a person sees."""
LOOKS = 0.25
"""Seconds between two looks whether old objects wait to be let go."""
REST = 0.15
"""Seconds without a key, a mouse, a resize or an answer after which nobody waits for the app."""
LONG_REST = 30.0
"""Seconds after which a look at all that is loaded bothers nobody either."""
MANY = 8
"""Collections of the middle generation after which it does not wait for a rest: 100 to 250 ms
where garbage came together for half a minute, 10 to 40 ms every few seconds."""
SHARE = 20
"""A look at all there is comes at most every so many times as long as it takes."""


class _Loads:
    """What is being loaded, on any thread, and whether garbage may be among what was frozen."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.going_on = 0
        self.frozen = 0
        """Times that something was frozen since all of it was looked at."""


_loads = _Loads()


def make_calm() -> None:
    """Collect what is drawn a little at a time; what is old waits for a `Sweeper`."""
    gc.set_threshold(YOUNG, MIDDLE, NEVER)


@contextmanager
def loading() -> Iterator[None]:
    """Load what stays: nobody looks at all of it while it grows, nor afterwards."""
    with _loads.lock:
        _loads.going_on += 1
    try:
        yield
    finally:
        freeze_loaded()
        with _loads.lock:
            _loads.going_on -= 1


def freeze_loaded() -> None:
    """Leave out what is loaded now, which stays: an engine with its model, tables and snapshot.

    A look at all that a base of 5,706 documents has loaded takes a quarter of a second.
    """
    gc.collect(1)  # what is frozen is not collected: not also the cycles made just now
    gc.freeze()
    _loads.frozen += 1


class Sweeper:
    """Lets old garbage go while nobody waits for the app."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stirred = self._next = clock()

    def stir(self) -> None:
        """Somebody does something just now, or gets an answer."""
        self._stirred = self._clock()

    def sweep(self) -> None:
        """Collect all generations if there is something to let go and nobody is in the way."""
        now = self._clock()
        if _loads.going_on or now < self._next:
            return
        rest = now - self._stirred
        if _loads.frozen and rest >= LONG_REST:
            self._sweep_all()
        elif (pending := gc.get_count()[2]) and (rest >= REST or pending >= MANY):
            gc.collect()
        else:
            return
        ended = self._clock()
        self._next = ended + SHARE * (ended - now)

    def _sweep_all(self) -> None:
        """Collect also what became garbage among, or was it when, what is loaded was frozen."""
        _loads.frozen = 0
        gc.unfreeze()
        gc.collect()
        gc.freeze()
