"""Writing the user's files: atomically, never over what somebody else wrote, and undoable.

The order is what makes it safe to die anywhere: the journal notes all changes, new content is
written beside each file, then one rename per file, then the journal says that it is done. What was
begun is finished when somebody looks next.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import Timeout

from kbx_tui.editing import journal
from kbx_tui.editing.atomic_write import not_written, sync_folder, write_aside
from kbx_tui.editing.edit_lock import edit_lock
from kbx_tui.editing.journal import Change, JournalEntry, change, hash_of
from kbx_tui.errors import FileChanged, WriteFault
from kbx_tui.knowledge.parsing.decoding import decode
from kbx_tui.knowledge.vault import locate

Listener = Callable[[int, int], None]
"""Hears how many files are done, and of how many."""


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file as it was read and as it is to be."""

    path: str
    """Root-relative, `/`."""
    before: bytes | None
    """None when there was no file."""
    after: bytes | None
    """None to remove the file."""
    again: Callable[[bytes], bytes] | None = None
    """Makes the same edit on what the file holds by now; raises WriteFault when it does not fit.
    None: a file that changed is left alone."""
    group: str = ""
    """Files of one group are written all or none; each without a group stands alone."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a write did."""

    entry: JournalEntry | None
    """None when nothing was written."""
    failed: dict[str, WriteFault]
    """Path -> why it was not written."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that were written."""
        return tuple(one.path for one in self.entry.changes) if self.entry else ()


@dataclass(frozen=True, slots=True)
class _Ready:
    """A change that fits the file as it is now."""

    change: Change
    target: Path
    """The file itself, links followed."""
    after: bytes | None
    group: str = ""

    @property
    def aside(self) -> Path:
        return _aside(self.target)


def write_files(
    root: Path,
    edits: Sequence[FileEdit],
    told: str,
    *,
    undoes: int | None = None,
    whole: bool = False,
    listener: Listener | None = None,
) -> Outcome:
    """Write several files as one entry of the journal.

    Files that fail are left as they were, and those of their group with them; the others are
    written. With `whole` none is written unless all can be, and the first fault is raised.
    """
    if whole:
        edits = [replace(edit, group="whole") for edit in edits]
    with edit_lock(root):
        finish_begun(root)
        ready: list[_Ready] = []
        failed: dict[str, WriteFault] = {}
        for edit in edits:
            try:
                fitted = _fitted(root, edit)
                if any(fitted.target == one.target for one in ready):  # a link to the other
                    raise WriteFault(f"{edit.path} is the same file as another of these")
                ready.append(fitted)
            except WriteFault as error:
                failed[edit.path] = error
        if whole and failed:
            raise next(iter(failed.values()))
        _fail_groups(failed, {edit.path: edit.group for edit in edits})
        ready = [
            one
            for one in ready
            if one.change.path not in failed and one.change.before != one.change.after
        ]
        if not ready:
            return Outcome(None, failed)
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        changes = tuple(one.change for one in ready)
        entry = JournalEntry(journal.next_number(root), at, told, changes, undoes)
        try:
            journal.begin(root, entry)
            for one in ready:
                _write_aside(one)
        except WriteFault as error:  # a full disk, most of the time: nothing was replaced yet
            _tidy(ready)
            journal.give_up(root)
            why = error.__cause__ if isinstance(error.__cause__, OSError) else OSError(str(error))
            faults = {one.change.path: not_written(Path(one.change.path), why) for one in ready}
            if whole:
                raise next(iter(faults.values())) from error
            return Outcome(None, failed | faults)
        made = _replace_all(ready, failed, listener)
        _tidy(ready)
        done = journal.finish(root, entry, made)
        if whole and failed:
            raise next(iter(failed.values()))
        return Outcome(done, failed)


def finish_interrupted(root: Path) -> tuple[str, ...]:
    """Finish a write during which a process died; return the files it wrote.

    Files that somebody edited since are left alone. Nothing is waited for: while another process
    writes there is nothing to finish. Raises WriteFault.
    """
    if not (root / journal.FOLDER / journal.BEGUN).exists():
        return ()
    try:
        with edit_lock(root, seconds=0):
            return finish_begun(root)
    except Timeout:
        return ()


def read_file(root: Path, path: str) -> bytes | None:
    """Return what a file holds, None when there is none. Raises WriteFault outside the root."""
    try:
        return locate(root, path).read_bytes()
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise WriteFault(f"{path} lies outside {root}; only files in it are written") from error
    except OSError as error:
        raise WriteFault(f"{path} cannot be read: {error.strerror}") from error


def changed_meanwhile(path: str, expected: bytes | None, found: bytes | None) -> FileChanged:
    """Return the error for a file that is not what it was; it holds both versions."""
    gone = "is gone" if found is None else "was changed by somebody else"
    return FileChanged(
        f"{path} {gone} since it was read; nothing was written to it, look at it and try again",
        path,
        decode(expected or b"")[0],
        decode(found or b"")[0],
    )


def _fitted(root: Path, edit: FileEdit) -> _Ready:
    now, after = read_file(root, edit.path), edit.after
    if now != edit.before:
        if now is None or edit.again is None:
            raise changed_meanwhile(edit.path, edit.before, now)
        try:
            after = edit.again(now)
        except WriteFault as error:
            raise changed_meanwhile(edit.path, edit.before, now) from error
    return _Ready(change(edit.path, now, after), _target(root, edit.path), after, edit.group)


def _fail_groups(failed: dict[str, WriteFault], groups: Mapping[str, str]) -> None:
    """Have all files of a group fail when one does."""
    first = {groups[path]: path for path in reversed(failed) if groups.get(path)}
    for path, group in groups.items():
        if group in first and path not in failed:
            told = f"{path} was not written, as it goes with {first[group]}: {failed[first[group]]}"
            failed[path] = WriteFault(told)


def _replace_all(
    ready: Sequence[_Ready], failed: dict[str, WriteFault], listener: Listener | None
) -> list[Change]:
    """Put new content in place; of a group that fails midway the first files are put back."""
    made: list[_Ready] = []
    for count, one in enumerate(ready, 1):
        if one.change.path not in failed:
            try:
                _replace(one)
                made.append(one)
            except WriteFault as error:
                failed[one.change.path] = error
                _fail_groups(failed, {each.change.path: each.group for each in ready})
                made = [each for each in made if not (_is_undone(each, failed))]
        if listener:
            listener(count, len(ready))
    return [one.change for one in made]


def _is_undone(one: _Ready, failed: Mapping[str, WriteFault]) -> bool:
    """Put a file back whose group failed; tell whether that was done."""
    if one.change.path not in failed:
        return False
    back = one.change.reversed()
    after = None if back.after == "" else back.applied(one.after or b"")
    undone = _Ready(back, one.target, after)
    try:
        _write_aside(undone)
        _replace(undone)
    except WriteFault:  # the journal holds it, so that `undo` can do it later
        return False
    return True


def _target(root: Path, path: str) -> Path:
    try:
        target = locate(root, path).resolve()
    except FileNotFoundError:
        target = (root / path).resolve()
        if not target.is_relative_to(root.resolve()) or target.suffix.lower() != ".md":
            raise WriteFault(f"{path} is no markdown file in {root}") from None
    if target.exists() and not os.access(target, os.W_OK):
        raise WriteFault(f"{path} is read-only; it was not written")
    return target


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.kbx-edit")


def _write_aside(one: _Ready) -> None:
    if one.after is None:
        return
    try:
        one.target.parent.mkdir(parents=True, exist_ok=True)
        write_aside(one.aside, one.after, one.target if one.target.exists() else None)
    except OSError as error:
        raise not_written(Path(one.change.path), error) from error


def _replace(one: _Ready) -> None:
    """Put the new content in place, unless somebody was faster."""
    try:
        now = one.target.read_bytes() if one.target.exists() else None
        if hash_of(now) != one.change.before:
            raise changed_meanwhile(one.change.path, None, now)
        if one.after is None:
            one.target.unlink()
        else:
            one.aside.replace(one.target)
        sync_folder(one.target.parent)
    except OSError as error:
        raise not_written(Path(one.change.path), error) from error


def _tidy(ready: Sequence[_Ready]) -> None:
    for one in ready:
        with suppress(OSError):
            one.aside.unlink(missing_ok=True)


def finish_begun(root: Path) -> tuple[str, ...]:
    """Make the changes that a dead process had begun, as far as the files are as it saw them.

    For whoever holds the lock. Returns the files it wrote.
    """
    entry = journal.begun(root)
    if entry is None:
        return ()
    made, written_now = [], []
    for one in entry.changes:
        now = read_file(root, one.path)
        target = _target(root, one.path)
        if hash_of(now) == one.before:
            after = None if one.after == "" else one.applied(now or b"")
            if hash_of(after) != one.after:
                raise WriteFault(
                    f"{root / journal.FOLDER / journal.BEGUN} does not fit {one.path}; "
                    "look at it, then remove it"
                )
            ready = _Ready(one, target, after)
            _write_aside(ready)
            _replace(ready)
            written_now.append(one.path)
        with suppress(OSError):
            _aside(target).unlink(missing_ok=True)
        if one.path in written_now or hash_of(now) == one.after:
            made.append(one)
    journal.finish(root, entry, made)
    return tuple(written_now)
