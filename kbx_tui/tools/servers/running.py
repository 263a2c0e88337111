"""What each method does: arguments that were checked in, the JSON of its answer out.

What needs the engine is imported by the call: a server says hello before that is loaded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from kbx_tui import __version__
from kbx_tui.errors import EmbeddingError, IndexFault
from kbx_tui.tools.contracts import arguments
from kbx_tui.tools.json.experts_json import experts_json
from kbx_tui.tools.json.search_json import search_json
from kbx_tui.tools.json.similarity_json import check_json, field_json
from kbx_tui.tools.json.writing_json import written_json

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

Given = TypeVar("Given")


def run_kb_search(kb: KnowledgeBase, given: arguments.KbSearch) -> dict[str, Any]:
    from kbx_tui.tools.kb_search import kb_search

    return _enveloped("kb_search", kb_search, kb, given)


def run_get(kb: KnowledgeBase, given: arguments.KbGet) -> dict[str, Any]:
    from kbx_tui.tools.kb_search import kb_get

    return _enveloped("kb_get", kb_get, kb, given)


def run_experts(kb: KnowledgeBase, given: arguments.KbExperts) -> dict[str, Any]:
    from kbx_tui.tools.redaction.public_experts import public_experts

    return experts_json(
        public_experts(
            kb, given.topic, limit=given.limit, min_claims=given.min_claims, weight=given.weight
        )
    )


def run_search(kb: KnowledgeBase, given: arguments.KbxSearch) -> dict[str, Any]:
    from kbx_tui.tools.redaction.public_search import public_search

    response = public_search(
        kb,
        given.query,
        limit=given.limit,
        path=given.path,
        fast=given.fast,
        hierarchy=given.hierarchy,
        alpha=given.hierarchy_alpha,
        threshold=given.hierarchy_threshold,
        max_entities=given.max_entities,
        gate=given.gate,
        parent=given.parent,
        hotness=given.hotness,
        doc_types=given.types,
        since=given.since,
        until=given.until,
        tags=given.tags,
        entities=given.entities,
        explain=given.explain,
    )
    return search_json(response)


def run_memory_similar(kb: KnowledgeBase, given: arguments.KbxMemorySimilar) -> dict[str, Any]:
    from kbx_tui.tools.redaction.public_text import public_check
    from kbx_tui.tools.redaction.withheld import open_entity

    (check,) = kb.check_similar(
        [given.text],
        entity=None if given.entity is None else open_entity(kb, given.entity),
        path=given.path,
        threshold=given.threshold,
        limit=given.limit,
        chunks=given.chunks,
    )
    return check_json(public_check(kb, check))


def run_similar_field(kb: KnowledgeBase, given: arguments.KbxEntitySimilarField) -> dict[str, Any]:
    from kbx_tui.tools.redaction.public_text import public_field
    from kbx_tui.tools.redaction.withheld import open_entity

    entity = open_entity(kb, given.entity)
    found = kb.entity_similar_field(entity, given.field, given.value, threshold=given.threshold)
    return field_json(public_field(kb, found, entity))


def run_memory_add(kb: KnowledgeBase, given: arguments.KbxMemoryAdd) -> dict[str, Any]:
    from kbx_tui.tools.redaction.public_text import public_written
    from kbx_tui.tools.redaction.withheld import open_entity

    written = kb.memory_add(
        given.text,
        entity=open_entity(kb, given.entity),
        kind=given.kind,
        date=given.date,
        source=given.source,
        force=given.force,
        dry_run=given.dry_run,
    )
    return written_json(public_written(kb, written))


def run_capabilities(kb: KnowledgeBase, given: arguments.KbCapabilities) -> dict[str, Any]:
    """Return what works now; which methods are on offer only the caller knows."""
    from kbx_tui.tools.redaction.withheld import open_kinds

    kinds = open_kinds(kb) if kb.is_indexed() else {}
    transports = ["mcp-stdio", "mcp-http"] if find_spec("mcp") else []
    return {
        "version": __version__,
        "methods": [],
        "retrieval": _retrieval(kb) if kinds else [],
        "review_gated": False,
        "writes": False,
        "transports": [*transports, "jsonl"],
        "types": list(kinds),
        "documents": sum(kinds.values()),
    }


def _retrieval(kb: KnowledgeBase) -> list[str]:
    """Return the ways that work: meaning only when the model loads and there are vectors."""
    try:
        kb.warm()
        share = kb.retrieve("anything").vector_share
    except (EmbeddingError, IndexFault):
        return ["fts"]
    return ["fts", "vector", "two_pass"] if share > 0.0 else ["fts"]


def _enveloped(
    tool: str,
    action: Callable[[KnowledgeBase, Given], dict[str, Any]],
    kb: KnowledgeBase,
    given: Given,
) -> dict[str, Any]:
    """Return the answer in the envelope that kb_search and kb_get have."""
    began = time.perf_counter()
    data = action(kb, given)
    spent = round((time.perf_counter() - began) * 1000, 3)
    return {"ok": True, "data": data, "meta": {"tool": tool, "duration_ms": spent}}
