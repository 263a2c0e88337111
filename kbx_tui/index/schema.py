"""Schemas of the tables, their version, and the hashes that link rows.

Rows refer to documents by path and to vectors by the hash of the embedded text, so a moved file
keeps its vectors and an edit only re-embeds what changed. No text is stored twice: what is searched
is made from the columns of a document, and a chunk is a part of its document's body.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 3
TEXT_RULES = 3
"""Number of the rules by which titles, searched texts and embedded texts are derived from files: an
index with another number is rebuilt, with the vectors of all texts that stay the same."""

TEXT, TEXTS = pa.string(), pa.list_(pa.field("item", pa.string()))


def _schema(*columns: tuple[Any, str]) -> Any:
    """Return the schema of columns given as (type, names); `!` marks a column without nulls."""
    return pa.schema(
        [
            pa.field(name.rstrip("!"), kind, nullable=not name.endswith("!"))
            for kind, names in columns
            for name in names.split()
        ]
    )


SCHEMAS = {
    "documents": _schema(
        (pa.int64(), "key!"),
        (TEXT, "path! id title date kind subtype"),
        (TEXTS, "aliases tags"),
        (TEXT, "attendees"),
        (TEXTS, "references links property_links"),
        (TEXT, "frontmatter body"),
        (pa.int32(), "body_line"),
        (pa.bool_(), "states_title"),
        (TEXT, "content_hash! version!"),
        (pa.int64(), "size"),
        (TEXT, "problems"),
    ),
    "chunks": _schema(
        (TEXT, "path! version!"),
        (pa.int32(), "ordinal! start! end!"),
        (TEXT, "heading"),
        (pa.int32(), "line_start line_end"),
        (TEXT, "text_hash!"),
    ),
    "entities": _schema(
        (TEXT, "id! name type path"),
        (TEXTS, "aliases"),
        (TEXT, "role team"),
        (TEXTS, "members emails"),
        (TEXT, "profile text_hash!"),
    ),
    "facts": _schema(
        (pa.int64(), "fact_id!"),
        (TEXT, "entity_id! kind text date path"),
        (pa.int32(), "line"),
        (TEXT, "status"),
        (pa.bool_(), "done"),
        (TEXTS, "sources"),
        (pa.float64(), "confidence"),
        (TEXT, "text_hash!"),
    ),
    "links": _schema((TEXT, "entity_id! path! kind!"), (pa.int32(), "count!")),
    "name_uses": _schema((TEXT, "path! word!"), (pa.int32(), "as_name! as_word!")),
    "meta": _schema((TEXT, "key! value")),
}
"""Schemas of all tables but `vectors`, by name."""


def vectors_schema(dimension: int) -> Any:
    """Return the schema of the table of vectors: one row per distinct text.

    Half precision moves a cosine by less than .0001 (docs/decisions/index-size.md).
    """
    return _schema((TEXT, "text_hash!"), (pa.list_(pa.float16(), dimension), "vector!"))


def document_key(path: str) -> int:
    """Return a 63-bit hash of a path, for the column `key`.

    100,000 paths collide with probability 5e-10.
    """
    return int.from_bytes(blake2b(path.encode(), digest_size=8).digest(), "big") >> 1


def document_version(path: str, content_hash: str) -> str:
    """Return the version that a document shares with its chunks: 32 hex digits of path and content.

    Readers ignore chunks whose version is not that of their document.
    """
    return text_hash(f"{path}\0{content_hash}")


def text_hash(text: str) -> str:
    """Return the hash that identifies the vector of a text: 32 hex digits."""
    return blake2b(text.encode(), digest_size=16).hexdigest()
