"""What systems differ in: the one module that asks which parts of Unix there are.

Windows has no fork, no signals of a terminal, no limits on processes, no owners of files, and hands
no sockets over. What needs those says so by `require_unix`; everything else here does without.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

HAS_UNIX = hasattr(os, "fork")

OPEN_FILES = 4_096
"""Enough for all connections that the limits allow; the default of some systems is 256."""


def require_unix(what: str) -> None:
    """Raise ConfigError where `what` cannot run."""
    if not HAS_UNIX:
        from kbx_tui.errors import ConfigError

        raise ConfigError(f"{what} does not run on Windows; in WSL it does")


def open_flags(*names: str) -> int:
    """Return those flags of `os.open` that this system has."""
    return sum(getattr(os, name, 0) for name in names)


def opened_path(handle: int) -> str | None:
    """Return where an open file or folder is, without links; None where no system call says so."""
    with suppress(OSError):
        if sys.platform == "linux":
            return os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115 - faster than Path
        if sys.platform == "darwin":
            import fcntl

            return os.fsdecode(fcntl.fcntl(handle, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return None


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def allow_connections() -> None:
    """Raise the open-file limit of this process and its children as far as the system allows."""
    with suppress(ImportError, OSError, ValueError):  # more than the system allows any process
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < OPEN_FILES:
            enough = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))


def limit_heaps() -> None:
    """Keep glibc's heaps few and without gaps, in a process that is to run for hours.

    Threads that come and go leave blocks in each heap, and a heap keeps every page that holds one.
    So there is a heap per core, and large blocks stay outside: once it has freed one, glibc would
    put such blocks in a heap from then on. Numbers that the user has set are kept.
    """
    import ctypes

    arenas, large = (-8, max(2, usable_cores())), (-3, 1 << 20)  # options as in malloc.h
    with suppress(AttributeError, OSError, TypeError):
        set_option = ctypes.CDLL(None).mallopt
        for name, value in (("MALLOC_ARENA_MAX", arenas), ("MALLOC_MMAP_THRESHOLD_", large)):
            if name not in os.environ:
                set_option(*value)


def release_memory() -> None:
    """Give freed memory back to the system; Arrow and glibc would keep what reading allocated.

    An index that was replaced leaves gaps that are too small for the next one.
    """
    import ctypes

    if "pyarrow" in sys.modules:
        import pyarrow as pa  # waits while another thread is importing it

        pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def limit_memory(most: int) -> None:
    """Limit the private memory of this process; mapped files do not count."""
    with suppress(ImportError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
