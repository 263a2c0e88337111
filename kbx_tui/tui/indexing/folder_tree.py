"""The folders of a base with what they hold, and the rows of those that are unfolded. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Mark = Literal["", "all", "some", "none"]
"""How much of a folder is in scope; empty where everything is."""


@dataclass(frozen=True, slots=True)
class FolderRow:
    """One folder."""

    path: str
    """Relative to the root, without a final slash; empty for the whole base."""
    depth: int
    documents: int
    """In the folder and all folders below it."""
    hits: int | None
    """Those of them that match the current query; None without a query."""
    mark: Mark
    has_folders: bool
    is_open: bool
    """Whether the folders in it are shown."""


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The folders of the indexed documents. Counts are by folder, those below it included."""

    documents: Mapping[str, int] = field(default_factory=dict)
    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The folders directly in each folder, sorted."""
    hits: Mapping[str, int] | None = None
    """Documents that match the query, whatever the scope; None without a query."""
    in_scope: Mapping[str, int] | None = None
    """Documents in scope; None where all are."""

    def own_documents(self, folder: str) -> int:
        """Return how many documents are in a folder, but not in a folder of it."""
        below = sum(self.documents[child] for child in self.children.get(folder, ()))
        return self.documents.get(folder, 0) - below

    def rows(self, opened: Collection[str]) -> tuple[FolderRow, ...]:
        """Return the row of the whole base and of each folder in an open one."""
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
    """Return the folders of these documents."""
    documents = count_by_folder(paths)
    children: dict[str, list[str]] = {}
    for folder in sorted(documents):
        if folder:
            children.setdefault(parent_of(folder), []).append(folder)
    return FolderTree(documents, {folder: tuple(below) for folder, below in children.items()})


def count_by_folder(paths: Iterable[str]) -> Mapping[str, int]:
    """Return the number of documents in each folder and below it; all of them are below "".

    Folders without any are left out, except for "".
    """
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
    """Yield the folders that lead to a file or folder, the root first."""
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(len(parts)))
