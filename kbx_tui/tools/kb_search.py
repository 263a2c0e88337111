"""`kb_search` and `kb_get`: search and reading for agents, one row per entity or document.

`score` is the final score of the search, 0..1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.records import Document, Entity
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import SearchResult
from kbx_tui.tools.contracts.arguments import KbGet, KbSearch, SearchFilters
from kbx_tui.tools.redaction.hidden_pages import (
    hidden_pages,
    identify_visible,
    read_visible,
    visible_kinds,
)
from kbx_tui.tools.redaction.public_search import public_search
from kbx_tui.tools.redaction.redacted_text import redact

VOICE_RESULTS = 3
"""Maximum number of results in an answer that is read aloud."""
SNIPPET_LENGTH = 200
"""In characters."""
NOT_INDEXED = "there is no index yet; `kbx index` builds it"


def search_data(kb: KnowledgeBase, args: KbSearch) -> dict[str, Any]:
    """Return the `data` of `kb_search`. Raises ConfigError for an unknown document type."""
    voice = args.capabilities is not None and args.capabilities.voice
    top_k = min(args.top_k, VOICE_RESULTS) if voice else args.top_k
    filters = args.filters or SearchFilters.model_validate({})
    data: dict[str, Any] = {
        "results": [],
        "total_found": 0,
        "query": args.query,
        "filters_applied": filters.model_dump(exclude_none=True, by_alias=True) or None,
        "clamped": top_k < args.top_k,
        "total_matched": 0,
        "total_below_floor": 0,
        "notes": [NOT_INDEXED],
    }
    if len(args.query.strip()) < 3:
        raise ConfigError("query must have at least 3 characters besides spaces")
    if not kb.is_indexed():
        return data
    kinds = visible_kinds(kb)
    if filters.type is not None and kinds and filters.type not in kinds:
        raise ConfigError(f"filters.type {filters.type!r} is not one of {', '.join(kinds)}")
    request = SearchRequest(
        args.query,
        limit=top_k,
        path=filters.path,
        doc_types=[filters.type] if filters.type else (),
        since=filters.since,
        until=filters.until,
        tags=[filters.tag] if filters.tag else (),
        entities=[filters.entity] if filters.entity else (),
    )
    response = public_search(kb, request)
    rows = _rows(kb, response.results, with_snippets=args.include_snippets)
    return data | {
        "results": rows,
        "total_found": len(rows),
        "total_matched": response.meta.total_matched,
        "total_below_floor": response.meta.total_below_floor,
        "notes": list(response.meta.notes),
    }


def get_data(kb: KnowledgeBase, args: KbGet) -> dict[str, Any]:
    """Return the `data` of `kb_get`: a page as it is on disk, which counts as opened.

    Raises NotFound.
    """
    path, entity = identify_visible(kb, args.id)
    if not path and entity is not None:
        return _entity_without_page(kb, entity)
    document = read_visible(kb, path, args.id)
    text = redact(document)
    content = text[args.offset : args.offset + args.max_chars]
    end = args.offset + len(content)
    if args.offset == 0:  # later parts do not count as openings
        kb.opened(path)
    return {
        "id": kb.document_ids([path])[path],
        "type": entity.type if entity else document.kind,
        "title": entity.name if entity else document.title,
        "content": content,
        "metadata": _metadata(kb, entity, document),
        "chunks_count": len(kb.chunk_lines([path]).get(path, ())),
        "total_chars": len(text),
        "next_offset": end if content and end < len(text) else None,
    }


def _rows(
    kb: KnowledgeBase, results: Sequence[SearchResult], *, with_snippets: bool
) -> list[dict[str, Any]]:
    paths = [result.path for result in results]
    ids, chunk_lines = kb.document_ids(paths), kb.chunk_lines(paths)
    rows = []
    for result in results:
        chunks = chunk_lines.get(result.path, ())
        chunk_index = next((i for i, (_, last) in enumerate(chunks) if result.line <= last), 0)
        entity = kb.identify(result.path)[1] if result.path in ids else None
        rows.append(
            {
                "id": ids.get(result.path, result.path),
                "type": result.doc_type,
                "title": result.title,
                "snippet": result.snippet[:SNIPPET_LENGTH] if with_snippets else None,
                "score": min(max(result.score, 0.0), 1.0),
                "source_type": "kb_document",
                "last_updated": result.date or None,
                "metadata": {
                    "file_path": result.path,
                    "chunk_index": chunk_index,
                    "total_chunks": len(chunks),
                    "entity_id": entity.id if entity else None,
                    "date": result.date or None,
                    "line": result.line,
                },
            }
        )
    return rows


def _metadata(
    kb: KnowledgeBase, entity: Entity | None, document: Document | None
) -> dict[str, Any]:
    hidden_ids = hidden_pages(kb).ids
    members = entity.members if entity else ()
    return {
        "file_path": document.path if document else None,
        "date": (document.date or None) if document else None,
        "entity_id": entity.id if entity else None,
        "aliases": list(entity.aliases) if entity else [],
        "role": (entity.role or None) if entity else None,
        "team": (entity.team or None) if entity else None,
        "members": [member for member in members if member not in hidden_ids],
    }


def _entity_without_page(kb: KnowledgeBase, entity: Entity) -> dict[str, Any]:
    """Return the data of an entity that is only mentioned elsewhere: a team with members."""
    return {
        "id": entity.id,
        "type": entity.type,
        "title": entity.name,
        "content": "",
        "metadata": _metadata(kb, entity, None),
        "chunks_count": 0,
        "total_chars": 0,
        "next_offset": None,
    }
