"""Putting new content in the place of a file in one step: whoever reads sees the old or the new."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from kbx_tui.errors import WriteFault


def put_in_place(target: Path, data: bytes) -> None:
    """Write a file of our own, its folder included; for one writer at a time.

    Raises WriteFault; then it is as it was.
    """
    space = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_aside(space, data)
        space.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            space.unlink(missing_ok=True)
        raise not_written(target, error) from error


def write_aside(space: Path, data: bytes, like: Path | None = None) -> None:
    """Write a file down to the disk, with mode and owner of `like` as far as that is allowed."""
    with space.open("wb") as file:
        if like is not None:
            known = like.stat()
            with suppress(OSError, AttributeError):  # Windows has no owners of this kind
                os.chown(space, known.st_uid, known.st_gid)
            space.chmod(known.st_mode & 0o7777)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Have the disk hold the names in a folder, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def not_written(target: Path, error: OSError) -> WriteFault:
    """Return the error to raise when a file could not be written."""
    why = error.strerror or str(error)
    return WriteFault(f"{target} was not written ({why}); it is as it was")
