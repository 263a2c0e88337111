"""Pages redacted as a whole: to tools, neither they nor their entities exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kbx_tui.api import KnowledgeBase
from kbx_tui.api.catalog import unknown_id
from kbx_tui.knowledge.facts.redaction_marks import REDACTED
from kbx_tui.knowledge.records import Document, Entity
from kbx_tui.similarity.entity_finder import EntityFinder
from kbx_tui.tools.redaction.redacted_text import is_redacted

NO_LIMIT = 10**9


@dataclass(frozen=True, slots=True)
class HiddenPages:
    """Everything about hidden pages that no answer may contain."""

    paths: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    """Ids of the pages, which are those of their entities."""
    names: frozenset[str] = frozenset()
    """Titles of the pages, which are the names of their entities."""
    kinds: tuple[str, ...] = ()
    """Document type of each page, for counting."""


def hidden_pages(kb: KnowledgeBase) -> HiddenPages:
    """Return the pages redacted as a whole, as indexed; none without an index."""
    documents = kb.documents_containing(REDACTED).values()
    pages = [document for document in documents if is_redacted(document)]
    if not pages:
        return HiddenPages()
    return HiddenPages(
        paths=frozenset(page.path for page in pages),
        ids=frozenset(kb.document_ids([page.path for page in pages]).values()),
        names=frozenset(page.title for page in pages),
        kinds=tuple(page.kind for page in pages),
    )


def visible_entity_name(kb: KnowledgeBase, name: str) -> str:
    """Return a name or id that means the same visible entity as `name`.

    Raises as `KnowledgeBase.named_entity`, with errors that list visible entities only.
    """
    if not kb.is_indexed():
        kb.index(fast=True)
    hidden = hidden_pages(kb)
    if not hidden.ids:
        return name
    names = kb.find_entities("", limit=NO_LIMIT)
    entities = (kb.identify(name.id)[1] for name in names if name.id not in hidden.ids)
    return EntityFinder(entity for entity in entities if entity).find(name).id


def identify_visible(kb: KnowledgeBase, document_id: str) -> tuple[str, Entity | None]:
    """Return path and entity as `KnowledgeBase.identify`. Raises NotFound for hidden ones too."""
    path, entity = kb.identify(document_id)
    hidden = hidden_pages(kb)
    if path in hidden.paths or (entity is not None and entity.id in hidden.ids):
        raise unknown_id(document_id)
    return path, entity


def read_visible(kb: KnowledgeBase, path: str, document_id: str) -> Document:
    """Return a document as it is on disk now; errors name it `document_id`.

    Raises NotFound also for a page that was redacted since it was indexed.
    """
    document = kb.read_document(path)
    if is_redacted(document):
        raise unknown_id(document_id)
    return document


def visible_kinds(kb: KnowledgeBase) -> Mapping[str, int]:
    """Return the number of documents of each kind without hidden pages."""
    counts = Counter(kb.document_kinds())
    counts.subtract(hidden_pages(kb).kinds)
    return {kind: count for kind, count in counts.items() if count > 0}
