"""Taking a write back, byte by byte, as one more entry of the journal."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.editing import journal
from kbx_tui.editing.edit_lock import edit_lock
from kbx_tui.editing.file_edits import FileEdit, finish_begun, read_file, write_files
from kbx_tui.editing.journal import Change, JournalEntry, hash_of
from kbx_tui.errors import FileChanged
from kbx_tui.knowledge.parsing.decoding import decode


def undo(root: Path, number: int | None = None) -> JournalEntry:
    """Take back a write, the last one by default, and return its entry.

    Raises WriteFault when there is none, FileChanged when a file was edited since; then nothing is
    taken back.
    """
    with edit_lock(root):
        finish_begun(root)
        entry = journal.find(root, number)
    back = []
    for one in entry.changes:
        now = read_file(root, one.path)
        if hash_of(now) != one.after:
            raise _edited_since(entry, one, now)
        data = None if one.before == "" else one.reversed().applied(now or b"")
        back.append(FileEdit(one.path, now, data))
    told = f"undo of {entry.number}: {entry.told}"
    write_files(root, back, told, undoes=entry.number, whole=True)
    return entry


def _edited_since(entry: JournalEntry, one: Change, now: bytes | None) -> FileChanged:
    def lines(data: bytes) -> str:
        return decode(data)[0].strip("\n")

    how = f"take out {lines(one.inserted)!r}" if one.inserted else ""
    back = f"put back {lines(one.removed)!r}" if one.removed else ""
    return FileChanged(
        f"{one.path} was edited since write {entry.number}, so it cannot be undone; by hand: "
        f"{' and '.join(filter(None, (how, back)))}",
        one.path,
        decode(one.inserted)[0],
        decode(now or b"")[0],
    )
