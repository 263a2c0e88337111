"""The undo journal, a write-ahead log: each write is recorded before any file is replaced.

`.kbx/journal/000012.json` records one write: per file, the bytes removed and inserted. Until the
write is complete, the record is named `begun.json`. If the writing process dies, the next process
to open the journal finishes the write. The edit lock ensures that at most one is pending.

Each change of a file is staged beside it and swapped in by one rename. A record ends with a digest
of its content; records of older versions have none. A damaged record is never applied: a pending
one is set aside. That leaves every file whole, since each is replaced by one rename.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from kbx_tui.editing.state_files import (
    RECORD_LIMIT,
    edit_lock,
    sync_folder,
    write_atomically,
    write_fault,
    write_synced,
)
from kbx_tui.errors import FileChanged, WriteFault
from kbx_tui.knowledge.decoding import content_hash, decode
from kbx_tui.knowledge.vault import CONFIG_NAME, locate, read_page, resolve_links
from kbx_tui.removal import STATE_FOLDER, remove_page, remove_state_file, remove_temporary
from kbx_tui.state_file import (
    Notice,
    UnusableFile,
    decode_json,
    ignore,
    read_regular_file,
    set_aside,
    unreadable,
)
from kbx_tui.user_files import logger

FOLDER = Path(STATE_FOLDER, "journal")
PENDING = FOLDER / "begun.json"
MOST_FOLDERS = 200
"""Most parts of a path that is written to: making many more folders in one another fails."""

DIGITS = 17
"""Most digits of the number of a write: a record from elsewhere may have any."""

_NUMBERED = re.compile(rf"(\d{{6,{DIGITS}}})\.json", re.ASCII)


class JournalEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: Annotated[int, msgspec.Meta(ge=1, lt=10**DIGITS)]
    written_at: str = msgspec.field(name="at")
    """Local time, `2026-03-17 09:41:05`."""
    description: str = msgspec.field(name="told")
    changes: tuple[ByteChange, ...]
    undoes: int | None = None
    digest: str = ""
    """Hash of all fields above; empty in a record of an older version."""
    undone: bool = False

    def computed_digest(self) -> str:
        return content_hash(json.dumps(_fields(self), sort_keys=True).encode())

    @property
    def is_damaged(self) -> bool:
        return self.digest not in ("", self.computed_digest())


def entries(root: Path, notice: Notice = ignore) -> tuple[JournalEntry, ...]:
    """Return all completed writes, oldest first, without those whose record is damaged."""
    readable = []
    for number, file in sorted(_numbered_files(root).items()):
        try:
            entry = _read(file)
            if entry.is_damaged or entry.number != number:
                raise ValueError("its content has changed since it was written")
            readable.append(entry)
        except (OSError, ValueError) as error:
            notice(unreadable(file, error))
    undone = {entry.undoes for entry in readable}
    return tuple(replace(entry, undone=entry.number in undone) for entry in readable)


def next_number(root: Path) -> int:
    number = max(_numbered_files(root), default=0) + 1
    if number >= 10**DIGITS:
        record = root / FOLDER / f"{number - 1}.json"
        raise WriteFault(f"{record} has the last number there is: move it away")
    return number


def begin(root: Path, entry: JournalEntry) -> None:
    """Record a write before it is made. If it raises WriteFault, there is no record."""
    record = _encode(entry)
    if len(record) > RECORD_LIMIT:
        raise WriteFault(f"the write needs a record of {len(record):,} bytes; split it")
    write_atomically(root / PENDING, record)


def finish(root: Path, entry: JournalEntry, made: Sequence[ByteChange]) -> JournalEntry | None:
    """Mark the pending write as complete; return its entry, None when `made` is empty."""
    if not made:
        discard_pending(root)
        return None
    record = root / PENDING
    try:
        is_taken = entry.number in _numbered_files(root)
        if is_taken or len(made) < len(entry.changes):
            number = next_number(root) if is_taken else entry.number
            entry = replace(entry, number=number, changes=tuple(made))
            write_atomically(record, _encode(entry))
        record.replace(record.with_name(f"{entry.number:06}.json"))
    except OSError as error:
        raise write_fault(record, error) from error
    sync_folder(record.parent)
    return entry


def discard_pending(root: Path) -> None:
    with suppress(OSError):
        remove_state_file(root / PENDING)


def finish_interrupted(root: Path, notice: Notice = ignore) -> tuple[str, ...]:
    """Finish an interrupted write and return the paths written.

    Files edited since are left alone. Returns at once while another process is writing, since that
    write is still running. Raises WriteFault.
    """
    if not os.path.lexists(root / PENDING):
        return ()
    try:
        with edit_lock(root, seconds=0):
            return finish_pending(root, notice)
    except TimeoutError:
        return ()


def finish_pending(root: Path, notice: Notice = ignore) -> tuple[str, ...]:
    """Finish the pending write of the journal and return the paths written.

    The caller holds the edit lock. Only files that still have the content recorded before the
    write are changed. A damaged record is set aside. Raises WriteFault for a record that cannot be
    read now but may be later, and for a file that cannot be written.
    """
    try:
        entry = _read(root / PENDING)
        if entry.is_damaged:
            raise ValueError("its content has changed since it was written")
        staged, made = _stage_pending(root, entry)
    except FileNotFoundError:
        return ()
    except (UnusableFile, ValueError) as error:
        _set_pending_aside(root, error, notice)
        return ()
    except OSError as error:
        raise WriteFault(
            f"{root / PENDING} cannot be read ({error.strerror}), so an interrupted write is still "
            "to be finished; make the file readable, or rename it"
        ) from error
    for item in staged:
        item.stage()
        item.replace_target()
    finish(root, entry, made)
    return tuple(item.path for item in staged)


def _stage_pending(root: Path, entry: JournalEntry) -> tuple[list[StagedChange], list[ByteChange]]:
    """Return the changes still to be made, and those together with the ones already made.

    Removes temporary files of the interrupted process. Raises WriteFault, and ValueError if a
    change does not fit its file; nothing is written in either case.
    """
    staged, made = [], []
    for change in entry.changes:
        if not is_editable(root, change.path):
            raise ValueError(f"{change.path} is not a markdown file in {root}")
        current = read_file(root, change.path)
        after = change.apply(current)
        item = StagedChange.of(root, change, after)
        if file_hash(current) == change.before:
            if file_hash(after) != change.after:
                raise ValueError(f"it does not fit {change.path}")
            staged.append(item)
        if file_hash(current) in (change.before, change.after):
            made.append(change)
        item.discard()
    return staged, made


def _set_pending_aside(root: Path, reason: Exception, notice: Notice) -> None:
    cause = reason.strerror if isinstance(reason, OSError) else reason
    kept = set_aside(root / PENDING)
    message = (
        f"an interrupted write was not finished, because its record is damaged ({cause}): every "
        f"file is whole, some may lack the write; the record is kept as {kept}"
    )
    logger().warning("%s", message)
    notice(message)


def entry_to_undo(root: Path, number: int | None) -> JournalEntry:
    """Return the entry with this number, by default the last one that is not undone.

    The entry may be damaged; no older one is returned instead. Raises WriteFault if there is no
    such entry or it cannot be read.
    """
    files = _numbered_files(root)
    readable = {entry.number: entry for entry in entries(root)}
    wanted = max(files, default=0) if number is None else number
    if wanted in files and wanted not in readable:
        return _read_damaged(files[wanted], wanted)
    if number is None:
        writes = [entry for entry in readable.values() if entry.undoes is None and not entry.undone]
        if not writes:
            raise WriteFault("there is nothing to undo")
        return writes[-1]
    entry = readable.get(number)
    if entry is None or entry.undoes is not None:
        raise WriteFault(f"there is no write {number}; `kbx undo --list` shows them")
    if entry.undone:
        raise WriteFault(f"write {number} is already undone")
    return entry


def _numbered_files(root: Path) -> dict[int, Path]:
    with suppress(OSError):
        files = (root / FOLDER).iterdir()
        return {int(file.stem): file for file in files if _NUMBERED.fullmatch(file.name)}
    return {}


def _fields(entry: JournalEntry) -> dict[str, Any]:
    stored: dict[str, Any] = msgspec.to_builtins(entry)
    del stored["undone"], stored["digest"]
    return stored


def _encode(entry: JournalEntry) -> bytes:
    text = json.dumps(_fields(entry), ensure_ascii=False).encode("utf-8", "replace")
    whole = msgspec.json.decode(text, type=JournalEntry)  # the entry as it will be read back
    stored = _fields(whole) | {"digest": whole.computed_digest()}
    return json.dumps(stored, ensure_ascii=False, indent=1).encode()


def _read(file: Path) -> JournalEntry:
    return decode_json(read_regular_file(file, limit=RECORD_LIMIT), JournalEntry)


def _read_damaged(file: Path, number: int) -> JournalEntry:
    try:
        entry = _read(file)
        if entry.number != number or not (entry.is_damaged and entry.changes):
            raise ValueError("it is not the record of that write")
        return entry
    except (OSError, ValueError) as error:
        cause = error.strerror if isinstance(error, OSError) else error
        raise WriteFault(
            f"{file} cannot be read ({cause}), so that write cannot be undone; nothing was written"
        ) from error


@dataclass(frozen=True, slots=True)
class ByteChange:
    """The bytes that a write removes and inserts at one offset of a file; stored in the journal."""

    path: str
    start: int
    removed: bytes
    inserted: bytes
    before: str
    """Hash of the whole file before the write; empty if it did not exist."""
    after: str

    def apply(self, data: bytes | None) -> bytes | None:
        """Return the file after the change; `data` must have the hash `before`."""
        if not self.after:
            return None
        data = data or b""
        return data[: self.start] + self.inserted + data[self.start + len(self.removed) :]

    def inverse(self) -> ByteChange:
        return ByteChange(
            self.path, self.start, self.inserted, self.removed, self.after, self.before
        )


@dataclass(frozen=True, slots=True)
class StagedChange:
    """A change that fits the current content of its file, made by staging and a rename."""

    change: ByteChange
    target: Path
    """The file to replace, with symbolic links resolved."""
    after: bytes | None
    group: str = ""

    @classmethod
    def of(
        cls, root: Path, change: ByteChange, after: bytes | None, group: str = ""
    ) -> StagedChange:
        """Locate the file. Raises WriteFault unless it is writable markdown within the root."""
        return cls(change, _writable_target(root, change.path), after, group)

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def temporary(self) -> Path:
        return self.target.with_name(f".{self.target.name}.kbx-edit")

    def stage(self) -> None:
        """Write the new content to the temporary file and flush it. Raises WriteFault."""
        if self.after is None:
            return
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            like = self.target if self.target.exists() else None
            write_synced(self.temporary, self.after, like)
        except OSError as error:
            raise write_fault(Path(self.path), error) from error

    def replace_target(self) -> None:
        """Swap in the new content. Raises FileChanged if the file changed since it was read."""
        try:
            current = read_page(self.target, self.path) if self.target.exists() else None
            if file_hash(current) != self.change.before:
                raise file_changed(self.path, None, current)
            if self.after is None:
                remove_page(self.target, current or b"")
            else:
                self.temporary.replace(self.target)
            sync_folder(self.target.parent)
        except OSError as error:
            raise write_fault(Path(self.path), error) from error

    def discard(self) -> None:
        with suppress(OSError):
            remove_temporary(self.temporary)

    def inverse(self) -> StagedChange:
        change = self.change.inverse()
        return StagedChange(change, self.target, change.apply(self.after))


def read_file(root: Path, path: str) -> bytes | None:
    """Return a file's content, None if missing. Raises WriteFault for a path outside the root."""
    try:
        return read_page(_located(root, path), path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WriteFault(f"{path} cannot be read: {error.strerror}") from error


def is_editable(root: Path, path: str) -> bool:
    """Return whether a path is that of a page, or kbx.toml: a journal may come from elsewhere."""
    parts = PurePosixPath(path).parts
    if len(parts) > MOST_FOLDERS:
        return False
    try:
        target, folder = resolve_links(root / path), resolve_links(root)
        parts += target.relative_to(folder).parts  # a link may lead into a hidden folder
    except (OSError, ValueError):
        return False
    is_named = target.suffix.lower() == ".md" or target == folder / CONFIG_NAME
    return is_named and not any(part.startswith(".") for part in parts)


def file_changed(path: str, expected: bytes | None, actual: bytes | None) -> FileChanged:
    event = "is gone" if actual is None else "was changed by another program"
    return FileChanged(
        f"{path} {event} since it was read; nothing was written to it, look at it and try again",
        path,
        decode(expected or b"")[0],
        decode(actual or b"")[0],
    )


def smallest_change(path: str, before: bytes | None, after: bytes | None) -> ByteChange:
    old, new = before or b"", after or b""
    longest = min(len(old), len(new))
    start = _common_prefix(old, new, longest)
    tail = _common_prefix(old[::-1], new[::-1], longest - start)
    removed, inserted = old[start : len(old) - tail], new[start : len(new) - tail]
    return ByteChange(path, start, removed, inserted, file_hash(before), file_hash(after))


def file_hash(data: bytes | None) -> str:
    return "" if data is None else content_hash(data)


def _located(root: Path, path: str) -> Path:
    """Return the file of a path. Raises WriteFault for one outside the root, and OSError."""
    if path == CONFIG_NAME and is_editable(root, path) and (root / path).exists():
        return root / path
    try:
        return locate(root, path)
    except ValueError as error:
        raise WriteFault(f"{path} lies outside {root}; only files in it are written") from error


def _writable_target(root: Path, path: str) -> Path:
    try:
        target = resolve_links(_located(root, path))
    except FileNotFoundError:
        target = resolve_links(root / path)
    except OSError as error:
        raise WriteFault(f"{path} cannot be read: {error.strerror}") from error
    if not is_editable(root, path):
        raise WriteFault(f"{path} is not a markdown file in {root}, or is in a hidden folder")
    if target.exists() and not os.access(target, os.W_OK):
        raise WriteFault(f"{path} is read-only; it was not written")
    return target


def _common_prefix(left: bytes, right: bytes, longest: int) -> int:
    return bisect_left(range(1, longest + 1), True, key=lambda end: left[:end] != right[:end])
