"""Undo: the reversal of a write, byte by byte, as a further journal entry."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.editing.edit_lock import edit_lock
from kbx_tui.editing.file_change import ByteChange, file_hash, read_file
from kbx_tui.editing.file_edits import FileEdit, write_files
from kbx_tui.editing.journal import FOLDER, JournalEntry, entry_to_undo, finish_pending
from kbx_tui.errors import FileChanged, RecordDamaged
from kbx_tui.knowledge.parsing.decoding import decode


def undo(root: Path, number: int | None = None) -> JournalEntry:
    """Revert a write, by default the last, and return it.

    The result must have the hash recorded before the write. Raises WriteFault, changing nothing:
    FileChanged for a file edited since, RecordDamaged for a damaged record.
    """
    with edit_lock(root):
        finish_pending(root)
        entry = entry_to_undo(root, number)
    edits = []
    for change in entry.changes:
        current = read_file(root, change.path)
        restored = change.inverse().apply(current)
        if not entry.is_damaged and file_hash(current) != change.after:
            raise _edited_since(entry, change, current)
        if entry.is_damaged or file_hash(restored) != change.before:
            raise _damaged(entry, change, current, restored)
        edits.append(FileEdit(change.path, current, restored))
    description = f"undo of {entry.number}: {entry.description}"
    write_files(root, edits, description, undoes=entry.number, all_or_nothing=True)
    return entry


def _edited_since(entry: JournalEntry, change: ByteChange, current: bytes | None) -> FileChanged:
    def lines(data: bytes) -> str:
        return decode(data)[0].strip("\n")

    remove = f"take out {lines(change.inserted)!r}" if change.inserted else ""
    restore = f"put back {lines(change.removed)!r}" if change.removed else ""
    return FileChanged(
        f"{change.path} was edited since write {entry.number}, so it cannot be undone; by hand: "
        f"{' and '.join(filter(None, (remove, restore)))}",
        change.path,
        decode(change.inserted)[0],
        decode(current or b"")[0],
    )


def _damaged(
    entry: JournalEntry, change: ByteChange, current: bytes | None, restored: bytes | None
) -> RecordDamaged:
    record = FOLDER / f"{entry.number:06}.json"
    return RecordDamaged(
        f"write {entry.number} cannot be undone, because its record {record.as_posix()} is "
        f"damaged and may not restore {change.path}; nothing was written",
        change.path,
        decode(current or b"")[0],
        decode(restored or b"")[0],
    )
