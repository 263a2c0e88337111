"""How strongly documents belong to an entity: one strength per document, and why, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from kbx_tui.index.snapshot import EntityLinks
from kbx_tui.knowledge.records import LinkKind
from kbx_tui.search.evidence.evidence import LinkedDocuments, frozen
from kbx_tui.search.evidence.score_normalization import (
    ABOUT_FLOOR,
    about_strength,
    member_strength,
    mention_strength,
)

FULL_STRENGTH: frozenset[LinkKind] = frozenset({"attendee", "own_page", "frontmatter", "title"})
"""Kinds that say outright whose document it is; the others count with their number."""

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
_IS_FULL = np.array([kind in FULL_STRENGTH for kind in _WORDS])


NOTHING_LINKED = LinkedDocuments(frozen(np.empty(0, np.int64)), frozen(np.empty(0)), ())


def linked_documents(links: EntityLinks | None) -> LinkedDocuments:
    """Return the documents that belong to an entity, each once, rows counted among all."""
    if links is None:
        return NOTHING_LINKED
    kinds, counts = links.kinds, links.counts
    codes = np.array([_ORDER[kind] for kind in kinds])
    by_number = np.where(
        codes == _ORDER["member"], member_strength(counts), mention_strength(counts)
    )
    strengths = np.where(_IS_FULL[codes], 1.0, by_number)
    documents, starts = np.unique(links.rows, return_index=True)
    ends = [*starts[1:].tolist(), len(links.rows)]
    each = list(zip(kinds, counts.tolist(), strict=True))
    reasons = tuple(
        _reason(*each[start:end]) for start, end in zip(starts.tolist(), ends, strict=True)
    )
    strongest = np.maximum.reduceat(strengths, starts)
    return LinkedDocuments(frozen(documents), frozen(strongest), reasons)


def about_person(linked: LinkedDocuments, places: Sequence[tuple[int, int]]) -> LinkedDocuments:
    """Return the links of a person by how much each document is about the person.

    `places` holds, per linked document, as which attendee it names the person (0: as none) and how
    many it names. Others keep their strength, at most what the least attendee gets.
    """
    place, attendees = (np.array(column, np.int64) for column in zip(*places, strict=True))
    is_one = place > 0
    about = about_strength(np.maximum(attendees, 1), np.maximum(place, 1))
    strengths = np.where(is_one, about, np.minimum(linked.strengths, ABOUT_FLOOR))
    reasons = tuple(
        f"attendee {at} of {total}" if at else reason
        for reason, (at, total) in zip(linked.reasons, places, strict=True)
    )
    return LinkedDocuments(linked.rows, frozen(strengths), reasons)


@lru_cache(maxsize=4096)
def _reason(*links: tuple[LinkKind, int]) -> str:
    """Return kinds and counts in words, the strongest first; few combinations fill a base."""
    return ", ".join(_words(*one) for one in sorted(links, key=lambda one: _ORDER[one[0]]))


def _words(kind: LinkKind, count: int) -> str:
    if kind in ("mention", "wikilink", "member") and count > 1:
        return f"{count} {_WORDS[kind]}s"
    return _WORDS[kind]
