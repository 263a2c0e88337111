"""Rows of documents and chunks, and the texts that are embedded.

Apart from `rows`, because finding headings imports a markdown parser, which a search does not need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from kbx_tui.index.rows import field_values
from kbx_tui.index.schema import document_key, document_version, text_hash
from kbx_tui.knowledge.parsing.markdown import states_title
from kbx_tui.knowledge.records import Chunk, Document

TITLE_LENGTH = 200
"""Characters of a title that are embedded with the first chunk of its document."""


def document_row(document: Document) -> dict[str, Any]:
    """Return the row of a document."""
    return field_values(document) | {
        "key": document_key(document.path),
        "attendees": _json([[a.name, a.email] for a in document.attendees]),
        "frontmatter": _json(document.frontmatter),
        "states_title": states_title(document.body, document.title),
        "version": document_version(document.path, document.content_hash),
        "problems": _json([[p.path, p.reason, p.line, p.skipped] for p in document.problems]),
    }


def chunk_rows(document: Document, chunks: Iterable[Chunk]) -> Iterator[dict[str, Any]]:
    """Yield the rows of all chunks of a document, in order."""
    version, start = document_version(document.path, document.content_hash), 0
    for chunk in chunks:
        end = start + len(chunk.text)
        yield {
            "path": document.path,
            "version": version,
            "ordinal": chunk.ordinal,
            "start": start,
            "end": end,
            "heading": chunk.heading,
            "line_start": chunk.line_start,
            "line_end": chunk.line_end,
            "text_hash": text_hash(embedded_text(document.title, chunk.ordinal, chunk.text)),
        }
        start = end


def embedded_text(title: str, ordinal: int, text: str) -> str:
    """Return what is embedded of the chunk `text` of a document with this title.

    A title that no heading states, as that of a note known by its file name, precedes the first
    chunk, as a heading would.
    """
    return text if ordinal or states_title(text, title) else f"# {title[:TITLE_LENGTH]}\n\n{text}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
