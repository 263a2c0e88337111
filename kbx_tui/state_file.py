"""Safe reading of files in which the program keeps its state, whatever has happened to them.

A state file may have been damaged, or replaced by something else, such as a pipe that would block
its reader for ever. Callers report that with `unreadable`, continue without the file, and never
overwrite it: `set_aside` renames it first.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import msgspec

from kbx_tui.errors import ReadOnly, WriteFault
from kbx_tui.removal import remove_temporary
from kbx_tui.system import open_flags

Notice = Callable[[str], object]
"""Called with a sentence that the user should see."""

SIZE_LIMIT = 64 * 1024 * 1024
"""Size in bytes above which a state file is not read, unless its reader sets another limit."""

USER_STATE = ("*.jsonl", "app.json", "journal/*.json")
"""Patterns of the user's files below `.kbx`; all others there can be made again."""

LEAKED_SECONDS = 3600.0
"""Age from which a temporary file counts as left behind: writing one takes seconds."""

T = TypeVar("T")

_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
_FLAGS = ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY")


class UnusableFile(OSError):
    """A path that is not a regular file, or one that is too large; its content was not read."""


def ignore(_sentence: str) -> None:
    """Discard a notice that the caller has already reported."""


def read_regular_file(file: Path, *, limit: int = SIZE_LIMIT, follow_links: bool = False) -> bytes:
    """Return the content of a regular file, never blocking. Raises UnusableFile and OSError."""
    with open_regular_file(file, limit=limit, follow_links=follow_links) as stream:
        return read_at_most(stream, file, limit)


def read_at_most(stream: BufferedReader, file: Path, limit: int) -> bytes:
    """Return the content of an open file. Raises UnusableFile for one that is too large."""
    size = min(os.fstat(stream.fileno()).st_size, limit)
    data = stream.read(size + 1)  # reading up to the limit would reserve as much memory
    if len(data) > size:
        data += stream.read(limit + 1 - len(data))
    if len(data) > limit:
        raise _too_large(file, limit)
    return data


def open_regular_file(
    file: Path, *, limit: int | None = None, follow_links: bool = False
) -> BufferedReader:
    """Open a regular file for reading, never blocking. Raises UnusableFile and OSError."""
    check_regular_file(file, limit=limit, follow_links=follow_links)  # opening may have effects
    wanted = _FLAGS if follow_links else (*_FLAGS, "O_NOFOLLOW")
    handle = os.open(file, os.O_RDONLY | open_flags(*wanted))
    stream = os.fdopen(handle, "rb")
    try:
        _check(file, os.fstat(handle), limit)  # it may have been replaced
    except OSError:
        stream.close()
        raise
    return stream


def check_regular_file(
    file: Path, *, limit: int | None = SIZE_LIMIT, follow_links: bool = False
) -> None:
    """Raise UnusableFile or OSError if `read_regular_file` would refuse a file."""
    status = os.stat(file, follow_symlinks=follow_links)  # noqa: PTH116
    _check(file, status, limit)


def decode_json(data: bytes | str, kind: type[T]) -> T:
    """Return JSON as an object of type `kind`. Raises ValueError for any fault in it."""
    try:
        decoded = msgspec.json.decode(data, type=kind)
        json.loads(data, object_pairs_hook=unique_keys)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    return decoded


def remove_leaked(folder: Path, name: re.Pattern[str]) -> None:
    """Remove old temporary files that a dead process left behind, as far as possible."""
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            with suppress(OSError):
                if name.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                    if age > LEAKED_SECONDS:
                        remove_temporary(Path(entry.path))


def unreadable(file: Path, reason: object) -> str:
    if isinstance(reason, OSError):
        reason = reason.strerror or reason
    return f"{file} cannot be read ({reason}); it is left out and nothing in it is changed"


def invalid_lines(file: Path, count: int, first: str = "") -> str:
    lines = "one line" if count == 1 else f"{count:,} lines"
    reason = f" ({first})" if first else ""
    return f"{file}: {lines} cannot be read{reason}; left out, and kept in the file"


def replace_file(target: Path, data: bytes, *, is_synced: bool = False) -> None:
    """Replace a file of an index in one step, whoever else does so at that time. Raises OSError."""
    temporary = target.with_name(f"{target.name}.{uuid4().hex}")
    try:
        with temporary.open("wb") as out:
            out.write(data)
            if is_synced:
                out.flush()
                os.fsync(out.fileno())
        temporary.replace(target)
    finally:
        remove_temporary(temporary)


def set_aside(file: Path) -> Path:
    """Rename a file to `<stem>.<time>.unreadable`; return the new path. Raises WriteFault."""
    require_writable(file)
    base = f"{file.stem}.{time.strftime('%Y%m%d-%H%M%S')}"
    kept, number = file.with_name(f"{base}.unreadable"), 1
    while os.path.lexists(kept):
        number += 1
        kept = file.with_name(f"{base}-{number}.unreadable")
    try:
        return file.rename(kept)
    except OSError as error:
        reason = error.strerror or error
        raise WriteFault(f"{file} cannot be renamed ({reason}); move it away yourself") from error


def _check(file: Path, status: os.stat_result, limit: int | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        kinds = [name for is_kind, name in _KINDS if is_kind(status.st_mode)]
        kind = kinds[0] if kinds else "a device"
        raise UnusableFile(errno.EINVAL, f"it is {kind}, not a regular file", str(file))
    if limit is not None and status.st_size > limit:
        raise _too_large(file, limit)


def _too_large(file: Path, limit: int) -> UnusableFile:
    return UnusableFile(errno.EFBIG, f"it is larger than {limit:,} bytes", str(file))


def unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON as a dictionary. Raises ValueError for a key that occurs twice."""
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique:
            raise ValueError(f"the key {key[:60]!r} occurs twice")
        unique[key] = value
    return unique


_Path: type[Path] = type(Path())  # `Path` itself cannot be a base class before Python 3.12


class ReadOnlyPath(_Path):  # type: ignore[misc, valid-type]
    """A path in a base that is open for reading only.

    The root of such a base is one, and so is every path joined to it. Everything that writes in a
    base calls `require_writable` first: the few functions that make the state folder, replace a
    file or append to one.
    """


def is_read_only(path: Path) -> bool:
    return isinstance(path, ReadOnlyPath)


def require_writable(path: Path) -> None:
    if is_read_only(path):
        raise ReadOnly("the knowledge base is open for reading only, so nothing is written")
