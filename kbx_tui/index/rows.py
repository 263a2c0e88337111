"""Records of `knowledge/` as rows of the index, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from kbx_tui.index.schema import document_key, document_version, text_hash
from kbx_tui.knowledge.records import Attendee, Chunk, Document, Entity, Fact, Problem

NEWEST_FACTS = 5
PROFILE_LENGTH = 2000
"""Characters of an entity's profile that are embedded."""

SIGNS = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]"
"""Chinese, Japanese and Korean signs, as a regular expression."""

_SIGN = re.compile(f"({SIGNS})")


def searchable(text: str) -> str:
    """Return text as the full-text index should see it.

    Its analyzer takes a run of Chinese, Japanese or Korean as one word; set apart, the signs can
    be found.
    """
    return text if text.isascii() else _SIGN.sub(r" \1 ", text)


def document_row(document: Document) -> dict[str, Any]:
    """Return the row of a document."""
    return {
        "key": document_key(document.path),
        "path": document.path,
        "id": document.id,
        "title": document.title,
        "date": document.date,
        "kind": document.kind,
        "subtype": document.subtype,
        "tags": list(document.tags),
        "attendees": _json([[a.name, a.email] for a in document.attendees]),
        "references": list(document.references),
        "wikilinks": list(document.wikilinks),
        "frontmatter": _json(document.frontmatter),
        "body": document.body,
        "body_line": document.body_line,
        "text": searchable(_full_text(document)),
        "content_hash": document.content_hash,
        "version": document_version(document.path, document.content_hash),
        "size": document.size,
        "problems": _json([[p.path, p.reason, p.line, p.skipped] for p in document.problems]),
    }


def document_from_row(row: Mapping[str, Any]) -> Document:
    """Return the document a row was made from."""
    return Document(
        path=row["path"],
        id=row["id"],
        title=row["title"],
        date=row["date"],
        kind=row["kind"],
        subtype=row["subtype"],
        tags=tuple(row["tags"]),
        attendees=attendees_from(row["attendees"]),
        references=tuple(row["references"]),
        wikilinks=tuple(row["wikilinks"]),
        frontmatter=msgspec.json.decode(row["frontmatter"]),
        body=row["body"],
        body_line=row["body_line"],
        content_hash=row["content_hash"],
        size=row["size"],
        problems=problems_from(row["problems"]),
    )


DOCUMENT_COLUMNS = [
    "path", "id", "title", "date", "kind", "subtype", "tags", "attendees", "references",
    "wikilinks", "frontmatter", "body", "body_line", "content_hash", "size", "problems",
]  # fmt: skip
"""What `document_from_row` needs."""


def attendees_from(text: str) -> tuple[Attendee, ...]:
    """Return the attendees stored with a document, in its order."""
    return tuple(Attendee(*pair) for pair in msgspec.json.decode(text))


def problems_from(text: str) -> tuple[Problem, ...]:
    """Return the problems stored with a document."""
    return tuple(Problem(*fields) for fields in msgspec.json.decode(text))


def chunk_row(document: Document, chunk: Chunk) -> dict[str, Any]:
    """Return the row of a chunk."""
    return {
        "path": document.path,
        "version": document_version(document.path, document.content_hash),
        "ordinal": chunk.ordinal,
        "heading": chunk.heading,
        "text": chunk.text,
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
        "text_hash": text_hash(chunk.text),
    }


def entity_row(entity: Entity, facts: list[Fact]) -> dict[str, Any]:
    """Return the row of an entity with the profile that is embedded."""
    profile = profile_text(entity, facts)
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "path": entity.path,
        "aliases": list(entity.aliases),
        "role": entity.role,
        "team": entity.team,
        "members": list(entity.members),
        "emails": list(entity.emails),
        "profile": profile,
        "text_hash": text_hash(profile),
    }


def entity_from_row(row: Mapping[str, Any]) -> Entity:
    """Return the entity a row was made from."""
    return Entity(
        id=row["id"],
        name=row["name"],
        type=row["type"],
        path=row["path"],
        aliases=tuple(row["aliases"]),
        role=row["role"],
        team=row["team"],
        members=tuple(row["members"]),
        emails=tuple(row["emails"]),
    )


def profile_text(entity: Entity, facts: list[Fact]) -> str:
    """Return what describes an entity in one text: names, role, team, newest active facts."""
    active = [f for f in facts if f.kind == "fact" and f.status == "active"]
    newest = sorted(active, key=lambda f: f.date, reverse=True)[:NEWEST_FACTS]
    parts = [entity.name, *entity.aliases, entity.role, entity.team, *(f.text for f in newest)]
    return " | ".join(part for part in parts if part)[:PROFILE_LENGTH]


def fact_row(fact: Fact) -> dict[str, Any]:
    """Return the row of a fact or open item."""
    return {
        "fact_id": fact.fact_id,
        "entity_id": fact.entity_id,
        "kind": fact.kind,
        "text": fact.text,
        "date": fact.date,
        "path": fact.path,
        "line": fact.line,
        "status": fact.status,
        "done": fact.done,
        "sources": list(fact.sources),
        "confidence": fact.confidence,
        "text_hash": text_hash(fact.text),
    }


def fact_from_row(row: Mapping[str, Any]) -> Fact:
    """Return the fact or open item a row was made from."""
    return Fact(
        fact_id=row["fact_id"],
        entity_id=row["entity_id"],
        kind=row["kind"],
        text=row["text"],
        date=row["date"],
        path=row["path"],
        line=row["line"],
        status=row["status"],
        done=row["done"],
        sources=tuple(row["sources"]),
        confidence=row["confidence"],
    )


FACT_COLUMNS = [
    "fact_id", "entity_id", "kind", "text", "date", "path", "line", "status", "done", "sources",
    "confidence",
]  # fmt: skip
"""What `fact_from_row` needs."""


def _full_text(document: Document) -> str:
    """Return title, names and body: names that stand only in frontmatter must be found too."""
    names = [attendee.name for attendee in document.attendees]
    aliases = document.frontmatter.get("aliases")
    if isinstance(aliases, list):
        names += [str(alias) for alias in aliases]
    role = document.frontmatter.get("role")
    parts = [document.title, *names, *document.references, *document.tags]
    if isinstance(role, str):
        parts.append(role)
    return "\n".join([*dict.fromkeys(parts), document.body])


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
