"""Pages redacted as a whole: for tools neither they nor the entities they are about exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.api.describing import unknown_id
from kbx_tui.knowledge.facts.redacted import WORD
from kbx_tui.tools.redaction.redacted_text import is_redacted

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.knowledge.records import Document, Entity

_ALL = 10**9
"""More than there are: no limit."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """What no answer may name."""

    paths: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()
    """Of the pages, which are those of their entities."""
    names: frozenset[str] = frozenset()
    """Titles of the pages, which are the names of their entities."""
    kinds: tuple[str, ...] = ()
    """One for each page."""


NOTHING = Withheld()


def withheld(kb: KnowledgeBase) -> Withheld:
    """Return what is redacted as a whole, as indexed; nothing without an index."""
    said = kb.documents_saying(WORD)
    pages = [document for document in said.values() if is_redacted(document)]
    if not pages:
        return NOTHING
    return Withheld(
        paths=frozenset(page.path for page in pages),
        ids=frozenset(kb.document_ids([page.path for page in pages]).values()),
        names=frozenset(page.title for page in pages),
        kinds=tuple(page.kind for page in pages),
    )


def open_entity(kb: KnowledgeBase, name: str) -> str:
    """Return what to call an entity by, such that none that is withheld can be meant.

    Raises as `KnowledgeBase.named_entity`; the candidates it tells of are open ones.
    """
    if not kb.is_indexed():
        kb.index(fast=True)
    hidden = withheld(kb)
    if not hidden.ids:
        return name
    from kbx_tui.similarity.entity_finder import EntityFinder

    return EntityFinder(_open_entities(kb, hidden)).find(name).id


def identify_open(kb: KnowledgeBase, wanted: str) -> tuple[str, Entity | None]:
    """Return what `KnowledgeBase.identify` does. Raises NotFound for what is withheld as well."""
    path, entity = kb.identify(wanted)
    hidden = withheld(kb)
    if path in hidden.paths or (entity is not None and entity.id in hidden.ids):
        raise unknown_id(wanted)
    return path, entity


def read_open(kb: KnowledgeBase, path: str, wanted: str) -> Document:
    """Return a document as it stands on disk now; `wanted` is what the caller called it.

    Raises NotFound for one that is withheld, if only on disk so far.
    """
    document = kb.read_document(path)
    if is_redacted(document):
        raise unknown_id(wanted)
    return document


def open_kinds(kb: KnowledgeBase) -> Mapping[str, int]:
    """Return how many documents there are of each kind, those withheld not counted."""
    counts = Counter(kb.document_kinds())
    counts.subtract(withheld(kb).kinds)
    return {kind: count for kind, count in counts.items() if count > 0}


def _open_entities(kb: KnowledgeBase, hidden: Withheld) -> list[Entity]:
    every = (kb.identify(one.id)[1] for one in kb.find_entities("", limit=_ALL))
    return [one for one in every if one is not None and one.id not in hidden.ids]
