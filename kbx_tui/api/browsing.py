"""Browsing: documents, entities, links and paths, as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.api.opened import OpenedBase, well_formed
from kbx_tui.errors import NotFound

if TYPE_CHECKING:
    from kbx_tui.search.browsing.card import EntityCard, EntityName
    from kbx_tui.search.browsing.destination import Destination


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as it stands on disk now."""

    path: str
    title: str
    date: str
    kind: str
    text: str
    """The whole file, decoded, frontmatter included."""


class Browsing(OpenedBase):
    """Reads single things; searches nothing."""

    def document(self, path: str) -> DocumentView:
        """Return a document as it stands on disk now.

        Raises NotFound when there is none at `path` or it lies outside the base.
        """
        from kbx_tui.knowledge.parsing.reading import decode, parse_document
        from kbx_tui.knowledge.vault import locate

        try:
            data = locate(self.root, path, self.settings.index.exclude).read_bytes()
        except (OSError, ValueError) as error:
            raise NotFound(f"no document {path} in {self.root}") from error
        known = parse_document(path, data)
        return DocumentView(path, known.title, known.date, known.kind, decode(data)[0])

    def entity(self, entity_id: str) -> EntityCard:
        """Return all that is known about an entity. Raises NotFound for an unknown id."""
        from kbx_tui.search.browsing.browse import entity_card

        self._keep_fresh()
        return entity_card(self._open_index(), entity_id)

    def named_entity(self, name: str) -> EntityCard:
        """Return all that is known about the entity of this name, alias or id.

        The beginnings of its words do when only one fits. Raises NotFound and Ambiguous.
        """
        from kbx_tui.similarity.entity_finder import EntityFinder

        self._keep_fresh()
        finder = EntityFinder(self._open_index().loaded().snapshot.entities)
        return self.entity(finder.find(well_formed(name)).id)

    def find_entities(self, text: str, limit: int = 20) -> tuple[EntityName, ...]:
        """Return entities by a piece of a name or alias, best first.

        Without text, those with the most documents.
        """
        from kbx_tui.search.browsing.browse import find_entities

        self._keep_fresh()
        return find_entities(self._open_index(), well_formed(text), limit)

    def follow(self, target: str, source: str) -> Destination | None:
        """Return where a wikilink or relative link in the document `source` leads.

        None for addresses elsewhere (`https://`) and for what does not exist here.
        """
        from kbx_tui.search.browsing.browse import follow

        self._keep_fresh()
        return follow(self._open_index(), well_formed(target), well_formed(source))

    def complete_path(self, text: str, limit: int = 20) -> tuple[str, ...]:
        """Return how a path that is being typed may go on: folders (with a final slash), files."""
        from kbx_tui.search.browsing.browse import complete_path

        self._keep_fresh()
        return complete_path(self._open_index(), well_formed(text), self.root, limit)

    def count_scope(self, path: str) -> tuple[int, int]:
        """Return how many documents a path lets in, and how many there are.

        Raises as `retrieve`.
        """
        from kbx_tui.search.browsing.browse import count_scope

        scope = self._path_filter(path)
        self._keep_fresh()
        return count_scope(self._open_index(), scope)
