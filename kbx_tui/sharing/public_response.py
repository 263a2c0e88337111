"""A search for other people: its response passes the same redaction filter as that of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import (
    PassOneEntity,
    SearchMeta,
    SearchResponse,
    SearchResult,
)
from kbx_tui.tools.contracts.search_answers import KbxSearchAnswer
from kbx_tui.tools.json.search_json import search_json
from kbx_tui.tools.redaction.passing_on import pass_on
from kbx_tui.tools.redaction.public_search import public_search
from kbx_tui.tools.redaction.visible_pages import visible_pages


def public_response(kb: KnowledgeBase, request: SearchRequest) -> SearchResponse:
    """Return the response to `request`, explained, as `kbx_search` would pass it on.

    Raises as `KnowledgeBase.search`; a hidden entity is not found.
    """
    request = replace(request, explain=True)
    response = SearchResponse(request.query, (), _NO_META)

    def answer() -> dict[str, Any]:
        nonlocal response
        response = public_search(kb, visible_pages(kb), request)
        return search_json(response)

    sent = {name: value for name, value in asdict(request).items() if value}
    passed = pass_on(kb, KbxSearchAnswer, answer, sent)
    found = {result.path: result for result in response.results}
    return replace(
        response,
        results=tuple(_result(found[row["path"]], row) for row in passed["results"]),
        meta=_meta(response.meta, passed["meta"]),
    )


def _result(result: SearchResult, row: Mapping[str, Any]) -> SearchResult:
    return replace(
        result,
        title=row["title"],
        date=row["date"] or "",
        doc_type=row["doc_type"],
        snippet=row["snippet"],
        matches=tuple(row["matches"]),
        explain=row["explain"],
    )


def _meta(meta: SearchMeta, row: Mapping[str, Any]) -> SearchMeta:
    """Return what was passed on of `meta`, without what only the filter needs."""
    dates = {read["text"] for read in row["dates"]}
    return replace(
        _NO_META,
        search_mode=row["search_mode"],
        search_mode_reason=row["search_mode_reason"],
        pass1_entities=tuple(PassOneEntity(**entity) for entity in row["pass1_entities"]),
        path_filter=row["path_filter"],
        total_matched=row["total_matched"],
        total_below_floor=row["total_below_floor"],
        in_scope=row["in_scope"],
        vector_share=row["vector_share"],
        candidates=row.get("candidates"),
        recall=row.get("recall"),
        notes=tuple(row["notes"]),
        dates=tuple(read for read in meta.dates if read.text in dates),
        typed_filters=tuple(row["typed_filters"]),
        explain=row["explain"],
    )


_NO_META = SearchMeta(
    search_mode="flat",
    search_mode_reason="",
    pass1_entities=(),
    path_filter=None,
    timings={},
    total_matched=0,
    in_scope=0,
    vector_share=0.0,
)
