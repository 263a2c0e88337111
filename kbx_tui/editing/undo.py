"""Undo: the reversal of a write, byte by byte, as a further journal entry."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.editing.edit_lock import edit_lock
from kbx_tui.editing.file_change import ByteChange, file_hash, read_file
from kbx_tui.editing.file_edits import FileEdit, write_files
from kbx_tui.editing.journal import FOLDER, JournalEntry, entry_to_undo, finish_pending
from kbx_tui.errors import FileChanged, RecordDamaged
from kbx_tui.formatting import format_count
from kbx_tui.knowledge.parsing.decoding import decode
from kbx_tui.safe_text import safe_line

MAX_QUOTED = 120
"""Characters of a line that a refusal repeats."""


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
    written, replaced = decode(change.inserted)[0], decode(change.removed)[0]
    remove = f"take out {_quoted(written)}" if written else ""
    restore = f"put back {_quoted(replaced)}" if replaced else ""
    return FileChanged(
        f"{change.path} was edited since write {entry.number}, so it cannot be undone; by hand: "
        f"{' and '.join(filter(None, (remove, restore)))}",
        change.path,
        written,
        decode(current or b"")[0],
        replaced,
    )


def _quoted(text: str) -> str:
    """Return the first line of a text in quotes, and how many follow."""
    first, *others = text.strip("\n").split("\n")
    if len(first) > MAX_QUOTED:
        first = f"{first[:MAX_QUOTED].rstrip()} …"
    after = f" and the {format_count(len(others), 'line')} after it" if others else ""
    return f"“{safe_line(first)}”{after}"


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
