"""Whose an index is: only one that this user made, or says is theirs, is opened.

An index shows its own texts as those of the pages, and LanceDB opens what a table names. So an
index that came with a clone could show anything. The marker of each index folder holds a random id,
and the user's state folder has a file named by that id for each index made here, or allowed by the
user. The file names the folder that the index lies in, as an id is not secret: others know that of
an index that they made or were given. What was made here may be moved, but not copied.

Digests of files begin with the id, and each version of a table carries it. Thus nobody who does not
know it can put a file into such an index either, as `git pull` does with a file that git ignores.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from kbx_tui.errors import IndexFault, KbxError
from kbx_tui.removal import (
    INDEX_FILES,
    INDEX_MARKER,
    INDEX_TABLES,
    PUBLIC_INDEX,
    foreign_entries,
    has_marker,
    remove_index_id,
)
from kbx_tui.state_file import read_regular_file, replace_file
from kbx_tui.user_files import user_state_folder

IDS = "indexes"
"""Folder of the ids, in the user's state folder."""
MARKER_LIMIT = 1024

_TEXT = "An index made by `kbx index`, which may replace it.\n"
_ASIDE = "Put aside: "
NO_ID = "0" * 32

NOT_REMEMBERED = (
    "the next command will not know this index as made here, as your state folder cannot be "
    "written: set KBX_STATE_DIR to a folder that can be"
)
_MARKER = re.compile(rf"[^\n]*\n([0-9a-f]{{32}})\n(?:{_ASIDE}([0-9a-f]{{32}})\n)?")

_MADE = "made "
"""Begins the lines in files of ids that name a folder of an index made here."""
_allowed_now: set[tuple[str, str]] = set()
"""Ids, and lines as in the files of ids, that this process may open besides those."""

OWN_SECONDS = 0.2
_own: dict[tuple[str, str | None], tuple[tuple[int, ...], float]] = {}
"""What was found to be this user's: the index and `KBX_STATE_DIR`, then the state of the marker,
and until when that counts."""


def index_id(folder: Path) -> str:
    """Return the id in the marker of an index folder; empty without one."""
    return _ids_in(folder)[0]


def was_put_aside(folder: Path) -> bool:
    """Return whether an index was put aside by this user, and so may be removed."""
    return _is_allowed(_ids_in(folder)[1], folder)


def _ids_in(folder: Path) -> tuple[str, str]:
    with suppress(OSError, ValueError):  # a link, a pipe, or not in ASCII
        text = read_regular_file(folder / INDEX_MARKER, limit=MARKER_LIMIT).decode("ascii")
        if found := _MARKER.fullmatch(text):
            return found[1], found[2] or ""
    return "", ""


def digest_seed(folder: Path) -> int:
    """Return the value with which the digests of an index's files begin; 0 without an id."""
    return int(index_id(folder)[:8] or "0", 16)


def is_own(folder: str | Path) -> bool:
    """Return whether an index was made here, or allowed by this user.

    Every search asks, so what was found counts for a moment, while the marker is the same file.
    """
    marker: tuple[int, ...] = ()
    with suppress(OSError):
        found = os.lstat(f"{folder}/{INDEX_MARKER}")
        marker = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
    place = str(folder), os.environ.get("KBX_STATE_DIR")  # the system's folder stays the same
    if (known := _own.get(place)) and known[0] == marker and time.monotonic() < known[1]:
        return True
    index, put_aside_by = _ids_in(Path(folder))
    if put_aside_by or not _is_allowed(index, Path(folder)):
        return False
    _own[place] = marker, time.monotonic() + OWN_SECONDS
    return True


def _is_allowed(known: str, folder: Path) -> bool:
    place = _place_of(folder)
    allowed = {place, f"{_MADE}{place}"}
    if known:
        with suppress(OSError):
            lines = _lines_of(known)
            if not allowed.isdisjoint(lines):
                return True
            made = [line.removeprefix(_MADE) for line in lines if line.startswith(_MADE)]
            if (made or not lines) and not any(_is_copied(known, each, place) for each in made):
                with suppress(KbxError):  # it is then found out each time
                    _remember(known, f"{_MADE}{place}")
                return True
    return not _allowed_now.isdisjoint((known, line) for line in allowed)


def _lines_of(known: str) -> list[str]:
    text = os.fsdecode((user_state_folder() / IDS / known).read_bytes())
    return text.removesuffix("\n").split("\n") if text else []


def _is_copied(known: str, made: str, place: str) -> bool:
    """Return whether an index is still in the folder where it was made, which is another one."""
    made, place = made.replace("\0", "\n"), place.replace("\0", "\n")
    with suppress(OSError):
        folders = [] if Path(made).samefile(place) else [*Path(made).iterdir()]
        parts = (part for folder in folders for part in (folder, folder / PUBLIC_INDEX))
        return any(known in _ids_in(part) for part in parts)
    return False


def is_remembered(known: str) -> bool:
    return (user_state_folder() / IDS / known).is_file()


def _place_of(folder: Path) -> str:
    """Return the folder that an index lies in, as do those that are built to replace it.

    The public index in an index is at the place of that. A line break in it is a NUL.
    """
    index = folder.parent if folder.name == PUBLIC_INDEX else folder
    return os.path.realpath(index.parent).replace("\n", "\0")


def is_foreign(folder: Path) -> bool:
    """Return whether a folder holds an index that must not be opened."""
    parts = (*(f"{table}.lance" for table in INDEX_TABLES), *INDEX_FILES, INDEX_MARKER)
    return not is_own(folder) and any((folder / part).exists() for part in parts)


def allow(folder: Path, *, lasting: bool = True) -> None:
    """Let this user open the index that is in a folder; only this process, if not `lasting`.

    Raises KbxError if that cannot be stored: it then holds for this process.
    """
    if lasting:
        _remember(index_id(folder), _place_of(folder))
    else:
        _allowed_now.add((index_id(folder), _place_of(folder)))


def _remember(known: str, line: str) -> None:
    """Add a line to the file of an id. Raises as `allow`."""
    ids = user_state_folder() / IDS
    try:
        ids.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (ids / known).open("ab") as stream:
            stream.write(os.fsencode(f"{line}\n"))
    except OSError as error:
        _allowed_now.add((known, line))
        reason = error.strerror or error
        raise KbxError(f"{ids} cannot be written ({reason}); {NOT_REMEMBERED}") from error


def forget(known: str) -> None:
    """Take back `allow`; what was made here stays known. Raises KbxError."""
    file = user_state_folder() / IDS / known
    _own.clear()
    try:
        made = [line for line in _lines_of(known) if line.startswith(_MADE)]
        remove_index_id(file)
        for line in made:
            _remember(known, line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise KbxError(f"{file} cannot be removed: {error.strerror or error}") from error


def claim(folder: Path, known: str = "") -> None:
    """Create the folder of an index and mark it with an id, by default a new one.

    Raises IndexFault for foreign content, and OSError.
    """
    known = known or uuid4().hex
    if foreign := [] if has_marker(folder) else foreign_entries(folder):
        raise IndexFault(
            f"{folder} holds {foreign[0]}, which is not part of an index: move it elsewhere, "
            "or set [index] uri to a new folder"
        )
    if not _is_allowed(known, folder):
        with suppress(KbxError):  # `kbx index` says so
            _remember(known, f"{_MADE}{_place_of(folder)}")
    folder.mkdir(parents=True, exist_ok=True)
    if index_id(folder) != known:
        replace_file(folder / INDEX_MARKER, f"{_TEXT}{known}\n".encode("ascii"))


def mark_aside(folder: Path) -> None:
    """Note in an index that was put aside here, with another id of this user. Raises OSError.

    It keeps its own id, with which its digests begin.
    """
    put_aside_by = uuid4().hex
    with suppress(KbxError):  # it then stays for ever
        _remember(put_aside_by, f"{_MADE}{_place_of(folder)}")
    text = f"{_TEXT}{index_id(folder) or NO_ID}\n{_ASIDE}{put_aside_by}\n"
    replace_file(folder / INDEX_MARKER, text.encode("ascii"))
