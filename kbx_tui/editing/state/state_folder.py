"""The folder `.kbx` of a base, which holds the index and the user's drafts, journal and labels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kbx_tui.editing.atomic_write import write_atomically, write_fault
from kbx_tui.errors import WriteFault
from kbx_tui.read_only import require_writable
from kbx_tui.state_file import (
    Notice,
    UnusableFile,
    decode_json,
    invalid_lines,
    read_regular_file,
    set_aside,
    unreadable,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STATE = ".kbx"

Record = TypeVar("Record")


def state_folder(root: Path) -> Path:
    """Return `<root>/.kbx`, created with its own `.gitignore` if needed. Raises WriteFault."""
    require_writable(root)
    folder = root / STATE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), (folder / ".gitignore").open("x") as ignore:
            ignore.write("*\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteFault(
            f"cannot write {folder} ({reason}): free some space, change its permissions, "
            "or copy the base elsewhere"
        ) from error
    return folder


def read_records(
    file: Path, record_type: type[Record], notice: Notice
) -> list[tuple[str, Record | None]]:
    """Return each non-blank line of a JSON Lines file with its record, None if it is invalid.

    Bytes that are not UTF-8 become surrogates in the line, which `write_records` writes back
    unchanged, and U+FFFD in the record. A missing file has no lines, nor has one that cannot be
    read. `notice` receives one sentence about what is not readable.
    """
    try:
        text = read_regular_file(file).decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return []
    except OSError as error:
        notice(unreadable(file, error))
        return []
    records: list[tuple[str, Record | None]] = []
    reasons: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        record = None
        try:
            valid = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            record = decode_json(valid, record_type)
        except ValueError as error:
            reasons.append(f"line {number}: {error}")
        records.append((line, record))
    if reasons:
        notice(invalid_lines(file, len(reasons), reasons[0]))
    return records


def write_records(
    root: Path,
    file: Path,
    records: Iterable[DataclassInstance],
    others: Iterable[str],
    stored: Mapping[Any, str],
) -> None:
    """Replace `root / file` by records and other lines. Raises WriteFault, changing nothing.

    A record in `stored` keeps the line it was read from. Anything that is not a file of records is
    set aside first.
    """
    state_folder(root)
    lines = [
        stored.get(record) or json.dumps(asdict(record), ensure_ascii=False) for record in records
    ]
    text = "".join(f"{line}\n" for line in (*lines, *others))
    replace_state_file(root / file, text.encode("utf-8", "surrogateescape"))


def replace_state_file(file: Path, data: bytes) -> None:
    """Replace a state file, setting aside anything that is not a regular file of a usual size.

    Raises WriteFault, also for a file that cannot be opened now: it may be readable the next time.
    """
    try:
        with suppress(FileNotFoundError):
            read_regular_file(file)
    except OSError as error:
        if not isinstance(error, UnusableFile):
            raise write_fault(file, error) from error
        set_aside(file)
    write_atomically(file, data)
