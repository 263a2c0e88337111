"""`kb_search` and `kb_get`: search by meaning for agents, one row per entity or document.

`score` is the final score of the search, 0..1: alpha x relevance of the document + (1 - alpha) x
how much it belongs to the entities the query names. Below `VECTOR_FLOOR` nothing is a result, so that a query off all topics gives none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import ConfigError
from kbx_tui.search.results.response import SearchResult
from kbx_tui.tools.contracts.arguments import KbGet, KbSearch, SearchFilters
from kbx_tui.tools.redaction.public_search import public_search
from kbx_tui.tools.redaction.redacted_text import redact
from kbx_tui.tools.redaction.withheld import identify_open, open_kinds, read_open, withheld

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.knowledge.records import Document, Entity

VOICE_RESULTS = 3
"""Nobody listens to more."""
SNIPPET_LENGTH = 200
NOT_INDEXED = "there is no index yet; `kbx index` makes it"


def kb_search(kb: KnowledgeBase, given: KbSearch) -> dict[str, Any]:
    """Return the `data` of an answer. Raises ConfigError for a type that is not there."""
    voice = given.capabilities is not None and given.capabilities.voice
    top_k = min(given.top_k, VOICE_RESULTS) if voice else given.top_k
    filters = given.filters or SearchFilters.model_validate({})
    applied = filters.model_dump(exclude_none=True, by_alias=True)
    clamped = top_k < given.top_k
    if len(given.query.strip()) < 3:
        raise ConfigError("query must have at least 3 characters besides spaces")
    if not kb.is_indexed():
        return _data(given, [], applied, clamped=clamped, notes=[NOT_INDEXED])
    _require_kind(kb, filters.type)
    response = public_search(
        kb,
        given.query,
        limit=top_k,
        path=filters.path,
        doc_types=[filters.type] if filters.type else None,
        since=filters.since,
        until=filters.until,
        tags=[filters.tag] if filters.tag else [],
        entities=[filters.entity] if filters.entity else [],
    )
    return _data(
        given,
        _rows(kb, response.results, with_snippets=given.include_snippets),
        applied,
        clamped=clamped,
        notes=list(response.meta.notes),
        total_matched=response.meta.total_matched,
        total_below_floor=response.meta.total_below_floor,
    )


def kb_get(kb: KnowledgeBase, given: KbGet) -> dict[str, Any]:
    """Return the `data` of an answer: a page as it stands on disk, which counts as opened.

    Raises NotFound.
    """
    path, entity = identify_open(kb, given.id)
    if not path and entity is not None:
        return _without_page(kb, entity)
    document = read_open(kb, path, given.id)
    text = redact(document)
    shown = text[given.offset : given.offset + given.max_chars]
    end = given.offset + len(shown)
    if given.offset == 0:  # to read on is not to open once more
        kb.opened(path)
    return {
        "id": kb.document_ids([path])[path],
        "type": entity.type if entity else document.kind,
        "title": entity.name if entity else document.title,
        "content": shown,
        "metadata": _get_metadata(kb, entity, document),
        "chunks_count": len(kb.chunk_lines([path]).get(path, ())),
        "total_chars": len(text),
        "next_offset": end if shown and end < len(text) else None,
    }


def _data(
    given: KbSearch,
    rows: list[dict[str, Any]],
    applied: dict[str, str],
    *,
    clamped: bool,
    notes: list[str],
    total_matched: int = 0,
    total_below_floor: int = 0,
) -> dict[str, Any]:
    return {
        "results": rows,
        "total_found": len(rows),
        "query": given.query,
        "filters_applied": applied or None,
        "clamped": clamped,
        "total_matched": total_matched,
        "total_below_floor": total_below_floor,
        "notes": notes,
    }


def _require_kind(kb: KnowledgeBase, kind: str | None) -> None:
    kinds = open_kinds(kb)
    if kind is not None and kinds and kind not in kinds:
        raise ConfigError(f"filters.type {kind!r} is not one of {', '.join(kinds)}")


def _rows(
    kb: KnowledgeBase, results: Sequence[SearchResult], *, with_snippets: bool
) -> list[dict[str, Any]]:
    paths = [result.path for result in results]
    ids, chunks = kb.document_ids(paths), kb.chunk_lines(paths)
    rows = []
    for result in results:
        lines = chunks.get(result.path, ())
        at = next((i for i, (_, last) in enumerate(lines) if result.line <= last), 0)
        known = ids.get(result.path, result.path)
        entity = kb.identify(result.path)[1] if result.path in ids else None
        rows.append(
            {
                "id": known,
                "type": result.doc_type,
                "title": result.title,
                "snippet": result.snippet[:SNIPPET_LENGTH] if with_snippets else None,
                "score": min(max(result.score, 0.0), 1.0),
                "source_type": "kb_document",
                "last_updated": result.date or None,
                "metadata": {
                    "file_path": result.path,
                    "chunk_index": at,
                    "total_chunks": len(lines),
                    "entity_id": entity.id if entity else None,
                    "date": result.date or None,
                    "line": result.line,
                },
            }
        )
    return rows


def _get_metadata(
    kb: KnowledgeBase, entity: Entity | None, document: Document | None
) -> dict[str, Any]:
    hidden = withheld(kb).ids
    return {
        "file_path": document.path if document else None,
        "date": (document.date or None) if document else None,
        "entity_id": entity.id if entity else None,
        "aliases": list(entity.aliases) if entity else [],
        "role": (entity.role or None) if entity else None,
        "team": (entity.team or None) if entity else None,
        "members": [one for one in entity.members if one not in hidden] if entity else [],
    }


def _without_page(kb: KnowledgeBase, entity: Entity) -> dict[str, Any]:
    """A team that only others name has nothing to read, but members."""
    return {
        "id": entity.id,
        "type": entity.type,
        "title": entity.name,
        "content": "",
        "metadata": _get_metadata(kb, entity, None),
        "chunks_count": 0,
        "total_chars": 0,
        "next_offset": None,
    }
