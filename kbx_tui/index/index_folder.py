"""Where the index of a base is stored, and which folders it must not be in."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from kbx_tui.config import Settings
from kbx_tui.errors import ConfigError, IndexFault
from kbx_tui.knowledge.vault import walked_folder
from kbx_tui.object_store.store_uri import StoreUri, is_store_uri, parse_store_uri
from kbx_tui.removal import INDEX_MARKER, foreign_entries

DEFAULT = ".kbx/index"

ADVICE = "leave uri out for .kbx/index in the base, or name a new folder outside the notes"

VERSION_CONTROL = frozenset({".git", ".hg", ".jj", ".svn"})
"""Folders reserved for version control, even if they do not exist yet."""

_FILE_SCHEME = re.compile(r"file[^:/\\]*://", re.IGNORECASE)


def store_of(settings: Settings) -> StoreUri | None:
    uri = settings.index.uri
    if not is_store_uri(uri):
        return None
    try:
        return parse_store_uri(uri)
    except ConfigError as error:
        raise ConfigError(f"[index] uri in kbx.toml: {error}") from error


def index_location(root: Path, settings: Settings) -> str:
    """Return the URI or folder that the settings name.

    Raises ConfigError for a `file:` URI or another unsupported one.
    """
    uri = settings.index.uri
    if "://" in uri:
        return uri
    try:
        return str(root / Path(uri or DEFAULT).expanduser())
    except RuntimeError as error:  # the user in ~user is unknown
        raise ConfigError(
            f"[index] uri = {json.dumps(uri)} in kbx.toml cannot be used for the index ({error}): "
            f"{ADVICE}"
        ) from error


def index_uri(root: Path, settings: Settings) -> str:
    """Return the folder of a base's index; a relative one is below `root`.

    For an index published to an object store, it is the local copy, or the base's own index on the
    machine that publishes it. Writes nothing. Raises ConfigError if `[index] uri` names a folder
    that is, contains or lies inside the folder of the notes, or that holds anything but an index;
    IndexFault if such a fault affects the default folder.
    """
    uri = settings.index.uri
    if _FILE_SCHEME.match(uri):
        raise ConfigError(f"[index] uri = {json.dumps(uri)} in kbx.toml: write a folder, not a URL")
    if (store := store_of(settings)) is not None:
        from kbx_tui.object_store.mirror import mirrored_index, publishes_from_here

        if not publishes_from_here(root, store):
            return str(mirrored_index(store))
        uri = ""
    folder = Path(index_location(root, settings)) if uri else root / DEFAULT
    try:
        resolved = folder.resolve()
        fault = _misplacement(root.resolve(), resolved) or _other_content(resolved, named=bool(uri))
    except (OSError, RuntimeError, ValueError) as error:  # symbolic links form a loop
        reason = getattr(error, "strerror", None) or str(error)
        fault = f"cannot be used for the index ({reason})"
    if not fault:
        return str(resolved if folder.is_symlink() else folder)  # replace the folder, not the link
    if uri:
        raise ConfigError(f"[index] uri = {json.dumps(uri)} in kbx.toml {fault}: {ADVICE}")
    raise IndexFault(f"{root / DEFAULT} {fault}: change that, or set [index] uri to a new folder")


def _misplacement(root: Path, folder: Path) -> str:
    """Return what is wrong with a folder's location, as a predicate; empty if nothing is.

    Folders are compared by device and inode, regardless of spelling and links.
    """
    state, walked = (root / ".kbx").resolve(), walked_folder(root).resolve()
    if folder.is_relative_to(state):
        inside = folder.relative_to(state).parts
        if not inside or not inside[0].startswith("index"):
            return f"names a place in {state} that is not for an index"
    walked_identity = _identity(walked)
    owned = VERSION_CONTROL.intersection(folder.parts).difference(root.parts)
    if owned:
        return f"lies in {min(owned)}, which belongs to version control"
    if _identity(folder) == walked_identity:
        return f"is the folder of the notes, {walked}"
    if _identity(folder) in map(_identity, walked.parents):
        return f"contains the folder of the notes, {walked}"
    if walked_identity in map(_identity, folder.parents) and not _is_hidden(walked, folder, state):
        return f"lies inside the folder of the notes, {walked}"
    return ""


def _is_hidden(walked: Path, folder: Path, state: Path) -> bool:
    if not (folder.is_relative_to(state) and state.is_relative_to(walked)):
        return False
    return any(part.startswith(".") for part in state.relative_to(walked).parts)


def _other_content(folder: Path, *, named: bool) -> str:
    """Return, as a predicate, what a folder holds besides an index; empty if nothing.

    Other files in the default folder that is marked as kbx's are tolerated and never touched.
    """
    if not named and (folder / INDEX_MARKER).is_file():
        return ""
    try:
        foreign = foreign_entries(folder)
    except NotADirectoryError:
        is_blocked = named or folder.exists()  # otherwise `.kbx` is a file: reported on writing
        return "is a file, or lies inside one" if is_blocked else ""
    return f"holds {foreign[0]}, which is not part of an index" if foreign else ""


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - faster than Path
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino
