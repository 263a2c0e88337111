"""Scans in blocks on two threads: one core cannot saturate memory bandwidth.

BLAS's own threads wait for each other, which costs more than it gains where the second core is
busy. Here each thread takes the next block when it is free. Chosen by the experiment "two-thread
scan" in docs/quality.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

Block = TypeVar("Block")


def parallel_scan(
    blocks: Sequence[Block], work: Callable[[Block], None], *, parallel_from: int
) -> None:
    """Call `work` on every block, with at least `parallel_from` blocks on two threads.

    `work` should release the GIL most of the time. Raises what `work` raises.
    """
    remaining = iter(blocks)  # shared: whichever thread is free takes the next block

    def run() -> None:
        for block in remaining:
            work(block)

    helper = _helper().submit(run) if len(blocks) >= parallel_from else None
    run()
    if helper is not None and not helper.cancel():
        helper.result()


@lru_cache(maxsize=1)
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "kbx-vectors")
