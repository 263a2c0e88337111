"""Atomic writes of kbx's own files, and the folder `.kbx` of a base with its locks and logs.

`.kbx` holds the index and the user's drafts, journal, judgments and labels.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from kbx_tui.ending import unfinished_write
from kbx_tui.errors import ConfigError, NotTrusted, WriteFault
from kbx_tui.removal import STATE_FOLDER, remove_temporary
from kbx_tui.state_file import (
    USER_STATE,
    Notice,
    UnusableFile,
    check_regular_file,
    decode_json,
    ignore,
    invalid_lines,
    read_regular_file,
    require_writable,
    set_aside,
    unreadable,
)
from kbx_tui.system import open_flags


def write_atomically(target: Path, data: bytes, like: Path | None = None) -> None:
    """Replace one of kbx's own files in one step, creating its folder if needed.

    The file gets mode and owner of `like`. Not safe for concurrent writers. If it raises
    WriteFault, the file is unchanged.
    """
    require_writable(target)
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_synced(temporary, data, like)
        temporary.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            remove_temporary(temporary)
        raise write_fault(target, error) from error


def write_new(target: Path, data: bytes) -> None:
    """Write a file that must not exist yet, in one step.

    Raises FileExistsError, leaving the existing file unchanged, and OSError.
    """
    require_writable(target)
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        write_synced(temporary, data)
        try:
            os.link(temporary, target)  # unlike a rename, this never replaces a file
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            with target.open("xb") as stream:
                stream.write(data)
        sync_folder(target.parent)
    finally:
        with suppress(OSError):
            remove_temporary(temporary)


def write_synced(file: Path, data: bytes, like: Path | None = None) -> None:
    """Write a temporary file and flush it to disk; copy mode and owner of `like` if permitted.

    Anything already at its path is removed first: writing through a link would change another file.
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


RECORD_LIMIT = 1024 * 1024 * 1024
"""Largest record of the journal in bytes; a write that needs a larger one is refused."""

EDIT_LOCK_SECONDS = 60.0
LOCK_SECONDS = 10.0
BRIEF_LOCK_SECONDS = 2.0
"""Longest wait for the lock of a log that may lose entries rather than raise an error."""

Record = TypeVar("Record")

_places: dict[str, dict[Path, str]] = {}
"""By base that this process has open, its folders and where each led when it was last opened.

Not in a session: locks and logs, which ask for `state_folder`, are made from the root alone.
"""


def note_places(root: Path, folders: Iterable[Path]) -> None:
    """Note where the folders lead from which a base is read and to which it is written."""
    _places[str(root)] = {folder: os.path.realpath(folder) for folder in folders}


def require_same_places(root: Path) -> None:
    """Raise NotTrusted if a folder became a link out of its base after that was opened."""
    for folder, then in _places.get(str(root), {}).items():
        now = os.path.realpath(folder)
        if now != then and not Path(now).is_relative_to(os.path.realpath(root)):
            raise NotTrusted(
                f"{folder} has become a link to {now}, or is below one: open the base again to "
                "allow that, or remove it"
            )


def state_folder(root: Path) -> Path:
    """Return `<root>/.kbx`, created with its own `.gitignore` if needed.

    Every write in it, and in the index, asks for it first. Raises WriteFault, also as
    `require_same_places`.
    """
    require_writable(root)
    folder = root / STATE_FOLDER
    try:
        require_same_places(root)
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), (folder / ".gitignore").open("x") as ignore_file:
            ignore_file.write("*\n")
    except NotTrusted as error:
        raise WriteFault(str(error)) from error
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def unwritable(path: Path, error: OSError) -> WriteFault:
    """Return the error for `.kbx`, or a lock in it, that cannot be made."""
    if path.name != STATE_FOLDER and (path.is_symlink() or path.is_dir()):
        return WriteFault(f"{path} is a link or a folder, where a lock belongs: remove it")
    return WriteFault(
        f"cannot write {path} ({error.strerror or error}): free some space, change its "
        "permissions, or copy the base elsewhere"
    )


@contextmanager
def state_lock(
    root: Path, name: str, seconds: float, busy: str, *, is_reentrant: bool = False
) -> Iterator[None]:
    """Hold a lock in `.kbx`; the operating system releases it when its process dies.

    Raises WriteFault with the message `busy` if another process still holds it after `seconds`, or
    TimeoutError at once if `seconds` is 0.
    """
    from filelock import FileLock  # not at the top: the app's first paint waits for imports

    file = state_folder(root) / name
    lock = FileLock(file, is_singleton=is_reentrant)
    try:
        lock.acquire(timeout=seconds)
    except TimeoutError as error:
        if not seconds:
            raise
        raise WriteFault(busy) from error
    except OSError as error:
        raise unwritable(file, error) from error
    try:
        with unfinished_write():
            yield
    finally:
        lock.release()


def edit_lock(root: Path, seconds: float = EDIT_LOCK_SECONDS) -> AbstractContextManager[None]:
    busy = f"another process is writing in {root}; try again"
    return state_lock(root, "edit.lock", seconds, busy, is_reentrant=True)


class Log(Generic[Record]):
    """A file in `.kbx` with one JSON object per line, which several processes may change.

    Unreadable lines are skipped but stay in the file. The file is read again once it has changed.
    Not thread-safe.
    """

    def __init__(
        self,
        root: Path,
        name: str,
        kind: type[Record],
        notice: Notice = ignore,
        *,
        brief: bool = False,
        mode: int = 0o666,
    ) -> None:
        """`mode` are the permissions of a new file, less those of the umask."""
        self.root, self.file, self.notice = root, root / STATE_FOLDER / name, notice
        self._kind, self._brief, self._mode = kind, brief, mode
        self._version: tuple[int, ...] | None = None
        self._lines: list[tuple[str, Record | None]] = []

    def version(self) -> tuple[int, ...] | None:
        try:
            status = os.lstat(self.file)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode

    def lines(self) -> Sequence[tuple[str, Record | None]]:
        """Return each non-blank line with its record, None if it is invalid.

        The same sequence is returned until the file changes; it is empty if the file is missing or
        unreadable. Bytes that are not UTF-8 are surrogates in the line, U+FFFD in the record.
        """
        version = self.version()
        if version is None or version != self._version:
            self._lines, self._version = self._read() if version else [], version
        return self._lines

    def records(self) -> list[Record]:
        return [record for _, record in self.lines() if record is not None]

    def locked(self, seconds: float | None = None) -> AbstractContextManager[None]:
        if seconds is None:
            seconds = BRIEF_LOCK_SECONDS if self._brief else LOCK_SECONDS
        busy = f"another process is writing {self.file}; nothing was changed, try again"
        return state_lock(self.root, f"{self.file.stem}.lock", seconds, busy)

    def append(self, lines: Sequence[bytes], *, synced: bool = True) -> int:
        try:
            return append_lines(self.file, lines, self._mode, synced=synced) if lines else 0
        except OSError as error:
            raise write_fault(self.file, error) from error

    def replace(
        self,
        records: Iterable[Any],
        stored: Sequence[tuple[str, Record | None]] | None = None,
    ) -> None:
        """Replace the records; the caller holds a lock. If it raises WriteFault, nothing changes.

        A record keeps its line in `stored`, by default `lines()`. Lines without a record come last.
        """
        stored = self.lines() if stored is None else stored
        line_of = {record: line for line, record in stored if record is not None}
        lines = [
            line_of.get(record) or json.dumps(asdict(record), ensure_ascii=False)
            for record in records
        ]
        others = (line for line, record in stored if record is None)
        state_folder(self.root)
        text = "".join(f"{line}\n" for line in (*lines, *others))
        replace_state_file(self.file, text.encode("utf-8", "surrogateescape"))

    def _read(self) -> list[tuple[str, Record | None]]:
        try:
            text = read_regular_file(self.file).decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return []
        except OSError as error:
            self.notice(unreadable(self.file, error))
            return []
        lines: list[tuple[str, Record | None]] = []
        reasons: list[str] = []
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            record = None
            try:
                valid = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                record = decode_json(valid, self._kind)
            except (ConfigError, ValueError) as error:
                reasons.append(f"line {number}: {error}")
            lines.append((line, record))
        if reasons:
            self.notice(invalid_lines(self.file, len(reasons), reasons[0]))
        return lines


def replace_state_file(file: Path, data: bytes) -> None:
    """Replace a state file, setting aside anything that is not a regular file of a usual size.

    The new file has the permissions of the one before. Raises WriteFault, also for a file that
    cannot be opened now but may be readable later.
    """
    try:
        with suppress(FileNotFoundError):
            read_regular_file(file)
    except OSError as error:
        if not isinstance(error, UnusableFile):
            raise write_fault(file, error) from error
        set_aside(file)
    write_atomically(file, data, like=file if file.exists() else None)


_FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")


def append_lines(
    file: Path, lines: Sequence[bytes], mode: int = 0o666, *, synced: bool = False
) -> int:
    """Append lines, given without line breaks, in one write; return the prior size in bytes.

    A last line that a crash cut off is ended first, so that it does not spoil the next. Anything
    that is not a regular file is set aside, and what has another name (a hard link) is copied, as
    that may be a page. `synced` flushes to disk. The caller holds a lock, as a write that runs out
    of space is taken back. Raises OSError and WriteFault; the file is unchanged then.
    """
    require_writable(file)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | open_flags(*_FLAGS)
    is_new = False
    try:
        check_regular_file(file)
        if file.stat().st_nlink > 1:
            write_atomically(file, read_regular_file(file), like=file)
    except FileNotFoundError:
        is_new = True
    except UnusableFile:
        set_aside(file)
        is_new = True
    handle = os.open(file, flags, mode)
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


def unreadable_state_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, reason) for each of the user's files below `.kbx` that is not valid JSON."""
    for pattern in USER_STATE:
        for file in sorted((root / STATE_FOLDER).glob(pattern)):
            if reason := _reason(file):
                yield file.relative_to(root).as_posix(), reason


def _reason(file: Path) -> str:
    try:
        text = read_regular_file(file, limit=RECORD_LIMIT, follow_links=True).decode("utf-8")
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        return f"is not UTF-8 from byte {error.start} on"
    lines = text.split("\n") if file.suffix == ".jsonl" else [text]
    for number, line in enumerate(lines, 1):
        try:
            json.loads(line or "null")
        except (ValueError, RecursionError):
            return f"line {number} is not JSON" if file.suffix == ".jsonl" else "is not JSON"
    return ""
