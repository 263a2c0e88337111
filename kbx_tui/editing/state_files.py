"""The folder `.kbx` of a base: its files of lines, their locks, and their check.

It holds the index and the user's drafts, journal, judgments and labels.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kbx_tui.editing.atomic_write import sync_folder, write_atomically, write_fault
from kbx_tui.ending import unfinished_write
from kbx_tui.errors import WriteFault
from kbx_tui.state_file import (
    Notice,
    UnusableFile,
    check_regular_file,
    decode_json,
    invalid_lines,
    read_regular_file,
    require_writable,
    set_aside,
    unreadable,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


STATE = ".kbx"

Record = TypeVar("Record")


def state_folder(root: Path) -> Path:
    """Return `<root>/.kbx`, created with its own `.gitignore` if needed. Raises WriteFault."""
    require_writable(root)
    folder = root / STATE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), (folder / ".gitignore").open("x") as ignore:
            ignore.write("*\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteFault(
            f"cannot write {folder} ({reason}): free some space, change its permissions, "
            "or copy the base elsewhere"
        ) from error
    return folder


def read_records(
    file: Path, record_type: type[Record], notice: Notice
) -> list[tuple[str, Record | None]]:
    """Return each non-blank line of a JSON Lines file with its record, None if it is invalid.

    Bytes that are not UTF-8 become surrogates in the line, which `write_records` writes back
    unchanged, and U+FFFD in the record. A missing file has no lines, nor has one that cannot be
    read. `notice` receives one sentence about what is not readable.
    """
    try:
        text = read_regular_file(file).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return []
    except OSError as error:
        notice(unreadable(file, error))
        return []
    records: list[tuple[str, Record | None]] = []
    reasons: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        record = None
        try:
            valid = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            record = decode_json(valid, record_type)
        except ValueError as error:
            reasons.append(f"line {number}: {error}")
        records.append((line, record))
    if reasons:
        notice(invalid_lines(file, len(reasons), reasons[0]))
    return records


def write_records(
    root: Path,
    file: Path,
    records: Iterable[DataclassInstance],
    others: Iterable[str],
    stored: Mapping[Any, str],
) -> None:
    """Replace `root / file` by records and other lines. Raises WriteFault, changing nothing.

    A record in `stored` keeps the line it was read from. Anything that is not a file of records is
    set aside first.
    """
    state_folder(root)
    lines = [
        stored.get(record) or json.dumps(asdict(record), ensure_ascii=False) for record in records
    ]
    text = "".join(f"{line}\n" for line in (*lines, *others))
    replace_state_file(root / file, text.encode("utf-8", "surrogateescape"))


def replace_state_file(file: Path, data: bytes) -> None:
    """Replace a state file, setting aside anything that is not a regular file of a usual size.

    Raises WriteFault, also for a file that cannot be opened now: it may be readable the next time.
    """
    try:
        with suppress(FileNotFoundError):
            read_regular_file(file)
    except OSError as error:
        if not isinstance(error, UnusableFile):
            raise write_fault(file, error) from error
        set_aside(file)
    write_atomically(file, data)


LOCK_SECONDS = 10.0
"""Longest wait for another process that writes, which takes milliseconds."""


class LockedLog:
    """The file and its lock. Lines are flushed to disk, so that none is lost."""

    def __init__(self, root: Path, file: Path, lock_name: str) -> None:
        """`file` is relative to the root, and `lock_name` names a file beside it."""
        self._root, self._lock_name = root, lock_name
        self.file = root / file

    def version(self) -> tuple[int, ...] | None:
        """Return what differs once the file has changed; None without a file."""
        try:
            status = os.lstat(self.file)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, so that what is read still holds when it is written.

        Raises WriteFault when it cannot be had.
        """
        with state_lock(self._root, self._lock_name, self.file, LOCK_SECONDS), unfinished_write():
            yield

    def append(self, lines: Sequence[bytes]) -> None:
        """Append lines in one write, for a caller that holds the lock. Raises WriteFault."""
        if lines:
            try:
                append_lines(self.file, lines, synced=True)
            except OSError as error:
                raise write_fault(self.file, error) from error


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


@contextmanager
def state_lock(root: Path, lock_name: str, file: Path, seconds: float) -> Iterator[None]:
    """Hold the lock `lock_name` of a file, against other processes.

    Raises WriteFault when it cannot be had, at the latest after `seconds`.
    """
    from filelock import FileLock, Timeout  # here, as the first paint of the app waits for imports

    lock_file = state_folder(root) / lock_name
    lock = FileLock(lock_file)
    try:
        lock.acquire(timeout=seconds)
    except Timeout as error:
        raise WriteFault(
            f"another process is writing {file}; nothing was changed, try again"
        ) from error
    except OSError as error:
        raise write_fault(lock_file, error) from error
    try:
        yield
    finally:
        lock.release()


PATTERNS = ("*.jsonl", "app.json", "journal/*.json")
"""The user's files below `.kbx`; what else is there are caches."""


def unreadable_state_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and what is wrong of each file below `.kbx` that is not JSON, by path."""
    for pattern in PATTERNS:
        for file in sorted((root / STATE).glob(pattern)):
            if reason := _reason(file):
                yield file.relative_to(root).as_posix(), reason


def _reason(file: Path) -> str:
    if not file.is_file():
        return "is not a file"
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        return f"is not UTF-8 from byte {error.start} on"
    lines = text.splitlines() if file.suffix == ".jsonl" else [text]
    for number, line in enumerate(lines, 1):
        try:
            json.loads(line or "null")
        except (ValueError, RecursionError):
            return f"line {number} is not JSON" if file.suffix == ".jsonl" else "is not JSON"
    return ""
