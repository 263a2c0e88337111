"""How many files and connections a server may have open."""

from __future__ import annotations

import sys
from contextlib import suppress

OPEN_FILES = 4_096
"""Enough for the connections that the limits allow; some systems start programs with 256."""


def allow_connections() -> None:
    """Raise the limit of this process, and of those that it starts, as far as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= OPEN_FILES:
        return
    enough = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    with suppress(OSError, ValueError):  # beyond what the system allows any process
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))
