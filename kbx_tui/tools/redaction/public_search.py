"""Search responses without redacted pages, names and lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.knowledge.records import Document
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
from kbx_tui.search.results.snippets import make_snippet
from kbx_tui.tools.redaction.hidden_pages import HiddenPages, hidden_pages, identify_visible
from kbx_tui.tools.redaction.public_similarity import documents_with_redactions
from kbx_tui.tools.redaction.redacted_text import redact

UNNAMED = "[redacted]"
"""Replaces a hidden entity in an explanation, so that the shares still add up."""


def public_search(kb: KnowledgeBase, request: SearchRequest) -> SearchResponse:
    """Search as `KnowledgeBase.search` does, for readers who may not see what is redacted.

    Hidden pages are neither results nor counted as matches, as far as they would have been among
    the results. Raises as `KnowledgeBase.search`; a hidden entity is not found.
    """
    hidden = hidden_pages(kb)
    for entity_id in request.entities if hidden.ids else ():
        identify_visible(kb, entity_id)
    response = kb.search(replace(request, limit=request.limit + len(hidden.paths)))
    hidden = hidden_pages(kb)  # again: if there was no index, the search built one
    visible = [result for result in response.results if result.path not in hidden.paths]
    dropped = len(response.results) - len(visible)
    top = visible[: request.limit]
    marked = documents_with_redactions(kb, [result.path for result in top])
    results = tuple(
        _without_lines(result, marked[result.path], response.query)
        if result.path in marked
        else result
        for result in top
    )
    if not hidden.ids:
        return replace(response, results=results)
    return replace(
        response,
        results=tuple(_without_names(result, hidden) for result in results),
        meta=_public_meta(response.meta, hidden, dropped),
    )


def _without_lines(result: SearchResult, document: Document, query: str) -> SearchResult:
    """Return a result with a snippet of the redacted text."""
    snippet = make_snippet(redact(document), document.body_line, query)
    explain = result.explain
    if explain is not None:
        terms = [{"term": term, "body_count": count} for term, count in snippet.terms]
        explain = {**explain, "matched_terms": terms}
    return replace(
        result,
        snippet=snippet.text,
        matches=snippet.matches,
        line=snippet.line_start,
        explain=explain,
    )


def _without_names(result: SearchResult, hidden: HiddenPages) -> SearchResult:
    if result.explain is None:
        return result
    shares: list[Mapping[str, Any]] = [
        {**share, "id": UNNAMED, "name": UNNAMED} if share["id"] in hidden.ids else share
        for share in result.explain["entities"]
    ]
    return replace(result, explain={**result.explain, "entities": shares})


def _public_meta(meta: SearchMeta, hidden: HiddenPages, dropped: int) -> SearchMeta:
    explain = meta.explain
    if explain is not None:
        kept = [entity_id for entity_id in explain["kept_entities"] if entity_id not in hidden.ids]
        feedback = [page for page in explain["drawn_to"] if page["path"] not in hidden.paths]
        explain = {**explain, "kept_entities": kept, "drawn_to": feedback}
    return replace(
        meta,
        pass1_entities=tuple(
            entity for entity in meta.pass1_entities if entity.id not in hidden.ids
        ),
        total_matched=meta.total_matched - dropped,
        notes=tuple(note for note in meta.notes if not _mentions_any(note, hidden.names)),
        explain=explain,
    )


def _mentions_any(note: str, names: Iterable[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", note) for name in names)
