"""Where a link in a document leads. Pure.

What a link names is looked up as linking does it (`knowledge.lookup`): entities first, and then, by
the same rules, all other documents. A link written as a path is first read from where it stands.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kbx_tui.knowledge.entities.entity_resolver import Lookup
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.parsing.markdown import headings
from kbx_tui.knowledge.records import Entity

if TYPE_CHECKING:
    from kbx_tui.index.snapshot import Snapshot

_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*://|(?:mailto|tel|data|javascript):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a link leads: to an entity, or to a document that is the page of none."""

    path: str
    """The document, or the page of the entity; empty for an entity without one."""
    entity_id: str = ""
    """Empty for a document that is no entity's page."""
    heading: str = ""
    """The part of the page that is meant, as the link writes it."""
    line: int = 0
    """1-based line of the file where that part begins, 0 when it is the whole page or not found."""


class Destinations:
    """Knows the pages of one generation."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._entities = Lookup(snapshot.entities)
        self._entity_of = {entity.path: entity.id for entity in snapshot.entities if entity.path}
        self._pages = [
            Entity(document_id, title, kind, path)
            for path, document_id, title, kind in zip(
                snapshot.paths, snapshot.ids, snapshot.titles, snapshot.kinds, strict=True
            )
            if path not in self._entity_of
        ]
        self._documents = Lookup(self._pages)

    def find(self, target: str, source: str) -> Destination | None:
        """Return where `target`, a wikilink's or the address of a markdown link, leads.

        `source` is the path of the document it stands in. None for addresses elsewhere and for
        what does not exist; the line is left open.
        """
        target, heading = split_target(target)
        if _ELSEWHERE.match(target):
            return None
        if not target:
            return self._page(source, heading) if heading else None
        for path in _as_paths(target, source):
            if path in self._snapshot.row_of:
                return self._page(path, heading)
        for spelling in dict.fromkeys((target, unquote(target))):
            if entities := self._entities.target(spelling):
                found = self._nearest([self._snapshot.entities[at] for at in entities], source)
                return Destination(found.path, found.id, heading)
            if documents := self._documents.target(spelling):
                found = self._nearest([self._pages[at] for at in documents], source)
                return Destination(found.path, "", heading)
        return None

    def _page(self, path: str, heading: str) -> Destination:
        return Destination(path, self._entity_of.get(path, ""), heading)

    def _nearest(self, found: Sequence[Entity], source: str) -> Entity:
        """Return the one with a page, in the folder nearest to the source, the newest of those."""

        def rank(page: Entity) -> tuple[bool, int, str]:
            row = self._snapshot.row_of.get(page.path)
            shared = posixpath.commonpath([posixpath.dirname(page.path), posixpath.dirname(source)])
            depth = shared.count("/") + bool(shared)
            return row is not None, depth, self._snapshot.dates[row] if row is not None else ""

        return max(found, key=rank)


def split_target(target: str) -> tuple[str, str]:
    """Return page and heading of a link's target, either may be empty.

    Taken as well are a whole wikilink, the part behind `|`, and an address in angle brackets.
    """
    target = unicodedata.normalize("NFC", target.strip())
    target = target.removeprefix("[[").removesuffix("]]")
    if target.startswith("<") and target.endswith(">"):
        target = target[1:-1]
    page, _, part = target.partition("|")[0].partition("#")
    return page.strip().rstrip("\\").strip(), part.strip().rstrip("\\").strip()  # `\\|` in tables


def heading_line(body: str, body_line: int, heading: str) -> int:
    """Return the 1-based line of a heading, 0 when there is none like it.

    `heading` may be its text, as wikilinks have it, or its anchor, as markdown links have it. Of
    `One#Two` the last is meant. `body_line` is the line of the file where `body` starts.
    """
    wanted = unquote(heading.rpartition("#")[2])
    key, anchor = name_key(wanted), wanted.casefold()
    for one in headings(body) if key else ():
        if name_key(one.text) == key or slug(one.text) == anchor:
            return body_line + one.line
    return 0


def _as_paths(target: str, source: str) -> Iterator[str]:
    """Yield the paths that a target written as a path may mean: from its document, or the root."""
    if not ("/" in target or target.lower().endswith(".md")):
        return
    for spelling in dict.fromkeys((target, unicodedata.normalize("NFC", unquote(target)))):
        here = "" if spelling.startswith("/") else posixpath.dirname(source)
        for folder in dict.fromkeys((here, "", "memory")):
            path = posixpath.normpath(posixpath.join(folder, spelling.lstrip("/")))
            yield from (path, f"{path}.md")
