"""The tables: their schemas, their version, and records of `knowledge/` as rows and back.

Rows refer to documents by path and to vectors by the hash of the embedded text, so a moved file
keeps its vectors and an edit only re-embeds what changed. No text is stored twice: what is searched
is made from the columns of a document, and a chunk is a part of its document's body. A field of a
record is stored in the column of its name, a tuple as a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.fields import ALIAS_KEYS, page_name
from kbx_tui.knowledge.folding import tokens
from kbx_tui.knowledge.markdown import without_entities
from kbx_tui.knowledge.records import Attendee, Document, Entity, Fact, Problem

SCHEMA_VERSION = 5
TEXT_RULES = 10
"""Number of the rules by which titles, facts and the texts to search and embed are derived from
files: an index with another number is rebuilt, with the vectors of all texts that stay the same."""

COLUMNS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "documents": (
        ("text", "path! id title date kind subtype"),
        ("texts", "aliases tags speakers"),
        ("text", "attendees"),
        ("texts", "references links property_links"),
        ("text", "frontmatter body"),
        ("int32", "body_line"),
        ("bool", "states_title"),
        ("text", "content_hash! public_hash! version!"),
        ("int64", "size"),
        ("text", "problems"),
    ),
    "chunks": (
        ("text", "path! version!"),
        ("int32", "ordinal! start! end!"),
        ("text", "heading"),
        ("int32", "line_start line_end"),
        ("text", "text_hash!"),
    ),
    "entities": (
        ("text", "id! name type path"),
        ("texts", "aliases"),
        ("text", "role team"),
        ("texts", "members emails"),
        ("text", "profile text_hash!"),
    ),
    "facts": (
        ("int64", "fact_id!"),
        ("text", "entity_id! kind text date path"),
        ("int32", "line"),
        ("text", "status"),
        ("bool", "done"),
        ("texts", "sources"),
        ("float64", "confidence"),
        ("text", "text_hash!"),
    ),
    "links": (("text", "entity_id! path! kind!"), ("int32", "count!")),
    "name_uses": (("text", "path! word!"), ("int32", "as_name! as_word!")),
    "vectors": (("text", "text_hash!"), ("vector", "vector!")),
    "meta": (("text", "key! value"),),
}
"""Type and names of the columns of each table; `!` marks one without nulls.

`public_hash` is the content hash of a page without its redacted parts, empty for a hidden page.
Table vectors has a row per distinct text. Half precision moves a cosine by less than .0001
(docs/decisions/index-size.md).
"""


@cache
def table_schema(name: str, dimension: int = 0) -> Any:
    import pyarrow as pa  # slow to import, and a search needs no schema

    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.field("item", pa.string())),
        "vector": pa.list_(pa.float16(), dimension),
        "bool": pa.bool_(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "float64": pa.float64(),
    }
    return pa.schema(
        [
            pa.field(column.rstrip("!"), types[kind], nullable=not column.endswith("!"))
            for kind, columns in COLUMNS[name]
            for column in columns.split()
        ]
    )


def document_version(path: str, content_hash: str) -> str:
    """Return a document's version, which its chunks carry: 32 hex digits of path and content."""
    return text_hash(f"{path}\0{content_hash}")


def text_hash(text: str) -> str:
    """Return the hash that identifies the vector of a text: 32 hex digits."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


Record = TypeVar("Record")


DOCUMENT_COLUMNS, ENTITY_COLUMNS, FACT_COLUMNS = (
    [field.name for field in fields(record)] for record in (Document, Entity, Fact)
)

SEARCHED_COLUMNS = [
    *("title", "attendees", "references", "tags", "aliases", "frontmatter", "states_title", "body")
]

STRUCTURAL_KEYS = frozenset(
    ["id", "title", "name", "type", "kind", "date", "created", "updated", "modified", "tags", "tag"]
) | {"meeting", "role", "cssclass", "cssclasses", "publish", "email", "emails"}
"""Properties that say what a file is, when it was made or how it looks, or are columns."""

_NO_PROSE = re.compile(r"^\W*\d|^(?=\S*+$)\D*\d|://|^\[\[")
"""What is found in values that are dates, numbers, ids, addresses, or links, which are references.
"""
_RUN = re.compile(r"\S+")
_INLINE_TAG = re.compile(r"#([\w/-]+)")
_DATE_IN_NAME = re.compile(r"(?<!\d)(?:19|20)\d\d[-_.]\d\d?(?:[-_.]\d\d?)?(?!\d)")
_NAME_PART = re.compile(r"[^\W\d_]+|\d+")
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")

NEWEST_FACTS = 5

PROFILE_LENGTH = 2000


def field_values(record: Any) -> dict[str, Any]:
    """Return the fields of a record by name; this is its row if no column needs converting."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def document_from_row(row: Mapping[str, Any]) -> Document:
    decoded = {
        "attendees": attendees_from(row["attendees"]),
        "frontmatter": msgspec.json.decode(row["frontmatter"]),
        "problems": problems_from(row["problems"]),
    }
    return _record(Document, DOCUMENT_COLUMNS, {**row, **decoded})


def attendees_from(text: str) -> tuple[Attendee, ...]:
    return tuple(Attendee(*pair) for pair in msgspec.json.decode(text))


def problems_from(text: str) -> tuple[Problem, ...]:
    return tuple(Problem(*values) for values in msgspec.json.decode(text))


def searched_text(row: Mapping[str, Any]) -> str:
    """Return the text that BM25 searches: title, names, tags and properties, and body.

    Every title occurs twice: a second time as a heading of the body, or without one before it. Of
    the name of the file, what the title lacks is searched. The row has its path and
    `SEARCHED_COLUMNS`.
    """
    frontmatter = msgspec.json.decode(row["frontmatter"])
    names = [attendee.name for attendee in attendees_from(row["attendees"])]
    role, body = frontmatter.get("role"), row["body"]
    in_body = frozenset(_INLINE_TAG.findall(body)) if row["tags"] else ()
    tags = (tag for tag in row["tags"] if tag not in in_body)
    parts = [row["title"], *names, *row["aliases"], *row["references"], *tags]
    if isinstance(role, str):
        parts.append(role)
    parts += _property_texts(frontmatter)
    parts += _name_besides_title(row["path"], row["title"])
    heading = [] if row["states_title"] else [row["title"]]
    return "\n".join([*dict.fromkeys(parts), *heading, _with_characters(body)])


def _with_characters(body: str) -> str:
    """Return a body with characters for its HTML entities; every run of characters without a space
    keeps its place, by which its words are shown."""
    if "&" not in body or ";" not in body:
        return body
    return _RUN.sub(lambda run: without_entities(run[0]).ljust(len(run[0])), body)


def _property_texts(frontmatter: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of properties that are neither searched otherwise nor say what a file is."""
    for key, value in frontmatter.items():
        name = key.casefold()
        if name in STRUCTURAL_KEYS or name in ALIAS_KEYS or name.endswith("_id"):
            continue
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and not _NO_PROSE.search(text):
                yield text


def _name_besides_title(path: str, title: str) -> list[str]:
    """Return the name of a page if its title lacks a word of it, and the parts of its words.

    Parts are letters, digits and words in camel case: `vanDijk2025` is found as `vandijk 2025` and
    `dijk` as well.
    A date is left out, as dates are not searched for as words.
    """
    name, known = _DATE_IN_NAME.sub(" ", page_name(path)), {*tokens(title)}
    words = {*tokens(name)}
    parts = dict.fromkeys(
        tokens(" ".join(_NAME_PART.findall(f"{name} {_CAMEL_CASE.sub(' ', name)}")))
    )
    shown = [] if words <= known else [name]
    return [*shown, *(part for part in parts if part not in known | words)]


def entity_row(entity: Entity, facts: list[Fact]) -> dict[str, Any]:
    profile = profile_text(entity, facts)
    return field_values(entity) | {"profile": profile, "text_hash": text_hash(profile)}


def entity_from_row(row: Mapping[str, Any]) -> Entity:
    return _record(Entity, ENTITY_COLUMNS, row)


def profile_text(entity: Entity, facts: list[Fact]) -> str:
    active = [f for f in facts if f.kind == "fact" and f.status == "active"]
    newest = sorted(active, key=lambda f: f.date, reverse=True)[:NEWEST_FACTS]
    parts = [entity.name, *entity.aliases, entity.role, entity.team, *(f.text for f in newest)]
    return " | ".join(part for part in parts if part)[:PROFILE_LENGTH]


def fact_row(fact: Fact, entity: Entity | None = None) -> dict[str, Any]:
    return field_values(fact) | {"text_hash": fact_hash(fact.text, entity)}


def fact_hash(text: str, entity: Entity | None) -> str:
    return text_hash(strip_subject(text, entity))


def fact_from_row(row: Mapping[str, Any]) -> Fact:
    return _record(Fact, FACT_COLUMNS, row)


def _record(layout: type[Record], columns: list[str], row: Mapping[str, Any]) -> Record:
    values = ((name, row[name]) for name in columns)
    return layout(**{name: tuple(v) if isinstance(v, list) else v for name, v in values})
