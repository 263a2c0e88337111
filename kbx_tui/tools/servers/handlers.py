"""The handler of each method: validated arguments in, the JSON of its answer out.

Everything here needs the engine, so `dispatch` imports it with the first call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

from kbx_tui import __version__
from kbx_tui.api import KnowledgeBase
from kbx_tui.errors import EmbeddingError, IndexFault
from kbx_tui.search.request import SearchRequest
from kbx_tui.tools import kb_search
from kbx_tui.tools.contracts import arguments
from kbx_tui.tools.json.links_json import links_json
from kbx_tui.tools.json.search_json import experts_json, search_json
from kbx_tui.tools.json.similarity_json import check_json, field_json
from kbx_tui.tools.json.writing_json import written_json
from kbx_tui.tools.redaction.public_experts import public_experts
from kbx_tui.tools.redaction.public_links import public_links
from kbx_tui.tools.redaction.public_search import public_search
from kbx_tui.tools.redaction.visible_pages import visible_pages

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
    (check,) = kb.check_similar([args.text], **options)
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
    return written_json(kb.reword_fact(**args.model_dump()))


def supersede(kb: KnowledgeBase, args: arguments.KbxMemorySupersede) -> dict[str, Any]:
    visible_pages(kb).fact(args.fact_id)
    return written_json(kb.supersede_fact(**args.model_dump()))


def delete_fact(kb: KnowledgeBase, args: arguments.KbxMemoryDeleteFact) -> dict[str, Any]:
    visible_pages(kb).fact(args.fact_id)
    return written_json(kb.delete_fact(**args.model_dump()))


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
    "kb.search": partial(_with_envelope, "kb_search", kb_search.search_data),
    "kb.get": partial(_with_envelope, "kb_get", kb_search.get_data),
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
