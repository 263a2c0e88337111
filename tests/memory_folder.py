"""A folder in memory for the temporary files of tests."""

import os
import shutil
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
"""Bytes that must be free there; a run of all tests needs a part of it."""


def memory_folder() -> Path | None:
    """Return a folder in memory, None where the system has none that tests can use.

    There, waiting for the disk costs nothing: an index is flushed to it several times per run. The
    tests run programs from their folders, which some systems forbid in memory.
    """
    if not (SHARED_MEMORY.is_dir() and os.access(SHARED_MEMORY, os.W_OK | os.X_OK)):
        return None
    if os.statvfs(SHARED_MEMORY).f_flag & os.ST_NOEXEC:
        return None
    return SHARED_MEMORY if shutil.disk_usage(SHARED_MEMORY).free >= ROOM else None
