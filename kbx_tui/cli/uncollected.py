"""Hardly any garbage collection: for a command that loads or makes much, answers once and ends."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 1_000_000
"""Objects made and not let go of before Python looks for cycles; a search of 5,706 documents makes
fewer, a base that is indexed first more."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for cycles rarely while loading, and not at what was loaded when the process ends.

    Each look goes over all that is there and finds nothing: with the import of LanceDB and a base
    of 5,706 documents that is a quarter of a second.
    """
    usual = gc.get_threshold()
    gc.set_threshold(MANY, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.freeze()
