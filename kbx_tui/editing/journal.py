"""The undo journal, a write-ahead log: each write is recorded before any file is replaced.

`.kbx/journal/000012.json` records one write: per file, the bytes removed and inserted. Until the
write is complete the record is named `begun.json`. If its process dies, the next process to open
the journal finishes that write. The edit lock ensures that there is at most one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from filelock import Timeout
from msgspec.structs import replace

from kbx_tui.editing.atomic_write import sync_folder, write_atomically, write_fault
from kbx_tui.editing.edit_lock import edit_lock
from kbx_tui.editing.file_change import ByteChange, StagedChange, file_hash, read_file
from kbx_tui.errors import WriteFault

FOLDER = Path(".kbx", "journal")
"""Relative to the root."""
PENDING = FOLDER / "begun.json"

_NUMBERED = re.compile(r"(\d{6,})\.json")


class JournalEntry(msgspec.Struct, frozen=True):
    """One write; if it was interrupted, it is completed when the base is next opened."""

    number: int
    written_at: str = msgspec.field(name="at")
    """Local time, `2026-03-17 09:41:05`."""
    description: str = msgspec.field(name="told")
    """What was done, for display."""
    changes: tuple[ByteChange, ...]
    undoes: int | None = None
    """The entry this one reverted."""
    undone: bool = False
    """True when a later entry reverted this one; not stored."""


def entries(root: Path) -> tuple[JournalEntry, ...]:
    """Return all completed writes, oldest first, skipping files that cannot be read."""
    readable = [
        entry
        for number, file in sorted(_numbered_files(root).items())
        if (entry := _read(file)) is not None and entry.number == number
    ]
    undone = {entry.undoes for entry in readable}
    return tuple(replace(entry, undone=entry.number in undone) for entry in readable)


def next_number(root: Path) -> int:
    """Return the number of the next write."""
    return max(_numbered_files(root), default=0) + 1


def begin(root: Path, entry: JournalEntry) -> None:
    """Record a write before it is made. Raises WriteFault, which leaves no record."""
    write_atomically(root / PENDING, _encode(entry))


def finish(root: Path, entry: JournalEntry, made: Sequence[ByteChange]) -> JournalEntry | None:
    """Mark the pending write as complete and return its entry, None when nothing was changed.

    `made` are those of its changes that were actually made. Raises WriteFault.
    """
    if not made:
        discard_pending(root)
        return None
    record = root / PENDING
    try:
        if len(made) < len(entry.changes):
            entry = replace(entry, changes=tuple(made))
            write_atomically(record, _encode(entry))
        record.replace(record.with_name(f"{entry.number:06}.json"))
    except OSError as error:
        raise write_fault(record, error) from error
    sync_folder(record.parent)
    return entry


def discard_pending(root: Path) -> None:
    """Delete the record of a write that changed nothing."""
    with suppress(OSError):
        (root / PENDING).unlink(missing_ok=True)


def finish_interrupted(root: Path) -> tuple[str, ...]:
    """Finish an interrupted write and return the paths written.

    Files edited since are left alone. Returns at once while another process is writing, since
    that write is not interrupted. Raises WriteFault.
    """
    if not (root / PENDING).exists():
        return ()
    try:
        with edit_lock(root, seconds=0):
            return finish_pending(root)
    except Timeout:
        return ()


def finish_pending(root: Path) -> tuple[str, ...]:
    """Finish the pending write of the journal and return the paths written.

    The caller holds the edit lock. Only files that still have the content recorded before the
    write are changed. Raises WriteFault.
    """
    entry = _read(root / PENDING)
    if entry is None:
        return ()
    made, written = [], []
    for change in entry.changes:
        current = read_file(root, change.path)
        after = change.apply(current)
        staged = StagedChange.of(root, change, after)
        if file_hash(current) == change.before:
            if file_hash(after) != change.after:
                raise WriteFault(
                    f"{root / PENDING} does not fit {change.path}; inspect it, then remove it"
                )
            staged.stage()
            staged.replace_target()
            written.append(change.path)
        staged.discard()
        if file_hash(current) in (change.before, change.after):
            made.append(change)
    finish(root, entry, made)
    return tuple(written)


def entry_to_undo(root: Path, number: int | None) -> JournalEntry:
    """Return the entry with this number, by default the last one that is not undone.

    Raises WriteFault when there is none, or it is unreadable: no older one takes its place.
    """
    files = _numbered_files(root)
    readable = {entry.number: entry for entry in entries(root)}
    wanted = max(files, default=0) if number is None else number
    if wanted in files and wanted not in readable:
        raise _unreadable(files[wanted], "it holds no valid entry")
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


def _encode(entry: JournalEntry) -> bytes:
    stored = msgspec.to_builtins(entry)
    del stored["undone"]
    text = json.dumps(stored, ensure_ascii=False, indent=1)
    return text.encode("utf-8", "replace")


def _read(file: Path) -> JournalEntry | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=JournalEntry)
    except FileNotFoundError:
        pass
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        if file.name == PENDING.name:
            raise _unreadable(file, error) from error
    return None


def _unreadable(file: Path, reason: object) -> WriteFault:
    return WriteFault(f"{file} cannot be read ({reason}); inspect it, then remove it")
