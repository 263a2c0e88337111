"""Suspends garbage collection for a command that answers once and exits."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS_BEFORE_COLLECTION = 1_000_000
"""More allocations than a search makes; indexing makes more and so stays bounded in memory.

Chosen by the experiment "garbage collection in one-shot commands" in docs/quality.md.
"""


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Raise the collection threshold inside the block, and freeze what is alive at its end.

    Each collection would scan every loaded object and free none; freezing keeps the interpreter
    from scanning them again at exit.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(ALLOCATIONS_BEFORE_COLLECTION, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.freeze()
