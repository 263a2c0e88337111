"""The JSON of a search. Names and order are a contract: docs/cli.md, tests/contract/."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult


def search_json(response: SearchResponse) -> dict[str, Any]:
    """Return what `--json` prints. `explain` is null unless it was asked for."""
    return {
        "query": response.query,
        "results": [_result(result) for result in response.results],
        "meta": _meta(response.meta),
    }


def _result(result: SearchResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "title": result.title,
        "date": result.date or None,
        "doc_type": result.doc_type,
        "score": result.score,
        "snippet": result.snippet,
        "explain": result.explain,
        "line": result.line,
        "matches": result.matches,
    }


def _meta(meta: SearchMeta) -> dict[str, Any]:
    return {
        "search_mode": meta.search_mode,
        "search_mode_reason": meta.search_mode_reason,
        "pass1_entities": [asdict(entity) for entity in meta.pass1_entities],
        "path_filter": meta.path_filter,
        "timings": dict(meta.timings),
        "total_matched": meta.total_matched,
        "total_below_floor": meta.total_below_floor,
        "in_scope": meta.in_scope,
        "vector_share": meta.vector_share,
        "notes": meta.notes,
        "explain": meta.explain,
    }
