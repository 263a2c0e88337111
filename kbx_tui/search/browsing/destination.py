"""Resolves the targets of links in documents. Pure.

Links resolve as during indexing (`entities/linking`). In an Obsidian vault a link means a file
first (`file_lookup`). Elsewhere a path is one from the folder of the document, then from the top;
names mean an entity, then a file, then a title or alias.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.obsidian.file_lookup import FileLookup
from kbx_tui.knowledge.parsing.link_syntax import EXTERNAL, split_target
from kbx_tui.knowledge.parsing.markdown import headings
from kbx_tui.knowledge.records import Entity

if TYPE_CHECKING:
    from kbx_tui.index.snapshot import Snapshot

READ = ("paths", "ids", "titles", "kinds", "dates", "aliases", "entities", "is_vault")
"""What of a snapshot says where links lead."""


@dataclass(frozen=True, slots=True)
class Destination:
    """What a link leads to: an entity, or a document that is not the page of one."""

    path: str
    """The document, or the page of the entity; empty for an entity without a page."""
    entity_id: str = ""
    """Empty for a document that is not the page of an entity."""
    heading: str = ""
    """The section of the page, or `^` and the id of a block, as written in the link; may be empty.
    """
    line: int = 0
    """1-based line of the file where that is, 0 if there is none or it is not found."""


class Destinations:
    """Resolves link targets to the documents of one generation."""

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
        """Return whether every target means the same in another snapshot: it has the same names."""
        return all(getattr(self._snapshot, name) == getattr(snapshot, name) for name in READ)

    def find(self, target: str, source: str) -> Destination | None:
        """Return the destination of `target`, from a wikilink or the URL of a markdown link.

        `source` is the path of the document with the link. None for external URLs and missing
        targets. The line is always 0.
        """
        target, heading = split_target(target)
        if EXTERNAL.match(target):
            return None
        if not target:
            return self._page(source, heading) if heading else None
        spellings = tuple(dict.fromkeys((target, unicodedata.normalize("NFC", unquote(target)))))
        is_path = "/" in target or target.lower().endswith(".md")
        is_vault = self._snapshot.is_vault
        exact = spellings if is_vault else _whole_paths(spellings, source) if is_path else ()
        if path := self._file(exact, source):
            return self._page(path, heading)
        if is_path and is_vault:
            return None  # a name is not looked for where a folder is given
        if (found := self._entity(spellings, source, heading)) is not None:
            return found
        if path := self._file(spellings, source):
            return self._page(path, heading)
        return self._titled(spellings, source, heading)

    def _file(self, spellings: Iterable[str], source: str) -> str | None:
        found = (self._files.find(spelling, source) for spelling in spellings)
        return next(filter(None, found), None)

    def _entity(self, spellings: Iterable[str], source: str, heading: str) -> Destination | None:
        for spelling in spellings:
            if entities := self._entities.by_reference(spelling):
                candidates = [self._snapshot.entities[number] for number in entities]
                nearest = self._nearest(candidates, source)
                return Destination(nearest.path, nearest.id, heading)
        return None

    def _titled(self, spellings: Iterable[str], source: str, heading: str) -> Destination | None:
        """Return the document with a title, file name or alias, whatever its punctuation."""
        for spelling in spellings:
            if documents := self._documents.by_reference(spelling):
                nearest = self._nearest([self._pages[number] for number in documents], source)
                return Destination(nearest.path, "", heading)
            if paths := self._aliases.get(name_key(spelling)):
                return self._page(paths[0], heading)
        return None

    def _page(self, path: str, heading: str) -> Destination:
        return Destination(path, self._entity_of.get(path, ""), heading)

    def _nearest(self, candidates: Sequence[Entity], source: str) -> Entity:
        """Return the best candidate: with a page, then in the nearest folder, then the newest."""

        def rank(page: Entity) -> tuple[bool, int, str]:
            row = self._snapshot.row_of.get(page.path)
            shared = posixpath.commonpath([posixpath.dirname(page.path), posixpath.dirname(source)])
            depth = shared.count("/") + bool(shared)
            return row is not None, depth, self._snapshot.dates[row] if row is not None else ""

        return max(candidates, key=rank)


def _whole_paths(spellings: Iterable[str], source: str) -> list[str]:
    """Return paths from the top: each spelling first as one from the folder of the note."""
    folder = posixpath.dirname(source)
    return [
        f"/{posixpath.normpath(posixpath.join(start, each.lstrip('/')))}"
        for each in spellings
        for start in ("" if each.startswith("/") else folder, "")
    ]


def part_line(body: str, body_line: int, part: str) -> int:
    """Return the 1-based line of a heading or block, 0 if it is not found.

    `part` may be the text of a heading, as in wikilinks, or its anchor, as in markdown links; of
    `One#Two` the last; or `^` and the id of a block. `body_line` is the line of the file where
    `body` starts.
    """
    if part.startswith("^"):
        found = re.search(rf"(?:^|\s){re.escape(part)}[ \t]*$", body, re.MULTILINE | re.IGNORECASE)
        return body_line + body.count("\n", 0, found.end()) if found else 0
    heading = part
    last = unquote(heading.rpartition("#")[2])
    key, anchor = name_key(last), last.casefold()
    for candidate in headings(body) if key else ():
        if name_key(candidate.text) == key or slug(candidate.text) == anchor:
            return body_line + candidate.line
    return 0
