"""The pages that tools may know of, by their files as they are now.

A page redacted as a whole does not exist to tools, nor does its entity. The index knows the pages
that were redacted when it was built; those marked since are learned when an answer meets them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from weakref import WeakKeyDictionary, ref

from kbx_tui.api import KnowledgeBase
from kbx_tui.api.documents import unknown_id
from kbx_tui.api.pages import no_fact
from kbx_tui.errors import NotFound
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.knowledge.records import REDACTED, Entity, Fact
from kbx_tui.knowledge.redaction import is_page_redacted
from kbx_tui.search.name_lookup import EntityFinder, EntityNames

NO_LIMIT = 10**9
ATTEMPTS = 20
"""How often a name is looked up again because the page found turns out to be redacted."""


class VisiblePages:
    """What of one knowledge base may be passed on. It lives as long as the base is open."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._base = ref(kb)  # the base owns this object, not the other way round
        self._learned: set[str] = set()
        self._looked_at: dict[str, PublicPage | None] = {}
        self._are_open: dict[str, bool] = {}
        self._finders: tuple[object, dict[frozenset[str], EntityFinder]] | None = None
        self._indexed: tuple[object, frozenset[str]] | None = None
        """Marked documents of the index, and those of them that are hidden."""
        self._hidden_before: frozenset[str] | None = None  # the latter, as this call found them
        self._is_indexed = False  # whether this call has found an index

    @property
    def kb(self) -> KnowledgeBase:
        kb = self._base()
        assert kb is not None
        return kb

    @property
    def learned(self) -> frozenset[str]:
        """Paths that were found hidden or gone since the index was built."""
        return frozenset(self._learned)

    def look_again(self) -> None:
        """Compare every page with its file again: a call begins, or has written."""
        self._looked_at.clear()
        self._are_open.clear()
        self._hidden_before, self._is_indexed = None, False

    def looked_at(self) -> list[PublicPage]:
        return [page for page in self._looked_at.values() if page is not None]

    def page(self, path: str) -> PublicPage | None:
        """Return a page as this call first saw it, None if hidden, gone, or hidden when indexed."""
        if path not in self._looked_at:
            page = self.kb.documents.public_page(path)
            if page is None or page.is_hidden:
                self._learned.update(self.kb.documents.ids([path]))
                page = None
            else:
                self._learned.discard(path)
            if self._hidden_before is None:
                self._hidden_before = self._indexed_as_hidden()
            self._looked_at[path] = None if path in self._hidden_before else page
        return self._looked_at[path]

    def id_of(self, page: PublicPage) -> str:
        return self.kb.documents.ids([page.path]).get(page.path, "")

    def is_open(self, page: PublicPage) -> bool:
        """Return whether everything the index knows of a page is public and still there."""
        if page.path not in self._are_open:
            is_open = not page.is_marked and self.kb.documents.is_as_indexed(page)
            self._are_open[page.path] = is_open
        return self._are_open[page.path]

    def fact(self, fact_id: int) -> Fact:
        """Return a fact that its page states openly now. Raises NotFound for others and unknown."""
        fact = self.kb.pages.fact(fact_id)
        page = self.page(fact.path)
        same = [other for other in page.facts if other.text == fact.text] if page else []
        if not same:
            raise no_fact(fact_id)
        nearest = min(same, key=lambda other: abs(other.line - fact.line))
        return replace(nearest, fact_id=fact_id, entity_id=fact.entity_id)

    def hidden(self) -> frozenset[str]:
        """Return the paths of the hidden pages that are known; none without an index."""
        indexed = self._indexed_as_hidden()
        for path in self.learned:
            self.page(path)  # it may be visible again
        return indexed | self._learned

    def hold_redacted_text(self) -> bool:
        """Return whether any page of the index is hidden or has text that is redacted."""
        return bool(self.kb.documents.containing(REDACTED))

    def identify(self, document_id: str) -> tuple[str, Entity | None]:
        """Return path and public entity. Raises NotFound for hidden ones as for unknown ones."""
        path, entity = self.kb.documents.identify(document_id)
        if entity is not None:
            entity = self.entity(entity)
            if entity is None:
                raise unknown_id(document_id)
        if path and self.page(path) is None:
            raise unknown_id(document_id)
        return path, entity

    def is_visible_id(self, document_id: str) -> bool:
        try:
            self.identify(document_id)
        except NotFound:
            return False
        return True

    def entity(self, entity: Entity) -> Entity | None:
        """Return what may be known of an entity, with its visible members; None if hidden."""
        if entity.path:
            page = self.page(entity.path)
            if page is None:
                return None
            if not self.is_open(page):
                entity = replace(page.entity(entity.id), members=entity.members)
        members = tuple(member for member in entity.members if self._is_member(member, entity))
        if not entity.path and not members and not self._is_named_openly(entity):
            return None
        return entity if members == entity.members else replace(entity, members=members)

    def find(self, name: str) -> Entity:
        """Find the entity that a name means, as if the hidden ones did not exist."""
        if not self.kb.is_indexed():
            self.kb.index(fast=True)
        with self.kb.naming_newer_files():
            return self._find(name)

    def _find(self, name: str) -> Entity:
        excluded = set(self.kb.documents.ids(self.hidden()).values())
        for _ in range(ATTEMPTS):
            try:
                found = self._finder(frozenset(excluded)).find(name)
            except NotFound as error:
                named = self.kb.documents.named_in(str(error).replace(repr(name), ""))
                hidden = {
                    entity.id
                    for path, entity, spelling in named
                    if entity
                    and not (
                        self._is_visible_naming(path, entity, spelling)
                        and self.is_named_openly(entity.id, name)
                    )
                }
                if hidden <= excluded:
                    raise
                excluded |= hidden
            else:
                public = self.entity(found)
                if public is not None:
                    return EntityFinder([public]).find(name)  # unless by a redacted alias
                excluded.add(found.id)
        raise unknown_id(name)

    def is_named_openly(self, entity_id: str, name: str) -> bool:
        """Return whether `name` is like a public name of an entity, or an abbreviated one."""
        try:
            public = self.identify(entity_id)[1]
            if public is None:
                return False
            if not EntityNames([public], {}).find(name, 1):
                EntityFinder([public]).find(name)
        except NotFound:
            return False
        return True

    def _finder(self, excluded: frozenset[str]) -> EntityFinder:
        """Return the finder of all other entities, kept until the marked documents change."""
        documents = self.kb.documents.containing(REDACTED)
        if self._finders is None or self._finders[0] is not documents:
            self._finders = (documents, {})
        finders = self._finders[1]
        if excluded not in finders:
            found = self.kb.entities.find("", limit=NO_LIMIT)
            entities = (
                self.kb.documents.identify(name.id)[1] for name in found if name.id not in excluded
            )
            finders[excluded] = EntityFinder(entity for entity in entities if entity)
        return finders[excluded]

    def kinds(self) -> Mapping[str, int]:
        """Return the number of documents of each visible type, as far as is known."""
        counts = Counter(self.kb.documents.kinds())
        hidden, marked = self.hidden(), self.kb.documents.containing(REDACTED)
        known = {**marked, **self.kb.documents.stored(sorted(hidden - marked.keys()))}
        counts.subtract(known[path].kind for path in hidden if path in known)
        return {kind: count for kind, count in counts.items() if count and self.has_kind(kind)}

    def has_kind(self, kind: str) -> bool:
        """Return whether some visible page is of a type."""
        paths = self.kb.documents.of_kind(kind)
        return any((page := self.page(path)) and page.document.kind == kind for path in paths)

    def names_only_visible(self, text: str) -> bool:
        """Return whether no hidden page, entity or alias is named in a sentence."""
        self._is_indexed = self._is_indexed or self.kb.is_indexed()
        if not self._is_indexed:
            return True  # nothing is known that could be named
        named = self.kb.documents.named_in(text)
        hidden = [naming for naming in list(named) if not self._is_visible_naming(*naming)]
        return not hidden  # every one was looked at, and so learned

    def _is_visible_naming(self, path: str, entity: Entity | None, name: str) -> bool:
        if entity is None:
            return self.page(path) is not None
        public = self.entity(entity)
        if public is None:
            return False
        others = {*entity.aliases, *entity.emails}
        is_alias = name in others and name not in (entity.name, entity.id, entity.path)
        return not is_alias or name in {*public.aliases, *public.emails}

    def _indexed_as_hidden(self) -> frozenset[str]:
        documents = self.kb.documents.containing(REDACTED)
        if self._indexed is None or self._indexed[0] is not documents:
            hidden = (
                path
                for path, document in documents.items()
                if is_page_redacted(document.title, document.frontmatter)
            )
            self._indexed = (documents, frozenset(hidden))
        return self._indexed[1]

    def _is_member(self, member: str, group: Entity) -> bool:
        """Return whether the page of a member still says openly that it is one."""
        try:
            path, person = self.kb.documents.identify(member)
        except NotFound:
            return False
        page = self.page(path) if path else None
        if page is None or person is None:
            return False
        if self.is_open(page):
            return True
        team = name_key(page.entity(member).team)
        own_page = self.page(group.path) if group.path else None
        return any(name_key(name) in team for name in (group.name, *group.aliases)) or (
            own_page is not None and own_page.says(person.name)
        )

    def _is_named_openly(self, group: Entity) -> bool:
        """Return whether a visible page names a group that has no page and no visible members."""
        documents = self.kb.entities.card(group.id).documents
        return any(
            (page := self.page(document.path)) is not None and page.says(group.name)
            for document in documents
        )


_OF_BASE: WeakKeyDictionary[KnowledgeBase, VisiblePages] = WeakKeyDictionary()


def visible_pages(kb: KnowledgeBase) -> VisiblePages:
    """Return the visible pages of a knowledge base, always the same object."""
    if kb not in _OF_BASE:
        _OF_BASE[kb] = VisiblePages(kb)
    return _OF_BASE[kb]
