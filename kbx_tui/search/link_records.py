"""Links between documents, as shown on screen and in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST_DOCUMENTS = 3000
"""Documents up to which links are counted unasked: the links of more take longer to read than a key
may wait for its answer."""


@dataclass(frozen=True, slots=True)
class Backlink:
    path: str
    title: str
    date: str
    line: int
    """1-based line of the file; 0 for a link in a property."""
    text: str
    """The line with links shown by their labels; empty for a property."""
    target: str


@dataclass(frozen=True, slots=True)
class UnlinkedMention:
    """A name of the document in the text of another one that does not link there."""

    path: str
    title: str
    date: str
    line: int
    text: str
    name: str
    column: int
    """0-based character of the line where the name begins."""


@dataclass(frozen=True, slots=True)
class OutgoingLink:
    """A link in the document to another one, or to an entity without a page."""

    target: str
    path: str
    """Empty for an entity without a page."""
    entity_id: str
    """Empty for a document that is not the page of an entity."""
    title: str
    line: int
    """1-based line of the file; 0 for a link in a property."""


BrokenKind = Literal["page", "heading", "block"]


@dataclass(frozen=True, slots=True)
class BrokenLink:
    path: str
    target: str
    line: int
    """1-based line of the file; 0 for a link in a property."""
    suggestions: tuple[str, ...]
    kind: BrokenKind = "page"
    """What is missing: the page, or a heading or block of it. Then the page itself is suggested."""


@dataclass(frozen=True, slots=True)
class DocumentLinks:
    path: str
    title: str
    backlinks: tuple[Backlink, ...]
    """Newest document first; a line once, however often it links."""
    mentions: tuple[UnlinkedMention, ...]
    """Newest document first, at most `MOST_MENTIONS`."""
    outgoing: tuple[OutgoingLink, ...]
    """In the order of the text, each target once."""
    broken: tuple[BrokenLink, ...]


@dataclass(frozen=True, slots=True)
class RelatedDocument:
    path: str
    title: str
    date: str
    kind: str
    score: float
    """0..1."""
    reason: str
    """In one line, what weighs most first: `shares Dana Kim · close in meaning (.61)`."""


NOTHING_RELATED = "nothing is related: no link, no shared person or project, no similar text"


@dataclass(frozen=True, slots=True)
class RelatedDocuments:
    path: str
    title: str
    related: tuple[RelatedDocument, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    path: str
    title: str
    count: int


@dataclass(frozen=True, slots=True)
class LinkOverview:
    links: int
    """Links between documents, each pair of documents once."""
    broken: int
    """Targets that lead to nothing, once per document."""
    unlinked: int
    most_linked: tuple[LinkedDocument, ...]
    """The documents that most others link to, at least 2 each."""
