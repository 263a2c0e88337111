"""The folder `.kbx` of a base, which holds the index and the user's drafts, journal and labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from kbx_tui.editing.atomic_write import write_atomically
from kbx_tui.errors import WriteFault

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STATE = ".kbx"

Record = TypeVar("Record")


def state_folder(root: Path) -> Path:
    """Return `<root>/.kbx`, created with its own `.gitignore` if needed. Raises WriteFault."""
    folder = root / STATE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteFault(
            f"cannot write {folder} ({reason}): free some space, change its permissions, "
            "or copy the base elsewhere"
        ) from error
    return folder


def read_records(file: Path, record_type: type[Record]) -> Iterator[tuple[str, Record | None]]:
    """Yield each non-blank line of a JSON Lines file with its record, None if it is invalid.

    Bytes that are not UTF-8 become surrogates in the line, which `write_records` writes back
    unchanged, and U+FFFD in the record. A missing file has no lines.
    """
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return
    for line in filter(str.strip, text.split("\n")):
        record = None
        with suppress(msgspec.DecodeError, RecursionError):
            valid = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            record = msgspec.json.decode(valid, type=record_type)
        yield line, record


def write_records(
    root: Path, file: Path, records: Iterable[DataclassInstance], kept: Iterable[str]
) -> None:
    """Replace `root / file` by records and kept lines. Raises WriteFault, changing nothing."""
    lines = [json.dumps(asdict(record), ensure_ascii=False) for record in records]
    state_folder(root)
    text = "".join(f"{line}\n" for line in (*lines, *kept))
    write_atomically(root / file, text.encode("utf-8", "surrogateescape"))
