"""Immutable records of a knowledge base: documents, chunks, entities, facts, links, problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

REDACTED = "redacted"
"""The status of what must not be passed on, and a part of every mark that says so."""

FactStatus = Literal["active", "superseded", "archived", "redacted"]
FactKind = Literal["fact", "open_item"]
LinkKind = Literal["attendee", "own_page", "frontmatter", "wikilink", "title", "mention", "member"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason why a file could not be read, or only in part."""

    path: str
    """Path relative to the root, with `/`."""
    reason: str
    """One sentence without a final full stop."""
    line: int = 0
    """1-based line, 0 for the whole file."""
    skipped: bool = False
    """True when the file is not indexed at all."""
    on_purpose: bool = False
    """True when the settings say that it is not indexed, so that nothing is to be mended."""


@dataclass(frozen=True, slots=True)
class Attendee:
    """A participant or author named in the frontmatter of a document."""

    name: str
    email: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One markdown file."""

    path: str
    """Relative to the root, with `/`, NFC; identifies the document everywhere."""
    id: str
    """Frontmatter `id:`, else `type:slug` for an entity page, else `kind:path`."""
    title: str
    date: str
    """ISO `YYYY-MM-DD`, empty when neither frontmatter, file name nor folder gives one."""
    kind: str
    """`meeting`, `person`, `project`, `team`, `note`, `glossary`, `context`, or its own type."""
    subtype: str
    """`type:` of a meeting (notes, transcript, summary ...), empty for other kinds."""
    aliases: tuple[str, ...]
    """Other names in frontmatter, as written."""
    tags: tuple[str, ...]
    """Tags in frontmatter, then those in the body (`#area/topic`), without `#`."""
    attendees: tuple[Attendee, ...]
    """Attendees and authors, in file order."""
    references: tuple[str, ...]
    """Names in frontmatter other than attendees (team, lead, projects, wikilinks ...)."""
    links: tuple[str, ...]
    """Targets of the links in the body, as `page#part`, in order, with duplicates: wikilinks,
    embeds, and markdown links to files of the base, which begin with `./`, `../` or `/`."""
    property_links: tuple[str, ...]
    """Targets of the wikilinks in frontmatter."""
    frontmatter: Mapping[str, Any] = field(hash=False)
    """JSON-safe values only (dates as ISO text)."""
    body: str
    """Decoded text after the frontmatter, lines separated by `\\n`."""
    body_line: int
    """1-based line of the file where `body` starts."""
    content_hash: str
    """Hex digest of the bytes of the file."""
    size: int
    """Size of the file in bytes."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document body, embedded and found on its own.

    The chunks of a document, concatenated, are its body.
    """

    ordinal: int
    """0-based position in the document."""
    heading: str
    """Headings above it, outermost first, joined with ` > `."""
    text: str
    """Verbatim slice of the body."""
    line_start: int
    line_end: int
    """1-based lines of the file, inclusive."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, project, team or other listed type."""

    id: str
    name: str
    type: str
    path: str
    """Its own page; empty if only other pages mention it (a team from `team:` values)."""
    aliases: tuple[str, ...] = ()
    """Other names as written, most specific first; excludes the first name of a person."""
    role: str = ""
    team: str = ""
    """Name of its team as written, without brackets."""
    members: tuple[str, ...] = ()
    """Ids of the people in a team or other group; empty for people and projects."""
    emails: tuple[str, ...] = ()
    """Lower case; an attendee with one of them is this entity, whatever the name given."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A list item under Recent Facts or Open Items on the page of an entity."""

    fact_id: int
    """53-bit hash, see `fact_id`; stable across re-indexing."""
    entity_id: str
    kind: FactKind
    text: str
    date: str
    path: str
    line: int
    status: FactStatus
    done: bool
    """True for a ticked open item."""
    sources: tuple[str, ...]
    """Distinct sources; its own page when the line names none."""
    confidence: float = 0.7
    """Within 0..1."""


@dataclass(frozen=True, slots=True)
class NameUse:
    """How often a document uses a word that is also a name (`entities/name_uses`)."""

    path: str
    word: str
    """Folded."""
    as_name: int
    as_word: int


@dataclass(frozen=True, slots=True)
class Link:
    """Evidence of one kind that a document belongs to an entity."""

    entity_id: str
    path: str
    kind: LinkKind
    count: int
    """Number of occurrences, at least 1."""
