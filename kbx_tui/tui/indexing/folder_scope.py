"""Folders in a path filter: which ones it names, and the filter with one more or less. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.globs import alternatives, is_glob
from kbx_tui.tui.indexing.folder_tree import FolderTree, folders_to, parent_of

OWN_FILES = "/*"
"""Ends the pattern of the files directly in a folder."""
_SPECIAL = re.compile(r"[\[*?{},]")
_BRACKETED = re.compile(r"\[([\[*?{},])\]")


def toggled(path: str, folder: str, tree: FolderTree) -> str:
    """Return the path filter with `folder` added or, if it is in scope, taken out.

    From everywhere, and from a filter of another kind, it is the only folder. Taking out the last
    folder gives everywhere, as does the whole base, which is the folder "".
    """
    folders = folders_in(path)
    if not folder:
        return ""
    if not folders:
        return path_of({folder})
    if folder in folders:
        return path_of(folders - {folder})
    outer = next((each for each in folders_to(folder) if each in folders), None)
    if outer is None:
        inner = {each for each in folders if each.startswith(f"{folder}/")}
        return path_of((folders - inner) | {folder})
    return path_of((folders - {outer}) | set(_others(outer, folder, tree)))


def folders_in(path: str) -> frozenset[str] | None:
    """Return the folders that a path filter consists of, none for everywhere.

    The files directly in a folder are `folder/*`. None for a filter of another kind.
    """
    if not path.strip():
        return frozenset()
    try:
        named = [each.strip().removesuffix("/") for each in alternatives(path.strip())]
    except ConfigError:
        return None
    if len(named) == 1 and not is_glob(named[0]):
        return frozenset(named)
    folders = {_BRACKETED.sub(r"\1", each) for each in named}
    plain = (_BRACKETED.sub("_", each.removesuffix(OWN_FILES)) for each in named)
    return None if any(map(is_glob, plain)) else frozenset(folders)


def path_of(folders: Collection[str]) -> str:
    """Return the path filter of some folders, as `folders_in` gives them."""
    if not folders:
        return ""
    if len(folders) == 1:
        (folder,) = folders
        return _pattern(folder) if folder.endswith(OWN_FILES) else f"{folder}/"
    return f"{{{','.join(map(_pattern, sorted(folders)))}}}"


def _others(outer: str, folder: str, tree: FolderTree) -> Iterator[str]:
    """Yield everything in `outer` but `folder`: folders, and files in those on the way."""
    while folder != outer:
        parent = parent_of(folder)
        yield from (each for each in tree.children.get(parent, ()) if each != folder)
        if tree.own_documents(parent):
            yield f"{parent}{OWN_FILES}" if parent else "*"
        folder = parent


def _pattern(folder: str) -> str:
    """Return a folder as one alternative, with signs that mean something in brackets."""
    own = folder.endswith(OWN_FILES)
    name = _SPECIAL.sub(lambda sign: f"[{sign[0]}]", folder.removesuffix(OWN_FILES))
    return name + (OWN_FILES if own else "/")
