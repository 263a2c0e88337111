"""Work in blocks, shared between two threads: one processor alone does not read as fast as memory
can. Not BLAS's own threads: those wait for each other, and where another program has the second
processor 1 ms becomes 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

Block = TypeVar("Block")


def share(blocks: Sequence[Block], work: Callable[[Block], None], *, worth_from: int) -> None:
    """Do all blocks, in two threads where there are `worth_from` or more; raises what `work` does.

    `work` must let go of Python's lock for the better part of its time.
    """
    left = iter(blocks)  # whoever is done takes the next

    def run() -> None:
        for block in left:
            work(block)

    helper = _helper().submit(run) if len(blocks) >= worth_from else None
    run()
    if helper is not None and not helper.cancel():
        helper.result()


@lru_cache(maxsize=1)
def _helper() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "kbx-vectors")
