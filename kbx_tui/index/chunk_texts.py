"""The texts of chunks that were embedded, made from their documents: table chunks has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kbx_tui.index.document_rows import embedded_text
from kbx_tui.index.store import Store
from kbx_tui.index.where_clause import batched_clauses

CHUNK_TEXT_COLUMNS = ["path", "version", "ordinal", "start", "end", "text_hash"]
"""Columns of chunks that `read_chunk_texts` needs, and what it returns them by."""

DOCUMENTS_AT_ONCE = 500
"""Bodies read with one where clause."""


def read_chunk_texts(store: Store, chunks: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """Return what is embedded of each chunk, None where its document has another version.

    Raises IndexFault.
    """
    page_of: dict[str, tuple[str, str]] = {}
    paths = sorted({chunk["path"] for chunk in chunks})
    for clause in batched_clauses("path", paths, DOCUMENTS_AT_ONCE):
        table = store.rows("documents", ["version", "title", "body"], clause)
        page_of |= {row["version"]: (row["title"], row["body"]) for row in table.to_pylist()}
    texts: list[str | None] = []
    for chunk in chunks:
        title, body = page_of.get(chunk["version"], ("", None))
        if body is None:
            texts.append(None)
        else:
            text = body[chunk["start"] : chunk["end"]]
            texts.append(embedded_text(title, chunk["ordinal"], text))
    return texts
