"""The folders of a base with what they hold, and path filters that name folders. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kbx_tui.errors import ConfigError
from kbx_tui.index.path_filter import alternatives, is_glob

Mark = Literal["", "all", "some", "none"]
"""How much of a folder is in scope; empty where everything is."""


@dataclass(frozen=True, slots=True)
class FolderRow:
    path: str
    """Relative to the root, without a final slash; empty for the whole base."""
    depth: int
    documents: int
    """Number of documents in the folder and all folders below it."""
    hits: int | None
    """Those of them that match the current query; None without a query."""
    mark: Mark
    has_folders: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The folders of the indexed documents. Counts are by folder, those below it included."""

    documents: Mapping[str, int] = field(default_factory=dict)
    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hits: Mapping[str, int] | None = None
    """Documents that match the query, whatever the scope; None without a query."""
    in_scope: Mapping[str, int] | None = None
    """Documents in scope; None where all are."""

    def own_documents(self, folder: str) -> int:
        below = sum(self.documents[child] for child in self.children.get(folder, ()))
        return self.documents.get(folder, 0) - below

    def rows(self, opened: Collection[str]) -> tuple[FolderRow, ...]:
        return tuple(self._rows("", 0, opened)) if self.documents.get("") else ()

    def _rows(self, folder: str, depth: int, opened: Collection[str]) -> Iterator[FolderRow]:
        children, is_open = self.children.get(folder, ()), folder in opened
        hits = None if self.hits is None else self.hits.get(folder, 0)
        yield FolderRow(
            folder,
            depth,
            self.documents[folder],
            hits,
            self._mark(folder),
            bool(children),
            is_open,
        )
        if is_open:
            for child in children:
                yield from self._rows(child, depth + 1, opened)

    def _mark(self, folder: str) -> Mark:
        if self.in_scope is None:
            return ""
        count = self.in_scope.get(folder, 0)
        if count == self.documents[folder]:
            return "all"
        return "some" if count else "none"


def tree_of(paths: Iterable[str]) -> FolderTree:
    documents = count_by_folder(paths)
    children: dict[str, list[str]] = {}
    for folder in sorted(documents):
        if folder:
            children.setdefault(parent_of(folder), []).append(folder)
    return FolderTree(documents, {folder: tuple(below) for folder, below in children.items()})


def count_by_folder(paths: Iterable[str]) -> Mapping[str, int]:
    """Return the number of documents in each folder, those below it included; "" is the root."""
    direct = Counter(map(parent_of, paths))
    counts: Counter[str] = Counter({"": 0})
    for folder, count in direct.items():
        counts[folder] += count
        while folder:
            folder = parent_of(folder)
            counts[folder] += count
    return counts


def parent_of(path: str) -> str:
    """Return the folder that a file or folder is in, empty for the root."""
    return path.rpartition("/")[0]


def folders_to(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(len(parts)))


OWN_FILES = "/*"
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
    """Return the folders that a path filter consists of: no folder for everywhere.

    The files directly in a folder are `folder/*`. For a filter of another kind, return None.
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
    if not folders:
        return ""
    if len(folders) == 1:
        (folder,) = folders
        return _pattern(folder) if folder.endswith(OWN_FILES) else f"{folder}/"
    return f"{{{','.join(map(_pattern, sorted(folders)))}}}"


def _others(outer: str, folder: str, tree: FolderTree) -> Iterator[str]:
    while folder != outer:
        parent = parent_of(folder)
        yield from (each for each in tree.children.get(parent, ()) if each != folder)
        if tree.own_documents(parent):
            yield f"{parent}{OWN_FILES}" if parent else "*"
        folder = parent


def _pattern(folder: str) -> str:
    own = folder.endswith(OWN_FILES)
    name = _SPECIAL.sub(lambda sign: f"[{sign[0]}]", folder.removesuffix(OWN_FILES))
    return name + (OWN_FILES if own else "/")
