"""How strongly documents belong to an entity: one strength per document, and why, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kbx_tui.index.snapshot import EntityLinks
from kbx_tui.knowledge.records import LinkKind
from kbx_tui.search.evidence import LinkedDocuments, frozen
from kbx_tui.search.scales import mention_strength

FULL_STRENGTH: frozenset[LinkKind] = frozenset(
    {"attendee", "own_page", "frontmatter", "title", "member"}
)
"""Kinds that say outright whose document it is; wikilinks and mentions count with their number."""

_WORDS: Mapping[LinkKind, str] = {
    "own_page": "own page",
    "attendee": "attendee",
    "frontmatter": "frontmatter",
    "title": "title",
    "wikilink": "wikilink",
    "mention": "mention",
    "member": "member",
}
_ORDER = {kind: place for place, kind in enumerate(_WORDS)}


def linked_documents(links: EntityLinks | None) -> LinkedDocuments:
    """Return the documents that belong to an entity, each once, rows counted among all."""
    if links is None:
        return LinkedDocuments(np.empty(0, np.int64), np.empty(0), ())
    kinds, counts = links.kinds, links.counts
    full = np.array([kind in FULL_STRENGTH for kind in kinds], dtype=np.bool_)
    strengths = np.where(full, 1.0, mention_strength(counts))
    documents, starts = np.unique(links.rows, return_index=True)
    ends = [*starts[1:], len(links.rows)]
    reasons = tuple(
        ", ".join(_words(kinds[at], int(counts[at])) for at in _by_weight(kinds, start, end))
        for start, end in zip(starts, ends, strict=True)
    )
    strongest = np.maximum.reduceat(strengths, starts)
    return LinkedDocuments(frozen(documents), frozen(strongest), reasons)


def _by_weight(kinds: Sequence[LinkKind], start: int, end: int) -> list[int]:
    return sorted(range(start, end), key=lambda at: _ORDER[kinds[at]])


def _words(kind: LinkKind, count: int) -> str:
    if kind in ("mention", "wikilink", "member") and count > 1:
        return f"{count} {_WORDS[kind]}s"
    return _WORDS[kind]
