"""Documents, entities and links of one generation of the index: immutable, read once.

Documents are rows ordered by path, entities rows ordered by id. What a search needs of them stays
in mapped arrays, their text on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.stored_documents import DocumentSegment
from kbx_tui.index.entities.entity_column import EntityColumn
from kbx_tui.knowledge.records import LinkKind

if TYPE_CHECKING:
    from kbx_tui.index.entities.mapped_links import EntityPages, LinksByEntity, NameUses
    from kbx_tui.index.entities.stored_facts import StoredFacts
    from kbx_tui.index.entities.stored_names import StoredNames

Rows = NDArray[np.int64]

LINK_KINDS: tuple[LinkKind, ...] = (
    "own_page", "attendee", "frontmatter", "title", "wikilink", "mention", "member"
)  # fmt: skip
"""Kinds of links, strongest first; a link is stored with the number of its kind."""


@dataclass(frozen=True, slots=True)
class EntityLinks:
    """The links of one entity as parallel columns, sorted by document row."""

    rows: Rows
    """Document rows; a row repeats for each kind of link."""
    kinds: NDArray[np.uint8]
    """Numbers in `LINK_KINDS`."""
    counts: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NameVotes:
    """How many documents use a word as a name, and as a word; one that does both counts in part."""

    as_name: float
    as_word: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Documents, entities and links of one generation."""

    paths: Sequence[str]
    ids: Sequence[str]
    titles: Sequence[str]
    dates: Sequence[str]
    kinds: Sequence[str]
    tags: Sequence[tuple[str, ...]]
    attendees: Sequence[str]
    """Attendees or authors of each document, as stored: JSON, decoded on demand."""
    row_of: Mapping[str, int]
    """Path to row."""
    entities: EntityColumn
    """Ordered by id."""
    links: LinksByEntity
    name_uses: NameUses
    entity_pages: EntityPages
    names: StoredNames
    facts: StoredFacts | None = None
    """None where they have to be read from their table."""
    aliases: Sequence[tuple[str, ...]] = ()
    """Other names of each document."""
    is_vault: bool = False
    """Whether the base is an Obsidian vault, where links mean files before names."""
    versions: Sequence[str] = ()
    """Identifies path and content of each document: `schema.document_version`."""
    segments: tuple[DocumentSegment, ...] = ()
    """The arrays that the columns are views of."""


def generation_of(versions: Mapping[str, int]) -> int:
    """Return the generation of the index: the sum of its table versions, raised by every write."""
    return sum(versions.values())
