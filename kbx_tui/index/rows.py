"""Conversion of records of `knowledge/` to rows of the tables, and back.

A field of a record is stored in the column of its name, a tuple as a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import msgspec

from kbx_tui.index.lexical.terms import separate_cjk
from kbx_tui.index.schema import document_key, document_version, text_hash
from kbx_tui.knowledge.records import Attendee, Chunk, Document, Entity, Fact, Problem

Record = TypeVar("Record")


def _columns(record: type[Any]) -> list[str]:
    return [field.name for field in fields(record)]


DOCUMENT_COLUMNS, ENTITY_COLUMNS, FACT_COLUMNS = map(_columns, (Document, Entity, Fact))
"""Columns that `document_from_row`, `entity_from_row` and `fact_from_row` need."""

NEWEST_FACTS = 5
"""Facts in the profile of an entity."""

PROFILE_LENGTH = 2000
"""Characters of the profile that are embedded."""


def field_values(record: Any) -> dict[str, Any]:
    """Return the fields of a record by name; this is its row if no column needs converting."""
    return {name: getattr(record, name) for name in _columns(record)}


def document_row(document: Document) -> dict[str, Any]:
    """Return the row of a document."""
    return field_values(document) | {
        "key": document_key(document.path),
        "attendees": _json([[a.name, a.email] for a in document.attendees]),
        "frontmatter": _json(document.frontmatter),
        "text": separate_cjk(_searched_text(document)),
        "version": document_version(document.path, document.content_hash),
        "problems": _json([[p.path, p.reason, p.line, p.skipped] for p in document.problems]),
    }


def document_from_row(row: Mapping[str, Any]) -> Document:
    """Return the document of a row."""
    decoded = {
        "attendees": attendees_from(row["attendees"]),
        "frontmatter": msgspec.json.decode(row["frontmatter"]),
        "problems": problems_from(row["problems"]),
    }
    return _record(Document, DOCUMENT_COLUMNS, {**row, **decoded})


def attendees_from(text: str) -> tuple[Attendee, ...]:
    """Return the attendees stored with a document, in order."""
    return tuple(Attendee(*pair) for pair in msgspec.json.decode(text))


def problems_from(text: str) -> tuple[Problem, ...]:
    """Return the problems stored with a document."""
    return tuple(Problem(*values) for values in msgspec.json.decode(text))


def chunk_row(document: Document, chunk: Chunk) -> dict[str, Any]:
    """Return the row of a chunk."""
    return field_values(chunk) | {
        "path": document.path,
        "version": document_version(document.path, document.content_hash),
        "text_hash": text_hash(chunk.text),
    }


def entity_row(entity: Entity, facts: list[Fact]) -> dict[str, Any]:
    """Return the row of an entity, with the profile that is embedded."""
    profile = profile_text(entity, facts)
    return field_values(entity) | {"profile": profile, "text_hash": text_hash(profile)}


def entity_from_row(row: Mapping[str, Any]) -> Entity:
    """Return the entity of a row."""
    return _record(Entity, ENTITY_COLUMNS, row)


def profile_text(entity: Entity, facts: list[Fact]) -> str:
    """Return a text that describes an entity: names, role, team, newest active facts."""
    active = [f for f in facts if f.kind == "fact" and f.status == "active"]
    newest = sorted(active, key=lambda f: f.date, reverse=True)[:NEWEST_FACTS]
    parts = [entity.name, *entity.aliases, entity.role, entity.team, *(f.text for f in newest)]
    return " | ".join(part for part in parts if part)[:PROFILE_LENGTH]


def fact_row(fact: Fact) -> dict[str, Any]:
    """Return the row of a fact or open item."""
    return field_values(fact) | {"text_hash": text_hash(fact.text)}


def fact_from_row(row: Mapping[str, Any]) -> Fact:
    """Return the fact or open item of a row."""
    return _record(Fact, FACT_COLUMNS, row)


def _record(layout: type[Record], columns: list[str], row: Mapping[str, Any]) -> Record:
    values = ((name, row[name]) for name in columns)
    return layout(**{name: tuple(v) if isinstance(v, list) else v for name, v in values})


def _searched_text(document: Document) -> str:
    """Return the text that BM25 searches: title, names and tags from the frontmatter, and body."""
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
