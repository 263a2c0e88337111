"""Writes to the user's files: atomic, journaled, undoable; others' changes are never overwritten.

The order of steps makes a crash harmless at any point: the journal records all changes, the new
content is staged beside each file, each file is replaced by one rename, and the journal marks the
write as complete. The next process to open the base finishes an interrupted write.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG

from kbx_tui.editing import journal
from kbx_tui.editing.journal import (
    FOLDER,
    ByteChange,
    JournalEntry,
    StagedChange,
    entry_to_undo,
    file_changed,
    file_hash,
    finish_pending,
    read_file,
    smallest_change,
)
from kbx_tui.editing.state_files import edit_lock, write_atomically, write_fault, write_new
from kbx_tui.errors import FileChanged, RecordDamaged, WriteFault
from kbx_tui.formatting import format_count
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.vault import CONFIG_NAME
from kbx_tui.removal import STATE_FOLDER
from kbx_tui.safe_text import safe_line

ProgressCallback = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class FileEdit:
    path: str
    """Relative to the root, with `/`."""
    before: bytes | None
    after: bytes | None
    """None removes the file."""
    rebase: Callable[[bytes], bytes] | None = None
    """Applies the edit to newer content or raises WriteFault. None leaves a changed file alone."""
    group: str = ""
    """Of the files in a non-empty group, all are written or none."""


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    entry: JournalEntry | None
    failed: dict[str, WriteFault]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.entry.changes) if self.entry else ()


def write_files(
    root: Path,
    edits: Sequence[FileEdit],
    description: str,
    *,
    undoes: int | None = None,
    all_or_nothing: bool = False,
    progress: ProgressCallback | None = None,
) -> WriteOutcome:
    """Write several files as one journal entry.

    A file that fails stays unchanged, and so does the rest of its group; other files are written.
    With `all_or_nothing` the edits form one group, and the first fault is raised.
    """
    if all_or_nothing:
        edits = [replace(edit, group="all") for edit in edits]
    with edit_lock(root):
        finish_pending(root)
        staged, failed = _prepare(root, edits)
        entry = None
        if staged:
            changes = tuple(item.change for item in staged)
            number, written_at = journal.next_number(root), time.strftime("%Y-%m-%d %H:%M:%S")
            entry = JournalEntry(number, written_at, description, changes, undoes)
            entry = _write(root, entry, staged, failed, progress)
        if all_or_nothing and failed:
            raise next(iter(failed.values()))
        return WriteOutcome(entry, failed)


def _prepare(
    root: Path, edits: Sequence[FileEdit]
) -> tuple[list[StagedChange], dict[str, WriteFault]]:
    fitting: list[StagedChange] = []
    failed: dict[str, WriteFault] = {}
    targets = set[Path]()
    for edit in edits:
        try:
            fitted = _fit(root, edit)
            if fitted.target in targets:  # reached through a link
                raise WriteFault(f"{edit.path} is the same file as another one in this write")
            targets.add(fitted.target)
            fitting.append(fitted)
        except WriteFault as error:
            failed[edit.path] = error
    _fail_groups(failed, edits)
    changing = [item for item in fitting if item.change.before != item.change.after]
    return [item for item in changing if item.path not in failed], failed


def _fit(root: Path, edit: FileEdit) -> StagedChange:
    current, after = read_file(root, edit.path), edit.after
    if current != edit.before:
        if current is None or edit.rebase is None:
            raise file_changed(edit.path, edit.before, current)
        try:
            after = edit.rebase(current)
        except WriteFault as error:
            raise file_changed(edit.path, edit.before, current) from error
    change = smallest_change(edit.path, current, after)
    return StagedChange.of(root, change, after, edit.group)


def _write(
    root: Path,
    entry: JournalEntry,
    staged: Sequence[StagedChange],
    failed: dict[str, WriteFault],
    progress: ProgressCallback | None,
) -> JournalEntry | None:
    try:
        journal.begin(root, entry)
        for item in staged:
            item.stage()
    except WriteFault as error:  # usually a full disk; nothing was replaced yet
        for item in staged:
            item.discard()
        journal.discard_pending(root)
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else OSError(str(error))
        for item in staged:
            fault = write_fault(Path(item.path), cause)
            fault.__cause__ = error
            failed[item.path] = fault
        return None
    made = _replace_all(staged, failed, progress)
    for item in staged:
        item.discard()
    return journal.finish(root, entry, [item.change for item in made])


def _replace_all(
    staged: Sequence[StagedChange],
    failed: dict[str, WriteFault],
    progress: ProgressCallback | None,
) -> list[StagedChange]:
    made: list[StagedChange] = []
    for count, item in enumerate(staged, 1):
        if item.path not in failed:
            try:
                item.replace_target()
                made.append(item)
            except WriteFault as error:
                failed[item.path] = error
                _fail_groups(failed, staged)
                made = [done for done in made if done.path not in failed or not _roll_back(done)]
        if progress:
            progress(count, len(staged))
    return made


def _fail_groups(failed: dict[str, WriteFault], edits: Sequence[FileEdit | StagedChange]) -> None:
    groups = {edit.path: edit.group for edit in edits}
    first = {groups[path]: path for path in reversed(failed) if groups.get(path)}
    for path, group in groups.items():
        if group in first and path not in failed:
            cause = first[group]
            message = f"{path} was not written because {cause} was not: {failed[cause]}"
            failed[path] = WriteFault(message)


def _roll_back(done: StagedChange) -> bool:
    restored = done.inverse()
    try:
        restored.stage()
        restored.replace_target()
    except WriteFault:  # the change stays in the journal, so that `undo` can revert it
        return False
    return True


MAX_QUOTED = 120


def undo(root: Path, number: int | None = None) -> JournalEntry:
    """Revert a write, by default the last, and return it.

    The restored file must have the hash recorded before the write. Raises WriteFault and changes
    nothing: FileChanged for a file edited since, RecordDamaged for a damaged record.
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


SECONDS = 30


def commit_files(
    root: Path, paths: Sequence[str], operation: str, target: str, *, message: str, author: str
) -> str:
    """Commit only these files to git; return why that failed, empty on success.

    `message` may contain `{operation}`, `{target}`, `{file_count}` and `{timestamp}`.
    """
    message = message.replace("{operation}", operation).replace("{target}", target)
    message = message.replace("{file_count}", str(len(paths)))
    message = message.replace("{timestamp}", time.strftime("%Y-%m-%dT%H:%M:%S"))
    git = ["git", "-C", str(root), "-c", "core.quotepath=off", "--literal-pathspecs"]
    commands = (
        [*git, "add", "--", *paths],
        [*git, "commit", "--quiet", "--author", author, "-m", message, "--only", "--", *paths],
    )
    for command in commands:
        try:
            completed = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,  # it may be that of a server, with requests
                capture_output=True,
                encoding="utf-8",
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        if completed.returncode:
            lines = (completed.stderr or completed.stdout).strip().splitlines()
            return lines[-1] if lines else f"git exited with {completed.returncode}"
    return ""


def require_free(target: Path, *, overwrite: bool) -> None:
    """Raise WriteFault if `write_output` would refuse; for a check before the work."""
    try:
        _require_outside_bases(target)
        kind = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise WriteFault(
                f"{target} was not written: there is no folder {target.parent}"
            ) from None
        return
    except OSError as error:
        raise not_written(target, error) from error
    if not S_ISREG(kind):
        raise WriteFault(f"{target} is not a file; name a file to write")
    if not overwrite:
        raise _exists(target)


def write_output(target: Path, data: bytes, *, overwrite: bool) -> None:
    """Write a file in one step; without `overwrite`, only a new one. Raises WriteFault."""
    require_free(target, overwrite=overwrite)
    try:
        if overwrite:
            write_atomically(target, data)
        else:
            write_new(target, data)
    except FileExistsError as error:
        raise _exists(target) from error
    except OSError as error:
        raise not_written(target, error) from error


def not_written(target: Path, error: OSError) -> WriteFault:
    return WriteFault(f"{target} was not written: {error.strerror or error}")


def _require_outside_bases(target: Path) -> None:
    """Raise WriteFault if a file of this name may be a page or another file of some base."""
    folder = os.path.realpath(target.parent)  # unlike `resolve`, never raises
    folders, name = Path(folder.lower()).parts, target.name.lower()
    if name.endswith(".md"):
        raise WriteFault(
            f"{target} was not written: a file named .md may be a page of a knowledge base; "
            "choose another ending"
        )
    if name == CONFIG_NAME or STATE_FOLDER in folders:
        raise WriteFault(
            f"{target} was not written: it belongs to a knowledge base; choose another place"
        )


def _exists(target: Path) -> WriteFault:
    return WriteFault(f"{target} exists and was left as it is; --force replaces it")
