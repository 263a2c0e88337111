"""The tables of the index, and the version that names their shape.

Rows refer to documents by path and to vectors by the hash of the text they were made from, so a
moved file keeps its vectors and an edit re-embeds only what changed.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 1

_texts = pa.list_(pa.field("item", pa.string()))

DOCUMENTS = pa.schema(
    [
        pa.field("key", pa.int64(), nullable=False),
        pa.field("path", pa.string(), nullable=False),
        pa.field("id", pa.string()),
        pa.field("title", pa.string()),
        pa.field("date", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("subtype", pa.string()),
        pa.field("tags", _texts),
        pa.field("attendees", pa.string()),
        pa.field("references", _texts),
        pa.field("wikilinks", _texts),
        pa.field("frontmatter", pa.string()),
        pa.field("body", pa.string()),
        pa.field("body_line", pa.int32()),
        pa.field("text", pa.string()),
        pa.field("content_hash", pa.string(), nullable=False),
        pa.field("version", pa.string(), nullable=False),
        pa.field("size", pa.int64()),
        pa.field("problems", pa.string()),
    ]
)

CHUNKS = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("version", pa.string(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("heading", pa.string()),
        pa.field("text", pa.string()),
        pa.field("line_start", pa.int32()),
        pa.field("line_end", pa.int32()),
        pa.field("text_hash", pa.string(), nullable=False),
    ]
)

ENTITIES = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("type", pa.string()),
        pa.field("path", pa.string()),
        pa.field("aliases", _texts),
        pa.field("role", pa.string()),
        pa.field("team", pa.string()),
        pa.field("members", _texts),
        pa.field("emails", _texts),
        pa.field("profile", pa.string()),
        pa.field("text_hash", pa.string(), nullable=False),
    ]
)

FACTS = pa.schema(
    [
        pa.field("fact_id", pa.int64(), nullable=False),
        pa.field("entity_id", pa.string(), nullable=False),
        pa.field("kind", pa.string()),
        pa.field("text", pa.string()),
        pa.field("date", pa.string()),
        pa.field("path", pa.string()),
        pa.field("line", pa.int32()),
        pa.field("status", pa.string()),
        pa.field("done", pa.bool_()),
        pa.field("sources", _texts),
        pa.field("confidence", pa.float64()),
        pa.field("text_hash", pa.string(), nullable=False),
    ]
)

LINKS = pa.schema(
    [
        pa.field("entity_id", pa.string(), nullable=False),
        pa.field("path", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("count", pa.int32(), nullable=False),
    ]
)

META = pa.schema([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.string())])


def vectors_schema(dimension: int) -> Any:
    """Return the schema of the vector table: one row per distinct text."""
    return pa.schema(
        [
            pa.field("text_hash", pa.string(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False),
        ]
    )


def document_key(path: str) -> int:
    """Return the 63-bit integer that stands for a path where text would be slow.

    100,000 paths collide with probability 5e-10.
    """
    return int.from_bytes(blake2b(path.encode(), digest_size=8).digest(), "big") >> 1


def document_version(path: str, content_hash: str) -> str:
    """Return what a document and its chunks agree on: 32 hex digits of path and content.

    Chunks of another version than their document's are not there for a reader.
    """
    return text_hash(f"{path}\0{content_hash}")


def text_hash(text: str) -> str:
    """Return the name of a text's vector: 32 hex digits."""
    return blake2b(text.encode(), digest_size=16).hexdigest()
