"""The JSON of searches and expert rankings. Names and order are a contract, see docs/cli.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.experts.expert_ranking import ExpertRanking
    from kbx_tui.search.evidence.date_preference import PreferredDates
    from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult


def search_json(response: SearchResponse) -> dict[str, Any]:
    """Return the output of `kbx search --json`; `explain` is null unless requested."""
    return {
        "query": response.query,
        "results": [_result(result) for result in response.results],
        "meta": _meta(response.meta),
    }


def experts_json(ranking: ExpertRanking) -> dict[str, Any]:
    """Return the output of `kbx experts --json`."""
    return {
        "experts": [
            {
                "entity_id": expert.entity_id,
                "name": expert.name,
                "type": expert.type,
                "claim_count": expert.claim_count,
                "full_claim_count": expert.full_claim_count,
                "citation_count": expert.citation_count,
                "score": expert.score,
                "top_claim_ids": list(expert.top_claim_ids),
            }
            for expert in ranking.experts
        ],
        "topic": ranking.topic,
        "weight": ranking.weight,
        "total_matched": ranking.total_matched,
        "in_scope": ranking.in_scope,
        "notes": list(ranking.notes),
    }


def dates_json(dates: Sequence[PreferredDates]) -> list[dict[str, str | None]]:
    """Return the date words that were read: as typed, first and last day; null for an open end."""
    return [
        {"text": read.text, "from": read.first or None, "to": read.last or None} for read in dates
    ]


def completeness_json(meta: SearchMeta) -> dict[str, Any]:
    """Return that only candidates were scored, how many, and the recall; nothing if all were."""
    if meta.candidates is None:
        return {}
    return {"complete": False, "candidates": meta.candidates, "recall": meta.recall}


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
        "matches": [list(span) for span in result.matches],
    }


def _meta(meta: SearchMeta) -> dict[str, Any]:
    return {
        "search_mode": meta.search_mode,
        "search_mode_reason": meta.search_mode_reason,
        "pass1_entities": [asdict(entity) for entity in meta.pass1_entities],
        "path_filter": meta.path_filter,
        "typed_filters": list(meta.typed_filters),
        "dates": dates_json(meta.dates),
        "timings": dict(meta.timings),
        "total_matched": meta.total_matched,
        "total_below_floor": meta.total_below_floor,
        "in_scope": meta.in_scope,
        "vector_share": meta.vector_share,
        **completeness_json(meta),
        "notes": list(meta.notes),
        "explain": meta.explain,
    }
