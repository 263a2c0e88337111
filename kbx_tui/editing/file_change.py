"""A change of one markdown file of a base, or of its kbx.toml: located, staged, swapped in."""

from __future__ import annotations

import os
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kbx_tui.editing.atomic_write import sync_folder, write_fault, write_synced
from kbx_tui.errors import FileChanged, WriteFault
from kbx_tui.knowledge.decoding import content_hash, decode
from kbx_tui.knowledge.vault import CONFIG_NAME, locate, read_page, resolve_links
from kbx_tui.removal import remove_page, remove_temporary


@dataclass(frozen=True, slots=True)
class ByteChange:
    """The bytes one file loses and gains at one offset. The journal stores these fields."""

    path: str
    start: int
    removed: bytes
    inserted: bytes
    before: str
    """Hash of the whole file before; empty when it did not exist."""
    after: str
    """Hash of the whole file after; empty when it no longer exists."""

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
    """The file itself, symbolic links resolved."""
    after: bytes | None
    """New content; None removes the file."""
    group: str = ""
    """Changes of one non-empty group succeed or fail together."""

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
            current = read_page(self.target) if self.target.exists() else None
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
    """Return a file's content, None if it is missing. Raises WriteFault outside the root."""
    try:
        return read_page(_located(root, path))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise WriteFault(f"{path} lies outside {root}; only files in it are written") from error
    except OSError as error:
        raise WriteFault(f"{path} cannot be read: {error.strerror}") from error


def is_editable(root: Path, path: str) -> bool:
    """Return whether a path, links resolved, is that of markdown in the base, or its kbx.toml."""
    try:
        target, folder = resolve_links(root / path), resolve_links(root)
    except OSError:
        return False
    is_page = target.suffix.lower() == ".md"
    return target.is_relative_to(folder) and (is_page or target == folder / CONFIG_NAME)


def file_changed(path: str, expected: bytes | None, actual: bytes | None) -> FileChanged:
    event = "is gone" if actual is None else "was changed by another program"
    return FileChanged(
        f"{path} {event} since it was read; nothing was written to it, look at it and try again",
        path,
        decode(expected or b"")[0],
        decode(actual or b"")[0],
    )


def smallest_change(path: str, before: bytes | None, after: bytes | None) -> ByteChange:
    """Return the smallest change from `before` to `after`; None means there is no file."""
    old, new = before or b"", after or b""
    longest = min(len(old), len(new))
    start = _common_prefix(old, new, longest)
    tail = _common_prefix(old[::-1], new[::-1], longest - start)
    removed, inserted = old[start : len(old) - tail], new[start : len(new) - tail]
    return ByteChange(path, start, removed, inserted, file_hash(before), file_hash(after))


def file_hash(data: bytes | None) -> str:
    return "" if data is None else content_hash(data)


def _located(root: Path, path: str) -> Path:
    """Return a file that may be edited. Raises as `locate`."""
    if path == CONFIG_NAME and is_editable(root, path) and (root / path).exists():
        return root / path
    return locate(root, path)


def _writable_target(root: Path, path: str) -> Path:
    try:
        target = resolve_links(_located(root, path))
    except FileNotFoundError:
        target = resolve_links(root / path)
        if not is_editable(root, path):
            raise WriteFault(f"{path} is not a markdown file in {root}") from None
    except OSError as error:
        raise WriteFault(f"{path} cannot be read: {error.strerror}") from error
    if target.exists() and not os.access(target, os.W_OK):
        raise WriteFault(f"{path} is read-only; it was not written")
    return target


def _common_prefix(left: bytes, right: bytes, longest: int) -> int:
    return bisect_left(range(1, longest + 1), True, key=lambda end: left[:end] != right[:end])
