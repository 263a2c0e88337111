"""Freed memory given back to the system after many rows were read."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def release_memory() -> None:
    """Return freed memory to the system; Arrow and glibc would keep what reading allocated."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
