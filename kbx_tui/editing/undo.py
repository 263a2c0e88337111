"""Undo: the reversal of a write, byte by byte, as a further journal entry."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.editing.edit_lock import edit_lock
from kbx_tui.editing.file_change import ByteChange, file_hash, read_file
from kbx_tui.editing.file_edits import FileEdit, write_files
from kbx_tui.editing.journal import JournalEntry, entry_to_undo, finish_pending
from kbx_tui.errors import FileChanged
from kbx_tui.knowledge.parsing.decoding import decode


def undo(root: Path, number: int | None = None) -> JournalEntry:
    """Revert a write, by default the last, and return it. Raises WriteFault, changing nothing."""
    with edit_lock(root):
        finish_pending(root)
        entry = entry_to_undo(root, number)
    edits = []
    for change in entry.changes:
        current = read_file(root, change.path)
        if file_hash(current) != change.after:
            raise _edited_since(entry, change, current)
        edits.append(FileEdit(change.path, current, change.inverse().apply(current)))
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
