"""What a knowledge base holds, as immutable values. Nothing here reads a file or an index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FactStatus = Literal["active", "superseded", "archived", "redacted"]
FactKind = Literal["fact", "open_item"]
LinkKind = Literal["attendee", "own_page", "frontmatter", "wikilink", "title", "mention", "member"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file could not be read, or not wholly; it never stops the others."""

    path: str
    """Root-relative path, with `/`."""
    reason: str
    """One sentence without a final full stop."""
    line: int = 0
    """1-based line, 0 when the whole file is meant."""
    skipped: bool = False
    """True when the file is not indexed at all."""


@dataclass(frozen=True, slots=True)
class Attendee:
    """Someone named in a document's frontmatter as having taken part or written it."""

    name: str
    email: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One markdown file."""

    path: str
    """Root-relative, `/`, NFC; the key everywhere."""
    id: str
    """Frontmatter `id:`, else `type:slug` for an entity page, else `kind:` + path."""
    title: str
    date: str
    """ISO `YYYY-MM-DD`, or empty when neither frontmatter, name nor folder tells."""
    kind: str
    """`meeting`, `person`, `project`, `team`, `note`, `glossary`, `context`, or its own type."""
    subtype: str
    """`type:` of a meeting (notes, transcript, summary ...), else empty."""
    tags: tuple[str, ...]
    attendees: tuple[Attendee, ...]
    """Attendees and authors, in file order."""
    references: tuple[str, ...]
    """Names in frontmatter (team, lead, people, projects, wikilinks), without brackets."""
    wikilinks: tuple[str, ...]
    """Targets of `[[...]]` in the body, in order, with repetition."""
    frontmatter: Mapping[str, Any] = field(hash=False)
    """Frontmatter as parsed, JSON-safe values only (dates as ISO text)."""
    body: str
    """Text after the frontmatter, decoded, line ends as `\\n`."""
    body_line: int
    """1-based line of the file on which `body` starts."""
    content_hash: str
    """Hex digest of the file's bytes."""
    size: int
    """Bytes of the file."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that is embedded and found. Chunks of a document join to its body."""

    ordinal: int
    """0-based place in the document."""
    heading: str
    """Headings above it, outermost first, joined with ` > `."""
    text: str
    """Verbatim slice of the body."""
    line_start: int
    line_end: int
    """1-based lines of the file, both included."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, project, team or other listed type."""

    id: str
    name: str
    type: str
    path: str
    """Its own page, or empty when it is only known from others (a team from `team:` values)."""
    aliases: tuple[str, ...] = ()
    """Other names as written, most specific first; the first name of a person is not among them."""
    role: str = ""
    team: str = ""
    """Name of its team as written, without brackets."""
    members: tuple[str, ...] = ()
    """For a team: ids of the persons whose `team:` names it."""
    emails: tuple[str, ...] = ()
    """Lower case; an attendee with one of them is this entity whatever the name."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line under Recent Facts or Open Items of an entity's page."""

    fact_id: int
    """53-bit, from entity and text, among equal texts date and sources; survives re-indexing."""
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
    """Distinct sources; the document it stands in when the line names none."""
    confidence: float = 0.7


@dataclass(frozen=True, slots=True)
class Link:
    """That a document belongs to an entity, why, and how often."""

    entity_id: str
    path: str
    kind: LinkKind
    count: int
    """Occurrences, at least 1."""
