"""The folder `.kbx` of a base: what programs keep there, and the user's drafts, journal, labels."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kbx_tui.editing.atomic_write import put_in_place
from kbx_tui.errors import WriteFault

STATE = ".kbx"


def state_folder(root: Path) -> Path:
    """Return `<root>/.kbx`, made if needed, with a `.gitignore` of its own. Raises WriteFault."""
    folder = root / STATE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        why = error.strerror or str(error)
        raise WriteFault(
            f"cannot write {folder} ({why}): free space or rights, or copy the base"
        ) from error
    return folder


def kept_lines(file: Path) -> list[str]:
    """Return the lines of a file of ours that hold something, none when there is no such file.

    Bytes that are no UTF-8 come back as they were through `put_lines`.
    """
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return []
    return [line for line in text.split("\n") if line.strip()]


def readable(line: str) -> str:
    """Return such a line with a sign in place of every byte that is no UTF-8."""
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def put_lines(root: Path, file: Path, lines: Iterable[str]) -> None:
    """Write a file below the root whole. Raises WriteFault; then it is as it was."""
    state_folder(root)
    text = "".join(f"{line}\n" for line in lines)
    put_in_place(root / file, text.encode("utf-8", "surrogateescape"))
