"""Atomic file replacement: a reader sees the old content or the new, never a mix."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from kbx_tui.errors import WriteFault
from kbx_tui.removal import remove_temporary
from kbx_tui.state_file import require_writable


def write_atomically(target: Path, data: bytes) -> None:
    """Replace one of our own files in one step, creating its folder if needed.

    Not safe for concurrent writers. Raises WriteFault, which leaves the file unchanged.
    """
    require_writable(target)
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_synced(temporary, data)
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            remove_temporary(temporary)
        raise write_fault(target, error) from error


def write_new(target: Path, data: bytes) -> None:
    """Write a file that must not exist yet, in one step.

    Raises FileExistsError, which leaves that file unchanged, and OSError.
    """
    require_writable(target)
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        write_synced(temporary, data)
        try:
            os.link(temporary, target)  # unlike a rename, it replaces nothing
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            with target.open("xb") as stream:
                stream.write(data)
        sync_folder(target.parent)
    finally:
        with suppress(OSError):
            remove_temporary(temporary)


def write_synced(file: Path, data: bytes, like: Path | None = None) -> None:
    """Write a temporary file, flush it to disk, copy mode and owner from `like` where permitted.

    Whatever is at its path is removed first: writing through a link would change another file.
    """
    remove_temporary(file)
    with file.open("xb") as stream:
        if like is not None:
            status = like.stat()
            with suppress(OSError, AttributeError):  # Windows has no chown
                os.chown(file, status.st_uid, status.st_gid)
            file.chmod(status.st_mode & 0o7777)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_fault(target: Path, error: OSError) -> WriteFault:
    reason = error.strerror or str(error)
    return WriteFault(f"{target} was not written ({reason}); it is unchanged")
