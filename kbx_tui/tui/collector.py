"""Python's garbage collector, kept from stopping the app where a person would notice."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG, MIDDLE, OLD = 5_000, 5, 5
"""Drawing leaves thousands of small cycles a second (a `Strip` refers to itself through its
caches), and a collection takes as long as there is garbage to let go: 100 to 250 ms where it came
together for half a minute, 10 to 40 ms every few seconds."""
NEVER = 1_000_000


def make_calm() -> None:
    """Collect what is drawn a little at a time."""
    gc.set_threshold(YOUNG, MIDDLE, OLD)


@contextmanager
def loading() -> Iterator[None]:
    """Load what stays: nobody looks at all of it while it grows, nor afterwards."""
    gc.set_threshold(YOUNG, MIDDLE, NEVER)
    try:
        yield
    finally:
        freeze_loaded()
        make_calm()


def freeze_loaded() -> None:
    """Leave out what is loaded now, which stays: an engine with its model, tables and snapshot.

    A look at all that a base of 5,706 documents has loaded takes a quarter of a second.
    """
    gc.collect(1)  # what is frozen is never collected: not also the cycles made just now
    gc.freeze()
