"""The processor time of a call, whatever else the process and the machine do."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TRIES = 2


def cpu_seconds(call: Callable[[int], object]) -> float:
    """Return the least time of a few calls, in seconds of this thread.

    `call` receives the number of the try, so that nothing it asks for need be cached. Neither other
    threads count nor the collection of what other tests left behind.
    """
    tries = []
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for number in range(TRIES):
            start = time.thread_time()
            call(number)
            tries.append(time.thread_time() - start)
    finally:
        if was_enabled:
            gc.enable()
    return min(tries)
