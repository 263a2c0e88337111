"""The undo journal: what each write changed, noted before the first byte is replaced.

`.kbx/journal/000012.json` is one write, with the bytes taken out and put in, per file. While it is
being made it is called `begun.json`; whoever finds that name later finishes the write. One process
writes at a time, so there is never a second one.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from kbx_tui.editing.atomic_write import not_written, put_in_place, sync_folder
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.parsing.decoding import content_hash

FOLDER = Path(".kbx", "journal")
"""Below the root."""
BEGUN = "begun.json"

_NUMBERED = re.compile(r"(\d{6,})\.json")


@dataclass(frozen=True, slots=True)
class Change:
    """What one file loses and gains. All else in it stays."""

    path: str
    start: int
    """Byte offset."""
    removed: bytes
    inserted: bytes
    before: str
    """Hash of the whole file; empty when there was none."""
    after: str
    """Hash of the whole file; empty when there is none any more."""

    def applied(self, data: bytes) -> bytes:
        """Return the file after the change; `data` has the hash `before`."""
        return data[: self.start] + self.inserted + data[self.start + len(self.removed) :]

    def reversed(self) -> Change:
        """Return what takes the change back."""
        return Change(self.path, self.start, self.inserted, self.removed, self.after, self.before)


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One write: all of it was made, or is made when the base is opened next."""

    number: int
    at: str
    """Local time, `2026-03-17 09:41:05`."""
    told: str
    """What it was, for people."""
    changes: tuple[Change, ...]
    undoes: int | None = None
    """The entry this one took back."""
    undone: bool = False
    """True when a later entry took this one back."""


def change(path: str, before: bytes | None, after: bytes | None) -> Change:
    """Return the smallest change that makes `before` into `after`; None stands for no file."""
    old, new = before or b"", after or b""
    most = min(len(old), len(new))
    start = _common(old, new, most)
    tail = _common(old[::-1], new[::-1], most - start)
    return Change(
        path=path,
        start=start,
        removed=old[start : len(old) - tail],
        inserted=new[start : len(new) - tail],
        before=hash_of(before),
        after=hash_of(after),
    )


def hash_of(data: bytes | None) -> str:
    """Return the hash that a change knows a file by; empty for no file."""
    return "" if data is None else content_hash(data)


def entries(root: Path) -> tuple[JournalEntry, ...]:
    """Return all writes that were made, oldest first; what cannot be read is passed over."""
    found = [
        entry
        for file in _files(root)
        if (entry := _read(file)) is not None and entry.number == int(file.stem)
    ]
    found.sort(key=lambda entry: entry.number)
    undone = {entry.undoes for entry in found}
    return tuple(replace(entry, undone=entry.number in undone) for entry in found)


def next_number(root: Path) -> int:
    """Return the number of the next write."""
    return max((int(file.stem) for file in _files(root)), default=0) + 1


def begun(root: Path) -> JournalEntry | None:
    """Return the write that was begun and not finished."""
    return _read(root / FOLDER / BEGUN)


def begin(root: Path, entry: JournalEntry) -> None:
    """Note what is about to be written. Raises WriteFault; then nothing is."""
    put_in_place(root / FOLDER / BEGUN, _text(entry))


def finish(root: Path, entry: JournalEntry, made: Sequence[Change]) -> JournalEntry | None:
    """Note that the write was made; `made` are the changes that were, of all that were begun."""
    folder = root / FOLDER
    if not made:
        give_up(root)
        return None
    try:
        if len(made) < len(entry.changes):
            entry = replace(entry, changes=tuple(made))
            put_in_place(folder / BEGUN, _text(entry))
        (folder / BEGUN).replace(folder / f"{entry.number:06}.json")
    except OSError as error:
        raise not_written(folder / BEGUN, error) from error
    sync_folder(folder)
    return entry


def give_up(root: Path) -> None:
    """Forget a write of which nothing was made."""
    with suppress(OSError):
        (root / FOLDER / BEGUN).unlink(missing_ok=True)


def find(root: Path, number: int | None) -> JournalEntry:
    """Return the entry to undo: that one, else the last that was not taken back.

    Raises WriteFault when there is none, or its file cannot be read: an older write is not taken
    back in its place.
    """
    read = entries(root)
    known = [entry for entry in read if entry.undoes is None]
    newest = max(_files(root), key=lambda file: int(file.stem), default=None)
    is_read = newest is None or (bool(read) and read[-1].number == int(newest.stem))
    if number is None and newest is not None and not is_read:
        raise WriteFault(_unreadable(newest, "it is the last write and holds no valid entry"))
    if number is None:
        found = [entry for entry in known if not entry.undone]
        if not found:
            raise WriteFault("there is nothing to undo")
        return found[-1]
    for entry in known:
        if entry.number == number:
            if entry.undone:
                raise WriteFault(f"write {number} is undone already")
            return entry
    file = root / FOLDER / f"{number:06}.json"
    if file.exists() and all(entry.number != number for entry in read):
        raise WriteFault(_unreadable(file, "it holds no valid entry"))
    raise WriteFault(f"there is no write {number}; `kbx undo --list` shows them")


def _files(root: Path) -> Iterator[Path]:
    with suppress(OSError):
        for file in (root / FOLDER).iterdir():
            if _NUMBERED.fullmatch(file.name):
                yield file


def _common(one: bytes, other: bytes, most: int) -> int:
    """Return how many bytes at the beginning are the same, by halving."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _text(entry: JournalEntry) -> bytes:
    told: dict[str, Any] = asdict(entry)
    del told["undone"]
    for one in told["changes"]:
        for side in ("removed", "inserted"):
            one[side] = base64.b64encode(one[side]).decode()
    return json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "replace")


def _read(file: Path) -> JournalEntry | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=JournalEntry)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        if file.name == BEGUN:
            raise WriteFault(_unreadable(file, error)) from error
        return None


def _unreadable(file: Path, why: object) -> str:
    return f"{file} cannot be read ({why}); look at it, then remove it"
