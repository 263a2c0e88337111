"""Resolves the targets of links in documents. Pure.

Names are resolved as during indexing (`entity_resolver`): entities first, then by the same rules
all other documents. A path is first resolved relative to the document with the link.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.parsing.markdown import headings
from kbx_tui.knowledge.records import Entity

if TYPE_CHECKING:
    from kbx_tui.index.snapshot import Snapshot

_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*://|(?:mailto|tel|data|javascript):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Destination:
    """What a link leads to: an entity, or a document that is not the page of one."""

    path: str
    """The document, or the page of the entity; empty for an entity without a page."""
    entity_id: str = ""
    """Empty for a document that is not the page of an entity."""
    heading: str = ""
    """The section of the page, as written in the link; may be empty."""
    line: int = 0
    """1-based line of the file where the section begins, 0 if there is none or it is not found."""


class Destinations:
    """Resolves link targets to the documents of one generation."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._entities = EntityResolver(snapshot.entities)
        self._entity_of = {entity.path: entity.id for entity in snapshot.entities if entity.path}
        self._pages = [
            Entity(document_id, title, kind, path)
            for path, document_id, title, kind in zip(
                snapshot.paths, snapshot.ids, snapshot.titles, snapshot.kinds, strict=True
            )
            if path not in self._entity_of
        ]
        self._documents = EntityResolver(self._pages)

    def find(self, target: str, source: str) -> Destination | None:
        """Return the destination of `target`, from a wikilink or the URL of a markdown link.

        `source` is the path of the document with the link. None for external URLs and missing
        targets. The line is always 0.
        """
        target, heading = split_target(target)
        if _EXTERNAL.match(target):
            return None
        if not target:
            return self._page(source, heading) if heading else None
        for path in _as_paths(target, source):
            if path in self._snapshot.row_of:
                return self._page(path, heading)
        for spelling in dict.fromkeys((target, unquote(target))):
            if entities := self._entities.by_reference(spelling):
                candidates = [self._snapshot.entities[number] for number in entities]
                nearest = self._nearest(candidates, source)
                return Destination(nearest.path, nearest.id, heading)
            if documents := self._documents.by_reference(spelling):
                nearest = self._nearest([self._pages[number] for number in documents], source)
                return Destination(nearest.path, "", heading)
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


def split_target(target: str) -> tuple[str, str]:
    """Return the page and heading of a link target; either may be empty.

    Also accepts a complete wikilink, a label after `|`, and a URL in angle brackets.
    """
    target = unicodedata.normalize("NFC", target.strip())
    target = target.removeprefix("[[").removesuffix("]]")
    if target.startswith("<") and target.endswith(">"):
        target = target[1:-1]
    page, _, part = target.partition("|")[0].partition("#")
    return page.strip().rstrip("\\").strip(), part.strip().rstrip("\\").strip()  # `\\|` in tables


def heading_line(body: str, body_line: int, heading: str) -> int:
    """Return the 1-based line of a heading, 0 if it is not found.

    `heading` may be its text, as in wikilinks, or its anchor, as in markdown links; of `One#Two`
    the last. `body_line` is the line of the file where `body` starts.
    """
    last = unquote(heading.rpartition("#")[2])
    key, anchor = name_key(last), last.casefold()
    for candidate in headings(body) if key else ():
        if name_key(candidate.text) == key or slug(candidate.text) == anchor:
            return body_line + candidate.line
    return 0


def _as_paths(target: str, source: str) -> Iterator[str]:
    """Yield the paths that a target may mean, relative to its document or to the root."""
    if not ("/" in target or target.lower().endswith(".md")):
        return
    for spelling in dict.fromkeys((target, unicodedata.normalize("NFC", unquote(target)))):
        here = "" if spelling.startswith("/") else posixpath.dirname(source)
        for folder in dict.fromkeys((here, "", "memory")):
            path = posixpath.normpath(posixpath.join(folder, spelling.lstrip("/")))
            yield from (path, f"{path}.md")
