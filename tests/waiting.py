"""Waiting for a condition: the only way in which tests wait for something."""

import asyncio
import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds until a wait fails."""
PAUSE = 0.005
"""Seconds between two looks."""


async def until(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds, while the event loop runs."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(PAUSE)


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds in another thread or process."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(PAUSE)
