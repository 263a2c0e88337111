"""The destinations of links between documents, and the graph of these links.

Links resolve as during indexing (`knowledge/linking`). In an Obsidian vault, a link is tried as a
file first (`FileLookup`). Elsewhere, a path is tried from the folder of the document, then from the
root; a name as an entity, then as a file, then as a title or alias.

After an edit that changes no name, only the links of changed documents are resolved: the
destinations of the others stay the same.
"""

from __future__ import annotations

import posixpath
import re
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote

import numpy as np

from kbx_tui.index.arrays import Versions
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store, is_one_of
from kbx_tui.knowledge.dates import whole_day
from kbx_tui.knowledge.entity_names import EntityResolver
from kbx_tui.knowledge.fields import FOLDER_PAGES, stem_of
from kbx_tui.knowledge.folding import fold, name_key, normalized
from kbx_tui.knowledge.markdown import headings, strip_markup
from kbx_tui.knowledge.obsidian_vault import FileLookup
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.written_links import EXTERNAL, split_target

FEW_CHANGED = 500
"""Number of changed documents up to which a graph is updated, above which all of it is reread."""

LinkRow = tuple[str, Sequence[str], Sequence[str]]
"""The path of a document, the targets of the links in its text, and of those in its properties."""


@dataclass(frozen=True, slots=True)
class Target:
    written: str
    destination: Destination | None
    in_property: bool = False


@dataclass(frozen=True, slots=True)
class LinkGraph:
    destinations: Destinations
    versions: Versions
    targets: Mapping[str, tuple[Target, ...]]
    """The distinct targets of the links in each document, by path."""
    sources: Mapping[str, tuple[str, ...]]
    """The other documents that link to each document, sorted, by its path."""

    def broken(self) -> Iterator[tuple[str, Target]]:
        for path in sorted(self.targets):
            for target in self.targets[path]:
                if target.destination is None:
                    yield path, target


def read_link_graph(
    snapshot: Snapshot,
    destinations: Destinations,
    store: Store,
    before: LinkGraph | None = None,
) -> LinkGraph:
    """Read and resolve the links of all documents. Raises IndexFault.

    If `before` was resolved with the same `destinations`, only later changes are read.
    """
    columns = ["path", "links", "property_links"]
    where: str | None = None
    changed: list[str] | None = None
    if before is not None and before.destinations is destinations:
        changed = _changed(before, snapshot)
        if not changed:
            return before
        if len(changed) <= FEW_CHANGED:
            where = is_one_of("path", changed)
        else:
            changed = None
    table = store.rows("documents", columns, where)
    rows = zip(*(table[column].to_pylist() for column in columns), strict=True)
    if before is not None and changed is not None:
        return updated(before, snapshot, rows)
    return make_link_graph(snapshot, destinations, rows)


def make_link_graph(
    snapshot: Snapshot, destinations: Destinations, rows: Iterable[LinkRow]
) -> LinkGraph:
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
    """Return `before` updated with changed rows, for a snapshot with the same names. Pure."""
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
    rows = np.flatnonzero(before.versions != snapshot.versions).tolist()
    return [snapshot.paths[row] for row in rows]


def _linked_from(path: str, targets: Iterable[Target]) -> Iterable[str]:
    found = (target.destination.path for target in targets if target.destination is not None)
    return dict.fromkeys(linked for linked in found if linked not in ("", path))


class _Resolver:
    """Resolves targets, the same page from the same folder only once."""

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


READ = ("paths", "ids", "titles", "kinds", "dates", "aliases", "entities", "is_vault")


@dataclass(frozen=True, slots=True)
class Destination:
    """The destination of a link: an entity, or a document that is not the page of one."""

    path: str
    """Path of the document or the entity's page; empty for an entity without a page."""
    entity_id: str = ""
    """Id of the entity; empty for a document that is not the page of one."""
    heading: str = ""
    """Heading of a section, or `^` and a block id, as written in the link; may be empty."""
    line: int = 0
    """1-based line of that heading or block in the file, 0 if not given or not found."""


class Destinations:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._entities = EntityResolver.looking_up(snapshot.names.with_key)
        self._entity_of = {entity.path: entity.id for entity in snapshot.entities if entity.path}
        self._pages = [
            Entity(document_id, title, kind, path)
            for path, document_id, title, kind in zip(
                snapshot.paths, snapshot.ids, snapshot.titles, snapshot.kinds, strict=True
            )
            if path not in self._entity_of
        ]
        self._documents = EntityResolver(self._pages)
        self._files = FileLookup(snapshot.paths)
        self._aliases: dict[str, list[str]] = {}
        for path, aliases in zip(snapshot.paths, snapshot.aliases, strict=False):
            for alias in aliases:
                self._aliases.setdefault(name_key(alias), []).append(path)

    def hold_for(self, snapshot: Snapshot) -> bool:
        """Return whether another snapshot has the same names, so that all targets stay the same."""
        return all(getattr(self._snapshot, name) == getattr(snapshot, name) for name in READ)

    def find(self, target: str, source: str) -> Destination | None:
        """Return the destination of `target`, from a wikilink or the URL of a markdown link.

        `source` is the path of the document with the link. External URLs and missing targets have
        no destination. The line is always 0.
        """
        target, heading = split_target(target)
        if EXTERNAL.match(target):
            return None
        if not target:
            return self._page(source, heading) if heading else None
        spellings = tuple(dict.fromkeys((target, normalized("NFC", unquote(target)))))
        is_path = "/" in target or target.lower().endswith(".md")
        is_vault = self._snapshot.is_vault
        exact = spellings if is_vault else _whole_paths(spellings, source) if is_path else ()
        if path := self._file(exact, source) or (is_path and self._page_of_folder(target, source)):
            return self._page(path, heading)
        if is_path and is_vault:
            return None  # with a folder, it is not looked up as a name
        if (found := self._entity(spellings, source, heading)) is not None:
            return found
        if path := self._file(spellings, source):
            return self._page(path, heading)
        return self._titled(spellings, source, heading)

    def _file(self, spellings: Iterable[str], source: str) -> str | None:
        found = (self._files.find(spelling, source) for spelling in spellings)
        return next(filter(None, found), None)

    def _page_of_folder(self, target: str, source: str) -> str | None:
        """Return the path of the page of the folder that a path leads to, if it has one."""
        folders = _whole_paths((target, unquote(target)), source)
        pages = (f"{folder.rstrip('/.')}/{stem}.md" for folder in folders for stem in FOLDER_PAGES)
        return self._file(pages, source)

    def _entity(self, spellings: Iterable[str], source: str, heading: str) -> Destination | None:
        for spelling in spellings:
            if entities := self._entities.by_reference(spelling):
                candidates = [self._snapshot.entities[number] for number in entities]
                nearest = self._nearest(candidates, source)
                return Destination(nearest.path, nearest.id, heading)
        return None

    def _titled(self, spellings: Iterable[str], source: str, heading: str) -> Destination | None:
        for spelling in spellings:
            if documents := self._documents.by_reference(spelling):
                nearest = self._nearest([self._pages[number] for number in documents], source)
                return Destination(nearest.path, "", heading)
            if paths := self._aliases.get(name_key(spelling)):
                return self._page(paths[0], heading)
            if path := self._days.get(whole_day(spelling)):
                return self._page(path, heading)
        return None

    @cached_property
    def _days(self) -> Mapping[str, str]:
        """The notes called by a day, which links of Logseq write as `Jan 14th, 2024`, by day."""
        days = {whole_day(stem_of(path)): path for path in reversed(self._snapshot.paths)}
        return {day: path for day, path in days.items() if day}

    def _page(self, path: str, heading: str) -> Destination:
        return Destination(path, self._entity_of.get(path, ""), heading)

    def _nearest(self, candidates: Sequence[Entity], source: str) -> Entity:
        """Return the best candidate: one with a page, in the nearest folder, then the newest."""

        def rank(page: Entity) -> tuple[bool, int, str]:
            row = self._snapshot.row_of.get(page.path)
            shared = posixpath.commonpath([posixpath.dirname(page.path), posixpath.dirname(source)])
            depth = shared.count("/") + bool(shared)
            return row is not None, depth, self._snapshot.dates[row] if row is not None else ""

        return max(candidates, key=rank)


_SITE_FILES = ("static", "public")
"""Folders that a web site is served with from its root: of Hugo and Docusaurus, of VitePress."""


def places_of(page: str, source: str) -> Iterator[str]:
    """Yield the paths from the root that a path in a document may mean, the likeliest first.

    A path is one from the folder of the document, else from the root; one that leads up may start
    at the document, which a site shows as a folder. One with a leading slash is from the root or,
    as in the sources of web sites, from a folder above the document or the one for other files in
    it.
    """
    folder = posixpath.dirname(source)
    starts: Iterable[str] = (folder, source.rpartition(".")[0] if page.startswith("../") else "")
    if page.startswith("/"):
        names = folder.split("/") if folder else []
        above = ["/".join(names[:count]) for count in range(len(names) + 1)]
        starts = [posixpath.join(each, kept) for kept in ("", *_SITE_FILES) for each in above]
    for start in starts:
        yield posixpath.normpath(posixpath.join(start, page.lstrip("/")))


def _whole_paths(spellings: Iterable[str], source: str) -> list[str]:
    return [f"/{place}" for each in spellings for place in places_of(each, source)]


_ID = re.compile(r"(?:\b(?:id|name)=[\"']?|\{[^{}#\n]{0,100}#)([\w.:-]{1,200})", re.IGNORECASE)
_HEADING = re.compile(
    r"^[ \t>]*#{1,6}[ \t]+([^\n]*)|<h[1-6][^<>]*>(.{0,1000}?)</h[1-6]>", re.M | re.S
)
_BLOCK = re.compile(r"(?:^|\s)\^([\w-]{1,200})[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(r"<[^<>\n]*>|\{:?[ \t]*[#.][^{}\n]*\}")
_NUMBER_AFTER = re.compile(r"[-,]\d+\Z")
_LINES = re.compile(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?")


def parts_of(body: str) -> frozenset[str]:
    """Return the keys (`part_key`) of what a link can lead to in a body: headings, ids, blocks."""
    written = (match[1] or match[2] or "" for match in _HEADING.finditer(body))
    texts = [heading.text for heading in headings(body)] + [strip_markup(text) for text in written]
    ids = (match[1] for match in _ID.finditer(body))
    blocks = (f"^{match[1]}" for match in _BLOCK.finditer(body))
    return frozenset(map(part_key, (*(_MARKUP.sub("", text) for text in texts), *ids, *blocks)))


def part_key(part: str) -> str:
    """Return a key that a heading, its anchor and its text in a wikilink have in common."""
    key = "".join(filter(str.isalnum, fold(part)))
    return f"^{key}" if part.startswith("^") else key


def leads_nowhere(part: str, parts: frozenset[str]) -> bool:
    """Return whether the part of a link is a heading or block that is not among `parts`.

    The number at the end of an anchor is left out: it tells headings with the same text apart, or
    says how many lines to skip (Dendron). Parts that are neither heading nor block are not checked:
    ranges of notes (Dendron), places in files (`page=2`, `L3-L9`), texts to be found (`:~:text=`)
    and `#top`.
    """
    last = unquote(part.rpartition("#")[2])
    key = part_key(last)
    if ":" in part or "=" in part or part == "top" or _LINES.fullmatch(part) or not key.strip("^"):
        return False
    return key not in parts and part_key(_NUMBER_AFTER.sub("", last)) not in parts


def part_line(body: str, body_line: int, part: str) -> int:
    """Return the 1-based line of a heading or block, 0 if it is not found.

    `part` is the text of a heading, as in wikilinks, its anchor, as in markdown links, or `^` and a
    block id. Of nested headings, `One#Two`, only the last counts. `body_line` is the line of the
    file where `body` starts.
    """
    is_block = part.startswith("^")
    key = part.lower() if is_block else part_key(unquote(part.rpartition("#")[2]))
    line = _part_lines(body).get(key) if key else None
    return 0 if line is None else body_line + line


@lru_cache(maxsize=4)  # a page and its new version are asked for each link in turn
def _part_lines(body: str) -> dict[str, int]:
    """Return the first line of each heading, id and block by key; a heading before an id."""
    lines = dict[str, int]()
    for heading in headings(body):
        lines.setdefault(part_key(heading.text), heading.line)
    for pattern, key_of in ((_ID, part_key), (_BLOCK, lambda name: f"^{name.lower()}")):
        line = counted = 0
        for match in pattern.finditer(body):
            line += body.count("\n", counted, match.start(1))
            counted = match.start(1)
            lines.setdefault(key_of(match[1]), line)
    return lines
