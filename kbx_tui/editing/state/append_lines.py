"""Appending to a file of lines in `.kbx`, so that neither a crash nor a full disk loses a line."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from kbx_tui.editing.atomic_write import sync_folder
from kbx_tui.read_only import require_writable
from kbx_tui.state_file import UnusableFile, check_regular_file, set_aside

_FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")


def append_lines(file: Path, lines: Sequence[bytes], *, synced: bool = False) -> int:
    """Append lines, given without line breaks, in one write; return the size before, in bytes.

    A line that a crash cut off is ended first, so that it spoils no other. Anything that is not a
    regular file is set aside. `synced` flushes to disk. The caller holds a lock: a write for which
    there is no space is taken back. Raises OSError and WriteFault, which leave the file unchanged.
    """
    require_writable(file)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    is_new = False
    try:
        check_regular_file(file)
    except FileNotFoundError:
        is_new = True
    except UnusableFile:
        set_aside(file)
        is_new = True
    handle = os.open(file, flags | sum(getattr(os, name, 0) for name in _FLAGS), 0o666)
    with os.fdopen(handle, "rb+", buffering=0) as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        separator = b"" if stream.read(1) in (b"", b"\n") else b"\n"
        data = separator + b"".join(line + b"\n" for line in lines)
        try:
            if stream.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
        except OSError:
            stream.truncate(size)
            raise
        if synced:
            os.fsync(stream.fileno())
    if synced and is_new:
        sync_folder(file.parent)
    return size
