"""Which document links to which, for one generation of the index. Pure apart from reading it.

Targets are resolved as when a link is followed (`browsing/destination`).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.table_reader import TableReader
from kbx_tui.search.browsing.destination import Destination, Destinations

EVERY_ROW = "key IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Target:
    """A target of a link in a document, and where it leads."""

    written: str
    destination: Destination | None
    in_property: bool = False


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The links of all documents."""

    targets: Mapping[str, tuple[Target, ...]]
    """The distinct targets in each document with links, by path."""
    sources: Mapping[str, tuple[str, ...]]
    """The other documents that link to each document, by its path."""

    def broken(self) -> Iterator[tuple[str, Target]]:
        """Yield each document and target that leads to no document, by path."""
        for path in sorted(self.targets):
            for target in self.targets[path]:
                if target.destination is None:
                    yield path, target


def read_link_graph(
    snapshot: Snapshot, destinations: Destinations, reader: TableReader
) -> LinkGraph:
    """Read the links of all documents and resolve them. Raises IndexFault."""
    columns = ["path", "links", "property_links"]
    table = reader.rows("documents", columns, EVERY_ROW)
    resolver = _Resolver(destinations)
    targets: dict[str, tuple[Target, ...]] = {}
    for path, links, in_properties in zip(
        *(table[column].to_pylist() for column in columns), strict=True
    ):
        if path in snapshot.row_of and (links or in_properties):
            targets[path] = resolver.targets(path, links, in_properties)
    sources: dict[str, dict[str, None]] = {}
    for path in sorted(targets):
        for target in targets[path]:
            if target.destination is not None and target.destination.path not in ("", path):
                sources.setdefault(target.destination.path, {})[path] = None
    return LinkGraph(targets, {path: tuple(linking) for path, linking in sources.items()})


class _Resolver:
    """Resolves targets; the same page from the same folder only once."""

    def __init__(self, destinations: Destinations) -> None:
        self._destinations = destinations
        self._known: dict[tuple[str, str], Destination | None] = {}

    def targets(
        self, path: str, links: Sequence[str], in_properties: Iterable[str]
    ) -> tuple[Target, ...]:
        in_body = dict.fromkeys(links)
        alone = (target for target in dict.fromkeys(in_properties) if target not in in_body)
        return (
            *(Target(written, self._resolve(written, path)) for written in in_body),
            *(Target(written, self._resolve(written, path), True) for written in alone),
        )

    def _resolve(self, written: str, path: str) -> Destination | None:
        page = written.partition("#")[0]
        if not page:
            return self._destinations.find(written, path)
        key = page, posixpath.dirname(path)
        if key not in self._known:
            self._known[key] = self._destinations.find(page, path)
        return self._known[key]
