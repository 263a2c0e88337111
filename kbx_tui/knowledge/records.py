"""Immutable records of a knowledge base: documents, chunks, entities, facts, links, problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

REDACTED = "redacted"

FactStatus = Literal["active", "superseded", "archived", "redacted"]
FactKind = Literal["fact", "open_item"]
LinkKind = Literal["attendee", "own_page", "frontmatter", "wikilink", "title", "mention", "member"]


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    reason: str
    """What is wrong, in one sentence without a final full stop."""
    line: int = 0
    """1-based line of the file, 0 for the whole file."""
    skipped: bool = False
    on_purpose: bool = False
    """True if settings exclude the file from the index: there is nothing to fix."""


@dataclass(frozen=True, slots=True)
class Attendee:
    name: str
    email: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    path: str
    """Path relative to the root, with `/`, NFC; identifies the document everywhere."""
    id: str
    """Frontmatter `id:`, else `type:slug` for an entity page, else `kind:path`."""
    title: str
    date: str
    """ISO `YYYY-MM-DD`, or the `YYYY-MM` or `YYYY` that it is about; empty without a date."""
    kind: str
    """`meeting`, `person`, `project`, `team`, `note`, `glossary`, `context`, or a custom type."""
    subtype: str
    """`type:` of a meeting (notes, transcript, summary ...), empty for other kinds."""
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    """Tags in frontmatter, then those in the body (`#area/topic`), without `#`."""
    attendees: tuple[Attendee, ...]
    speakers: tuple[str, ...]
    """Who speaks in a meeting, as written in its turns (`turns_of`)."""
    references: tuple[str, ...]
    links: tuple[str, ...]
    """Targets of the links in the body, as `page#part`, in order, with duplicates: wikilinks,
    embeds, and markdown links to files of the base, which begin with `./`, `../` or `/`."""
    property_links: tuple[str, ...]
    frontmatter: Mapping[str, Any] = field(hash=False)
    body: str
    body_line: int
    content_hash: str
    size: int
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a document's body; all chunks, concatenated, are the body."""

    ordinal: int
    heading: str
    """Headings above the chunk, outermost first, joined with ` > `."""
    text: str
    line_start: int
    line_end: int
    """`line_start` and `line_end` are 1-based lines of the file, inclusive."""


@dataclass(frozen=True, slots=True)
class Entity:
    id: str
    name: str
    type: str
    path: str
    """Path of its own page; empty if only other pages mention it (a team from `team:` values)."""
    aliases: tuple[str, ...] = ()
    """Other names as written, most specific first, without the first name of a person."""
    role: str = ""
    team: str = ""
    members: tuple[str, ...] = ()
    """Ids of the people in a team or other group; empty for people and projects."""
    emails: tuple[str, ...] = ()
    """Addresses in lower case; an attendee with one is this entity, whatever the name given."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A list item under Recent Facts, Facts or Open Items on the page of an entity."""

    fact_id: int
    entity_id: str
    kind: FactKind
    text: str
    date: str
    path: str
    line: int
    status: FactStatus
    done: bool
    sources: tuple[str, ...]
    confidence: float = 0.7


@dataclass(frozen=True, slots=True)
class NameUse:
    path: str
    word: str
    as_name: int
    as_word: int


@dataclass(frozen=True, slots=True)
class Link:
    entity_id: str
    path: str
    kind: LinkKind
    count: int
