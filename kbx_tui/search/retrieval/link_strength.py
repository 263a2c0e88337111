"""Link strength: how strongly documents belong to an entity, 0..1, and why, for display."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import LINK_KINDS, EntityLinks
from kbx_tui.search.evidence import score_normalization as normalization
from kbx_tui.search.evidence.evidence import LinkedDocuments, frozen

_OWN_PAGE, _FRONTMATTER = LINK_KINDS.index("own_page"), LINK_KINDS.index("frontmatter")
_WIKILINK, _MEMBER = LINK_KINDS.index("wikilink"), LINK_KINDS.index("member")
"""Kinds before `wikilink` are explicit links, with strength 1; that of the others grows with their
number."""

NO_ROWS = np.empty(0, np.int32)
NOTHING_LINKED = LinkedDocuments(frozen(np.empty(0, np.int64)), frozen(np.empty(0)), ())


def linked_documents(
    links: EntityLinks | None, entity_pages: NDArray[np.integer[Any]] = NO_ROWS
) -> LinkedDocuments:
    """Return the documents that belong to an entity, each once, by their rows in the base.

    `entity_pages` are the rows, ascending, of the pages of this entity and of others.
    """
    if links is None:
        return NOTHING_LINKED
    codes, counts = links.kinds, links.counts
    as_members = normalization.counted_strength(counts, *normalization.MEMBER_STRENGTH)
    as_mentions = normalization.counted_strength(counts, *normalization.MENTION_STRENGTH)
    by_count = np.where(codes == _MEMBER, as_members, as_mentions)
    strengths = np.where(codes < _WIKILINK, 1.0, by_count)
    documents, starts = np.unique(links.rows, return_index=True)
    links_in_order = list(zip(codes.tolist(), counts.tolist(), strict=True))
    ranges = pairwise([*starts.tolist(), len(links.rows)])
    reasons = tuple(_reason(*links_in_order[start:end]) for start, end in ranges)
    strongest = np.maximum.reduceat(strengths, starts)
    own = np.minimum.reduceat(codes, starts) == _OWN_PAGE
    others = _are_among(documents, entity_pages) & ~own
    in_text = np.maximum.reduceat(codes, starts) != _FRONTMATTER
    related = np.where(
        in_text, normalization.RELATED_PAGE_STRENGTH, normalization.RELATED_FIELD_STRENGTH
    )
    strongest[others] = np.minimum(strongest, related)[others]
    return LinkedDocuments(frozen(documents), frozen(strongest), reasons)


def about_person(linked: LinkedDocuments, places: Sequence[tuple[int, int]]) -> LinkedDocuments:
    """Return the links of a person, with strengths by how much each document concerns them.

    `places` holds, per linked document, the person's 1-based position among its attendees, 0 if
    absent, and the number of attendees. Other strengths are capped at `ABOUT_FLOOR`, except that of
    their own page.
    """
    place, attendees = (np.array(column, np.int64) for column in zip(*places, strict=True))
    about = normalization.about_strength(np.maximum(attendees, 1), np.maximum(place, 1))
    own = np.array([reason.startswith("own page") for reason in linked.reasons], np.bool_)
    capped = np.minimum(
        linked.strengths, np.where(own, normalization.ABOUT_OWN_PAGE, normalization.ABOUT_FLOOR)
    )
    strengths = np.where(place > 0, about, capped)
    reasons = tuple(
        f"attendee {number} of {total}" if number else reason
        for reason, (number, total) in zip(linked.reasons, places, strict=True)
    )
    return LinkedDocuments(linked.rows, frozen(strengths), reasons)


@lru_cache(maxsize=4096)  # few combinations occur in a base
def _reason(*links: tuple[int, int]) -> str:
    """Return the kinds, given by number, and counts of links as text, strongest kind first."""
    labels = []
    for kind, count in sorted(links):
        label = LINK_KINDS[kind].replace("_", " ")
        labels.append(f"{count} {label}s" if count > 1 and kind >= _WIKILINK else label)
    return ", ".join(labels)


def _are_among(rows: NDArray[Any], ascending: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows occur in an ascending array."""
    if not len(ascending):
        return np.zeros(len(rows), np.bool_)
    places = np.minimum(ascending.searchsorted(rows), len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[places] == rows
    return found
