"""Which document links to which, for one generation of the index.

Targets are resolved as when a link is followed (`browsing/destination`). After an edit that changes
no name, only the links of changed documents are resolved: what the others mean stays the same.
"""

from __future__ import annotations

import posixpath
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.table_reader import TableReader
from kbx_tui.index.where_clause import is_one_of
from kbx_tui.search.browsing.destination import Destination, Destinations

EVERY_ROW = "key IS NOT NULL"
FEW_CHANGED = 500
"""Changed documents up to which a graph is updated; the links of more are read with all others."""

LinkRow = tuple[str, Sequence[str], Sequence[str]]
"""Path of a document, the targets of links in its text, and of those in its properties."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target of a link in a document, and where it leads."""

    written: str
    destination: Destination | None
    in_property: bool = False


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The links of all documents."""

    destinations: Destinations
    """What resolved them."""
    versions: Sequence[str]
    """Of the documents, as in `Snapshot`."""
    targets: Mapping[str, tuple[Target, ...]]
    """The distinct targets in each document with links, by path."""
    sources: Mapping[str, tuple[str, ...]]
    """The other documents that link to each document, by its path; sorted."""

    def broken(self) -> Iterator[tuple[str, Target]]:
        """Yield each document and target that leads to no document, by path."""
        for path in sorted(self.targets):
            for target in self.targets[path]:
                if target.destination is None:
                    yield path, target


def read_link_graph(
    snapshot: Snapshot,
    destinations: Destinations,
    reader: TableReader,
    before: LinkGraph | None = None,
) -> LinkGraph:
    """Read and resolve the links of all documents. Raises IndexFault.

    If `before` was resolved by the same `destinations`, only what changed since is read.
    """
    columns, where = ["path", "links", "property_links"], EVERY_ROW
    changed: list[str] | None = None
    if before is not None and before.destinations is destinations:
        changed = _changed(before, snapshot)
        if not changed:
            return before
        if len(changed) <= FEW_CHANGED:
            where = is_one_of("path", changed)
        else:
            changed = None
    table = reader.rows("documents", columns, where)
    rows = zip(*(table[column].to_pylist() for column in columns), strict=True)
    if before is not None and changed is not None:
        return updated(before, snapshot, rows)
    return make_link_graph(snapshot, destinations, rows)


def make_link_graph(
    snapshot: Snapshot, destinations: Destinations, rows: Iterable[LinkRow]
) -> LinkGraph:
    """Return the graph of all documents of a snapshot, from their rows. Pure."""
    resolver = _Resolver(destinations)
    targets = {
        path: resolver.targets(path, links, in_properties)
        for path, links, in_properties in rows
        if path in snapshot.row_of and (links or in_properties)
    }
    sources: dict[str, list[str]] = {}
    for path in sorted(targets):
        for linked in _linked_from(path, targets[path]):
            sources.setdefault(linked, []).append(path)
    return LinkGraph(
        destinations,
        snapshot.versions,
        targets,
        {path: tuple(linking) for path, linking in sources.items()},
    )


def updated(before: LinkGraph, snapshot: Snapshot, rows: Iterable[LinkRow]) -> LinkGraph:
    """Return the graph of a snapshot with the names of `before`, from the rows that changed. Pure.

    Equals that made from all rows.
    """
    resolver = _Resolver(before.destinations)
    targets, sources = dict(before.targets), dict(before.sources)
    for path, links, in_properties in rows:
        if path not in snapshot.row_of:
            continue
        for linked in _linked_from(path, targets.pop(path, ())):
            others = tuple(source for source in sources.pop(linked) if source != path)
            if others:
                sources[linked] = others
        if links or in_properties:
            targets[path] = resolver.targets(path, links, in_properties)
        for linked in _linked_from(path, targets.get(path, ())):
            linking = list(sources.get(linked, ()))
            insort(linking, path)
            sources[linked] = tuple(linking)
    return LinkGraph(before.destinations, snapshot.versions, targets, sources)


def _changed(before: LinkGraph, snapshot: Snapshot) -> list[str]:
    """Return the paths of documents with other content; both have the same documents."""
    versions = zip(snapshot.paths, before.versions, snapshot.versions, strict=True)
    return [path for path, old, new in versions if old != new]


def _linked_from(path: str, targets: Iterable[Target]) -> Iterable[str]:
    """Return the other documents that the targets of a document lead to, each once."""
    found = (target.destination.path for target in targets if target.destination is not None)
    return dict.fromkeys(linked for linked in found if linked not in ("", path))


class _Resolver:
    """Resolves targets; the same page from the same folder only once."""

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._known: dict[tuple[str, str], Destination | None] = {}

    def targets(
        self, path: str, links: Sequence[str], in_properties: Iterable[str]
    ) -> tuple[Target, ...]:
        folder, in_body = posixpath.dirname(path), dict.fromkeys(links)
        alone = (target for target in dict.fromkeys(in_properties) if target not in in_body)
        return (
            *(Target(written, self._resolve(written, path, folder)) for written in in_body),
            *(Target(written, self._resolve(written, path, folder), True) for written in alone),
        )

    def _resolve(self, written: str, path: str, folder: str) -> Destination | None:
        page = written.partition("#")[0]
        if not page:
            return self._destinations.find(written, path)
        key = page, folder
        if key not in self._known:
            self._known[key] = self._destinations.find(page, path)
        return self._known[key]
