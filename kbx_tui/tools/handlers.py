"""The handler of each method: validated arguments in, the JSON of its answer out.

Everything here needs the engine, so `dispatch` imports it with the first call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from kbx_tui import __version__
from kbx_tui.api import KnowledgeBase
from kbx_tui.api.documents import unknown_id
from kbx_tui.errors import ConfigError, EmbeddingError, IndexFault
from kbx_tui.knowledge.fields import DOCUMENT_KINDS
from kbx_tui.knowledge.records import Document, Entity, Fact
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.notes import NOT_INDEXED
from kbx_tui.search.results.response import SearchResult
from kbx_tui.tools import arguments
from kbx_tui.tools.arguments import KbGet, KbSearch, SearchFilters
from kbx_tui.tools.json_output import (
    check_json,
    completeness_json,
    dates_json,
    experts_json,
    field_json,
    links_json,
    search_json,
    written_json,
)
from kbx_tui.tools.public_answers import public_experts, public_links, public_search
from kbx_tui.tools.visible_pages import VisiblePages, visible_pages

VOICE_RESULTS = 3
"""Maximum number of results in an answer that is read aloud."""
SNIPPET_LENGTH = 200
"""In characters."""
NEWER_FILE = "the file changed since it was indexed: searches and metadata may not know its content"


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
        "typed_filters": [],
        "clamped": top_k < args.top_k,
        "total_matched": 0,
        "total_below_floor": 0,
        "in_scope": 0,
        "dates": [],
        "notes": [NOT_INDEXED],
    }
    if len(args.query.strip()) < 3:
        raise ConfigError("query must have at least 3 characters besides spaces")
    if not kb.is_indexed():
        return data
    _require_known_type(kb, filters.type)
    pages = visible_pages(kb)
    request = SearchRequest(
        args.query,
        limit=top_k,
        path=filters.path,
        doc_types=[filters.type] if filters.type else (),
        since=filters.since,
        until=filters.until,
        tags=[filters.tag] if filters.tag else (),
        entities=[filters.entity] if filters.entity else (),
        dates=args.dates,
    )
    response = public_search(kb, pages, request)
    rows = _rows(kb, response.results, with_snippets=args.include_snippets)
    return data | {
        "results": rows,
        "total_found": len(rows),
        "total_matched": response.meta.total_matched,
        "total_below_floor": response.meta.total_below_floor,
        "in_scope": response.meta.in_scope,
        **completeness_json(response.meta),
        "typed_filters": list(response.meta.typed_filters),
        "dates": dates_json(response.meta.dates),
        "notes": list(response.meta.notes),
    }


def _require_known_type(kb: KnowledgeBase, name: str | None) -> None:
    """Raise ConfigError for a type that no document has and no document could have.

    A type that exists elsewhere but not in this base is an empty answer with a note.
    """
    if name is None:
        return
    kinds = visible_pages(kb).kinds()
    known = DOCUMENT_KINDS.union(kb.settings.entities.types)
    if kinds and name not in kinds and name not in known:
        valid = ", ".join(sorted(known.union(kinds)))
        raise ConfigError(f"filters.type {name!r} is not one of {valid}")


def get_data(kb: KnowledgeBase, args: KbGet) -> dict[str, Any]:
    """Return the `data` of `kb_get`: a page as it is on disk, which counts as opened, or a fact.

    Raises NotFound.
    """
    pages = visible_pages(kb)
    if isinstance(args.id, int) or args.id.isdecimal():
        return _fact_data(kb, pages, pages.fact(int(args.id)))
    path, entity = pages.identify(args.id)
    page = pages.page(path) if path else None
    if page is None:
        if entity is None:
            raise unknown_id(args.id)
        return _entity_without_page(entity)
    document, text = page.document, page.body
    content = text[args.offset : args.offset + args.max_chars]
    end = args.offset + len(content)
    if args.offset == 0:  # later parts do not count as openings
        kb.documents.opened(path)
    return {
        "page": path,
        "id": kb.documents.ids([path])[path],
        "type": entity.type if entity else document.kind,
        "title": entity.name if entity else document.title,
        "content": content,
        "metadata": _metadata(entity, document),
        "chunks_count": len(kb.documents.chunk_lines([path]).get(path, ())),
        "total_chars": len(text),
        "next_offset": end if content and end < len(text) else None,
        "fact": None,
        "notes": [] if kb.documents.is_as_indexed(page) else [NEWER_FILE],
    }


def _rows(
    kb: KnowledgeBase, results: Sequence[SearchResult], *, with_snippets: bool
) -> list[dict[str, Any]]:
    paths = [result.path for result in results]
    ids, chunk_lines = kb.documents.ids(paths), kb.documents.chunk_lines(paths)
    rows = []
    for result in results:
        chunks = chunk_lines.get(result.path, ())
        chunk_index = next((i for i, (_, last) in enumerate(chunks) if result.line <= last), 0)
        entity = kb.documents.identify(result.path)[1] if result.path in ids else None
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


def _metadata(entity: Entity | None, document: Document | None) -> dict[str, Any]:
    return {
        "file_path": document.path if document else None,
        "date": (document.date or None) if document else None,
        "entity_id": entity.id if entity else None,
        "aliases": list(entity.aliases) if entity else [],
        "role": (entity.role or None) if entity else None,
        "team": (entity.team or None) if entity else None,
        "members": list(entity.members) if entity else [],
    }


def _entity_without_page(entity: Entity) -> dict[str, Any]:
    """Return the data of an entity that is only mentioned elsewhere: a team with members."""
    return {
        "page": entity.id,
        "id": entity.id,
        "type": entity.type,
        "title": entity.name,
        "content": "",
        "metadata": _metadata(entity, None),
        "chunks_count": 0,
        "total_chars": 0,
        "next_offset": None,
        "fact": None,
        "notes": [],
    }


def _fact_data(kb: KnowledgeBase, pages: VisiblePages, fact: Fact) -> dict[str, Any]:
    """Return the data of a fact or open item: its text, and where and since when it is stated."""
    path, entity = pages.identify(fact.path)
    page = pages.page(path)
    return {
        "page": path,
        "id": str(fact.fact_id),
        "type": fact.kind,
        "title": entity.name if entity else page.document.title if page else "",
        "content": fact.text,
        "metadata": _metadata(entity, page.document if page else None)
        | {"date": fact.date or None},
        "chunks_count": 0,
        "total_chars": len(fact.text),
        "next_offset": None,
        "fact": {
            "fact_id": fact.fact_id,
            "line": fact.line,
            "status": fact.status,
            "done": fact.done,
            "sources": list(fact.sources),
            "confidence": fact.confidence,
        },
        "notes": [] if page is None or kb.documents.is_as_indexed(page) else [NEWER_FILE],
    }


Handler = Callable[[KnowledgeBase, Any], dict[str, Any]]


def experts(kb: KnowledgeBase, args: arguments.KbExperts) -> dict[str, Any]:
    return experts_json(public_experts(kb, visible_pages(kb), **args.model_dump()))


def capabilities(kb: KnowledgeBase, args: arguments.KbCapabilities) -> dict[str, Any]:
    """Return the capabilities, to which `dispatch` adds methods and writes."""
    kinds = visible_pages(kb).kinds() if kb.is_indexed() else {}
    transports = ["mcp-stdio", "mcp-http"] if find_spec("mcp") else []
    return {
        "version": __version__,
        "methods": [],
        "retrieval": _retrieval_modes(kb) if kinds else [],
        "review_gated": False,
        "writes": False,
        "transports": [*transports, "jsonl"],
        "types": list(kinds),
        "documents": sum(kinds.values()),
        "notes": list(kb.notes()),
    }


def search(kb: KnowledgeBase, args: arguments.KbxSearch) -> dict[str, Any]:
    return search_json(public_search(kb, visible_pages(kb), SearchRequest(**args.model_dump())))


def links(kb: KnowledgeBase, args: arguments.KbxLinks) -> dict[str, Any]:
    return links_json(public_links(kb, visible_pages(kb), args.id), kb.notes())


def memory_similar(kb: KnowledgeBase, args: arguments.KbxMemorySimilar) -> dict[str, Any]:
    options = args.model_dump(exclude={"text"})
    entity = visible_pages(kb).find(args.entity) if args.entity is not None else None
    if entity is not None:
        options["entity"] = entity.id
    (check,) = kb.similarity.check([args.text], **options)
    answer = check_json(check)
    return {**answer, "scope": {**answer["scope"], "entity_id": entity.id if entity else ""}}


def similar_field(kb: KnowledgeBase, args: arguments.KbxEntitySimilarField) -> dict[str, Any]:
    entity = visible_pages(kb).find(args.entity)
    check = kb.entity_similar_field(entity.id, args.field, args.value, threshold=args.threshold)
    return {**field_json(check), "entity_id": entity.id}


def memory_add(kb: KnowledgeBase, args: arguments.KbxMemoryAdd) -> dict[str, Any]:
    options = args.model_dump() | {"entity": visible_pages(kb).find(args.entity).id}
    return written_json(kb.memory_add(**options))


def edit_fact(kb: KnowledgeBase, args: arguments.KbxMemoryEditFact) -> dict[str, Any]:
    visible_pages(kb).fact(args.fact_id)  # raises for a redacted one
    return written_json(kb.pages.reword_fact(**args.model_dump()))


def supersede(kb: KnowledgeBase, args: arguments.KbxMemorySupersede) -> dict[str, Any]:
    visible_pages(kb).fact(args.fact_id)
    return written_json(kb.pages.supersede_fact(**args.model_dump()))


def delete_fact(kb: KnowledgeBase, args: arguments.KbxMemoryDeleteFact) -> dict[str, Any]:
    visible_pages(kb).fact(args.fact_id)
    return written_json(kb.pages.delete_fact(**args.model_dump()))


def _retrieval_modes(kb: KnowledgeBase) -> list[str]:
    """Return the modes that work now: vectors only if the model loads and the index has some."""
    try:
        kb.warm()
        share = kb.retrieve("anything").vector_share
    except (EmbeddingError, IndexFault):
        return ["fts"]
    return ["fts", "vector", "two_pass"] if share > 0.0 else ["fts"]


def _with_envelope(tool: str, handler: Handler, kb: KnowledgeBase, args: Any) -> dict[str, Any]:
    """Return the data of a handler in the envelope of kb_search and kb_get."""
    start = time.perf_counter()
    data = handler(kb, args)
    duration_ms = round((time.perf_counter() - start) * 1000, 3)
    return {"ok": True, "data": data, "meta": {"tool": tool, "duration_ms": duration_ms}}


HANDLERS: Mapping[str, Handler] = {
    "kb.search": partial(_with_envelope, "kb_search", search_data),
    "kb.get": partial(_with_envelope, "kb_get", get_data),
    "kb.experts": experts,
    "kb.capabilities": capabilities,
    "kbx.search": search,
    "kbx.links": links,
    "kbx.memory_similar": memory_similar,
    "kbx.entity_similar_field": similar_field,
    "kbx.memory_add": memory_add,
    "kbx.memory_edit_fact": edit_fact,
    "kbx.memory_supersede": supersede,
    "kbx.memory_delete_fact": delete_fact,
}
"""By name of the method."""
