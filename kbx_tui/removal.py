"""Every removal of a file, folder or table by this program; no other module deletes anything.

Each function removes one kind of thing that the program made itself, recognised by its name and
place, and refuses everything else: a setting, a base from elsewhere or a bug may name any path.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from kbx_tui.errors import IndexFault, KbxError

INDEX_MARKER = ".kbx-index"
"""A file in every index folder, with the id of the index. Nothing is removed from another."""

INDEX_TABLES = (
    "documents", "chunks", "entities", "facts", "links", "name_uses", "vectors", "meta"
)  # fmt: skip
"""Tables of an index; each is a folder `<name>.lance`."""

DERIVED_FILES = (
    "words.bin", "words-new.bin", "bodies.bin", "bodies-new.bin", "documents.bin",
    "documents-new.bin", "entities.bin", "names.bin", "facts.bin", "links.bin", "vectors.bin",
    "vectors-new.bin", "vectors-ivf.bin",
)  # fmt: skip
INDEX_FILES = ("BUILD", "DIGESTS", "VERIFIED", "PAGES", *DERIVED_FILES)
"""Files of an index besides its tables and the marker."""

PUBLIC_INDEX = "public"
"""Folder in the index of a base with redacted parts: the index of the base without them."""
_PUBLIC_INDEX = re.compile(rf"{PUBLIC_INDEX}(\.(new|old|aside)-[0-9a-f]{{8}})?")

DEMO_MARKER = ".kbx-demo"
"""A file in every copy of the demo."""
DEMO_WORKPLACE = ".kbx-demo-"
"""Prefix of the folder in which a copy of the demo is replaced."""

RAY_FOLDER = "kbx-ray-"
"""Prefix of a folder with the sockets and logs of Ray, started for one run."""

STATE_FOLDER = ".kbx"
STATE_FILES = (Path("writer.json"), Path("journal", "begun.json"))
"""Files in `.kbx` that record an operation in progress, and are removed when it ends."""

_MIRROR_FOLDER = re.compile(r"\d+-[0-9a-f]{8}")
_MIRROR_FILE = re.compile(r"[0-9a-f]{64}(\.[0-9a-f]{32})?|\d+-[0-9a-f]{8}\.json")
"""Names of files in the mirror of a published index, in the user's cache."""

_ID = re.compile(r"[0-9a-f]{32}")
_INDEX_TEMPORARY = re.compile(
    rf"({'|'.join(map(re.escape, (INDEX_MARKER, *INDEX_FILES)))})\.{_ID.pattern}"
)
_TEMPORARY = re.compile(rf"\..+\.(tmp|kbx-edit|json\.\w{{8}})|{_INDEX_TEMPORARY.pattern}")
_SET_ASIDE = re.compile(r".+\.\d{8}-\d{6}(-\d+)?\.unreadable")
"""Names of unreadable state files that were renamed; they are never removed."""
_SYSTEM_ENTRIES = {".DS_Store", "Thumbs.db", "desktop.ini", ".directory", "lost+found"}
"""Files that systems and file managers put into any folder. They are left there and ignored."""


def foreign_entries(folder: Path) -> list[str]:
    """Return the sorted names in a folder that do not belong to an index; links never do.

    Outside `.kbx`, nothing in a folder without the marker does: other programs have tables of
    these names, and a file `BUILD`. Empty for a missing folder. Raises OSError, NotADirectoryError
    for a file.
    """
    try:
        with os.scandir(folder) as scanned:
            entries = [entry for entry in scanned if not _says_nothing(entry.name)]
    except FileNotFoundError:
        return []
    ours = [entry for entry in entries if _belongs_to_index(entry)]
    is_marked = any(entry.name == INDEX_MARKER for entry in ours)
    if folder.parent.name != STATE_FOLDER and not is_marked:
        ours = [entry for entry in ours if entry.name.startswith(INDEX_MARKER)]  # not yet renamed
    return sorted({entry.name for entry in entries} - {entry.name for entry in ours})


def has_marker(folder: Path) -> bool:
    """Return whether a folder, no link to one, has the marker of an index."""
    with suppress(OSError):
        modes = folder.lstat().st_mode, (folder / INDEX_MARKER).lstat().st_mode
        return stat.S_ISDIR(modes[0]) and stat.S_ISREG(modes[1])
    return False


def remove_index(folder: Path) -> None:
    """Remove the parts of an index, and the folder if nothing else is in it.

    Parts that cannot be removed are left. Raises IndexFault for a folder without a marker. The
    caller knows that the marker is that of its own index.
    """
    if not os.path.lexists(folder):
        return
    _require_index_folder(folder)
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.name != INDEX_MARKER and _belongs_to_index(entry):
                part = Path(entry.path)
                with suppress(OSError):
                    if part.suffix == ".lance":
                        shutil.rmtree(part)
                    elif not _PUBLIC_INDEX.fullmatch(part.name):
                        part.unlink()
    with suppress(OSError):
        if {entry.name for entry in folder.iterdir()} == {INDEX_MARKER}:
            (folder / INDEX_MARKER).unlink()
        folder.rmdir()  # fails if anything is left; the folder then stays marked


def remove_index_file(folder: Path, name: str) -> None:
    """Remove one file of an index. Raises IndexFault for any other, and OSError."""
    _require_index_folder(folder)
    if name not in INDEX_FILES:
        raise IndexFault(f"{folder / name} is not a file of an index; it is left alone")
    (folder / name).unlink(missing_ok=True)


def remove_index_temporaries(folder: Path) -> None:
    """Remove files left in an index folder by interrupted writes, as far as possible."""
    if has_marker(folder):
        for file in list(folder.iterdir()):
            if _INDEX_TEMPORARY.fullmatch(file.name):
                with suppress(OSError):
                    file.unlink()


def remove_index_id(file: Path) -> None:
    """Remove an id from the user's state folder, if it is there. Raises KbxError for another."""
    if file.parent.name != "indexes" or not _ID.fullmatch(file.name):
        raise _refusal(file)
    file.unlink(missing_ok=True)


def remove_temporary(file: Path) -> None:
    """Remove a temporary file of ours, if it exists. Raises KbxError for another name, OSError."""
    if not _TEMPORARY.fullmatch(file.name):
        raise _refusal(file)
    file.unlink(missing_ok=True)


def remove_state_file(file: Path) -> None:
    """Remove one of `STATE_FILES`, if it exists. Raises KbxError for any other, and OSError."""
    known = [(STATE_FOLDER, *name.parts) for name in STATE_FILES]
    if not any(file.parts[-len(parts) :] == parts for parts in known):
        raise _refusal(file)
    file.unlink(missing_ok=True)


def remove_link_socket(name: str, folder: int) -> None:
    """Remove the socket of a server from an open folder. Raises KbxError for any other file."""
    if not stat.S_ISSOCK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise _refusal(Path(name))
    os.unlink(name, dir_fd=folder)


def remove_page(page: Path, content: bytes) -> None:
    """Remove a markdown page or kbx.toml with exactly this content. Raises KbxError otherwise."""
    is_ours = page.suffix.lower() == ".md" or page.name == "kbx.toml"
    if not is_ours or page.read_bytes() != content:
        raise _refusal(page)
    page.unlink()


def remove_demo_workplace(folder: Path) -> None:
    """Remove the folder in which a copy of the demo was replaced. Raises KbxError otherwise."""
    copies = list(folder.iterdir())
    if not folder.name.startswith(DEMO_WORKPLACE) or not all(map(_is_demo, copies)):
        raise _refusal(folder)
    shutil.rmtree(folder, ignore_errors=True)


def remove_ray_folder(folder: Path) -> None:
    """Remove the files of a Ray run, as far as possible. Raises KbxError for another folder."""
    if not folder.name.startswith(RAY_FOLDER) or folder.is_symlink():
        raise _refusal(folder)
    shutil.rmtree(folder, ignore_errors=True)


def remove_mirror_folder(folder: Path) -> None:
    """Remove a version of a mirrored index, as far as possible. Raises KbxError for another."""
    in_mirror = folder.parent.name == "versions" and folder.parents[2].name == "stores"
    if not in_mirror or folder.is_symlink() or not _MIRROR_FOLDER.fullmatch(folder.name):
        raise _refusal(folder)
    shutil.rmtree(folder, ignore_errors=True)


def remove_mirror_file(file: Path) -> None:
    """Remove a file of a mirrored index, if it exists. Raises KbxError for another, OSError."""
    in_mirror = file.parent.name in ("files", "versions") and file.parents[2].name == "stores"
    if not in_mirror or not _MIRROR_FILE.fullmatch(file.name):
        raise _refusal(file)
    file.unlink(missing_ok=True)


def _says_nothing(name: str) -> bool:
    return name in _SYSTEM_ENTRIES or _SET_ASIDE.fullmatch(name) is not None


def _belongs_to_index(entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        return False
    is_table = entry.name in {f"{table}.lance" for table in INDEX_TABLES}
    if is_table or _PUBLIC_INDEX.fullmatch(entry.name):
        return entry.is_dir()
    is_file = entry.name in (INDEX_MARKER, *INDEX_FILES)
    return is_file or _INDEX_TEMPORARY.fullmatch(entry.name) is not None


def _require_index_folder(folder: Path) -> None:
    if not has_marker(folder):
        raise IndexFault(f"{folder} is not marked as the folder of an index; it is left alone")


def _is_demo(folder: Path) -> bool:
    if folder.is_symlink() or not folder.is_dir():
        return False
    return (folder / DEMO_MARKER).is_file() or not any(folder.iterdir())


def _refusal(path: Path) -> KbxError:
    return KbxError(f"{path} is not known to be made by this program; it was not removed")
