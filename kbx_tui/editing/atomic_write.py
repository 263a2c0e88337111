"""Atomic file replacement: a reader sees the old content or the new, never a mix."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from kbx_tui.errors import WriteFault


def write_atomically(target: Path, data: bytes) -> None:
    """Replace one of our own files in one step, creating its folder if needed.

    Not safe for concurrent writers. Raises WriteFault, which leaves the file unchanged.
    """
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_synced(temporary, data)
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise write_fault(target, error) from error


def write_synced(file: Path, data: bytes, like: Path | None = None) -> None:
    """Write a file and flush it to disk, copying mode and owner from `like` where permitted."""
    with file.open("wb") as stream:
        if like is not None:
            status = like.stat()
            with suppress(OSError, AttributeError):  # Windows has no chown
                os.chown(file, status.st_uid, status.st_gid)
            file.chmod(status.st_mode & 0o7777)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Flush a folder's directory entries to disk, where the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_fault(target: Path, error: OSError) -> WriteFault:
    """Return the error to raise when a file could not be written."""
    reason = error.strerror or str(error)
    return WriteFault(f"{target} was not written ({reason}); it is unchanged")
