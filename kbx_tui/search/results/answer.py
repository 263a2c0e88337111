"""Builds the response of a search, the same for every surface, from a ranking. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from kbx_tui.search.query.english_words import topic_words
from kbx_tui.search.ranking.explain import explain
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.search.results.notes import find_few_answers, search_notes
from kbx_tui.search.results.response import (
    MAX_BY_DATE,
    PassOneEntity,
    SearchMeta,
    SearchResponse,
    SearchResult,
    Snippet,
)

SCORE_DIGITS = 4


def answer(
    ranking: Ranking,
    top: Sequence[Ranked],
    snippets: Sequence[Snippet],
    *,
    total_ms: float,
    with_explain: bool,
    sort: str = "score",
    notes: Sequence[str] = (),
    types: Collection[str],
    outdated: Sequence[str],
) -> SearchResponse:
    """Return the response for the given results; `snippets` are parallel to `top`.

    `notes` are sentences about the index, before those of `search_notes`, which has `types` and
    `outdated`.
    """
    evidence = ranking.evidence
    results = tuple(
        SearchResult(
            path=evidence.paths[ranked.row],
            title=evidence.titles[ranked.row],
            date=evidence.dates[ranked.row],
            doc_type=evidence.kinds[ranked.row],
            score=_rounded(ranked.score),
            snippet=snippet.text,
            line=snippet.line_start,
            matches=snippet.matches,
            explain=_explanation(ranking, ranked, snippet) if with_explain else None,
            is_cut=snippet.is_cut,
        )
        for ranked, snippet in zip(top, snippets, strict=True)
    )
    few = find_few_answers(ranking)
    meta = SearchMeta(
        search_mode=ranking.search_mode,
        search_mode_reason=ranking.search_mode_reason,
        pass1_entities=tuple(
            PassOneEntity(e.id, e.name, e.type, _rounded(e.score), e.path)
            for e in evidence.entities
        ),
        path_filter=evidence.scope.path or None,
        timings={**evidence.timings, "total_ms": round(total_ms, 3)},
        total_matched=ranking.total_matched,
        total_below_floor=ranking.total_below_floor,
        in_scope=evidence.scope.in_scope,
        vector_share=round(evidence.vector_share, SCORE_DIGITS),
        candidates=evidence.scope.candidates,
        recall=None if evidence.scope.complete else _rounded(evidence.scope.recall),
        searched=evidence.as_typed.query,
        dates=() if evidence.date_preference is None else evidence.date_preference.dates,
        typed_filters=tuple(map(str, evidence.scope.filters.typed)),
        topic="" if ranking.topic is None else topic_words(ranking.components.query),
        few_answers=few,
        notes=(*notes, *search_notes(ranking, few, types, outdated)),
        explain=_search_explanation(ranking, sort) if with_explain else None,
    )
    return SearchResponse(evidence.query, results, meta)


def _search_explanation(ranking: Ranking, sort: str) -> dict[str, Any]:
    evidence, scope = ranking.evidence, ranking.evidence.scope
    evaluated = np.ones(len(evidence)) if evidence.evaluated is None else evidence.evaluated
    status = "complete" if scope.complete else "truncated"
    pipeline = {"in_scope": scope.in_scope, "status": status}
    filters, tuning, dates = scope.filters, ranking.tuning, evidence.date_preference
    return {
        "document_query": ranking.components.query,
        "path": scope.path or None,
        "filters": {
            "types": list(filters.doc_types),
            "from": filters.since or None,
            "to": filters.until or None,
            "tags": list(filters.tags),
            "entities": list(filters.entities),
        },
        "dates": None if dates is None else "filter" if dates.is_filter else "prefer",
        "hierarchy_alpha": tuning.alpha,
        "hierarchy_threshold": tuning.entity_threshold,
        "max_entities": tuning.max_entities,
        "preset": tuning.preset,
        "gate": tuning.gate,
        "parent": tuning.parent,
        "pinned": sorted(tuning.pinned),
        "muted": sorted(tuning.muted),
        "sort": sort,
        "kept_entities": [entity.id for entity in ranking.kept_entities],
        "drawn_to": [
            {"path": document.path, "title": document.title}
            for document in ranking.feedback_documents
        ],
        "documents": scope.total,
        "evaluated": int(np.count_nonzero(evaluated)),
        "stopped_by": evidence.stopped_by,
        "reranker": evidence.reranker.model if evidence.reranker is not None else None,
        "reranked": len(ranking.reranker_scores),
        "lexical": pipeline,
        "vector": None if evidence.fast else dict(pipeline),
    }


def _explanation(ranking: Ranking, ranked: Ranked, snippet: Snippet) -> dict[str, Any]:
    why, components = explain(ranking, ranked), ranking.components
    lent = components.doc_relevance[ranked.row] - components.own_relevance[ranked.row]
    return {
        "final_score": _rounded(ranked.score),
        "doc_relevance": _rounded(ranked.doc_relevance),
        "answered": _rounded(ranked.answered),
        "full_relevance": _rounded_or_none(why.full_relevance),
        "parent_entity_score": _rounded(ranked.parent_entity_score),
        "document_part": _rounded(ranked.document_part),
        "entity_part": _rounded(ranked.entity_part),
        "hotness_part": _rounded(ranked.frecency_part),
        "reranker_part": _rounded(ranked.reranker_part),
        "reranker_score": _rounded_or_none(ranked.reranker_score),
        "fts_score": _rounded(why.raw_lexical),
        "lexical_score": _rounded(why.lexical),
        "lexical_weight": _rounded(why.lexical_weight),
        "cosine": _rounded_or_none(why.cosine),
        "vector_score": _rounded(why.vector),
        "vector_weight": _rounded(why.vector_weight),
        "date_part": _rounded(why.date_part),
        "date_reason": why.date_reason or None,
        "lent": _rounded(float(lent)),  # a part of doc_relevance; why.propagated is one of answered
        "lent_by": why.propagated_from or None,
        "exact": ranked.known_item or None,
        "entities": [
            {
                "id": share.entity_id,
                "name": share.name,
                "score": _rounded(share.entity_score),
                "link_strength": _rounded(share.link_strength),
                "answered": _rounded(share.answered),
                "weight": _rounded(share.weight),
                "reason": share.reason,
                "share": _rounded(share.share),
            }
            for share in why.entities
        ],
        "matched_terms": [{"term": term, "body_count": count} for term, count in snippet.terms],
    }


def in_order(ranking: Ranking, sort: str, limit: int) -> list[Ranked]:
    """Return at most `limit` results: the best ones or, with `date`, the newest of the best.

    Results of the same date are ordered by score; those without a date come last.
    """
    if sort != "date":
        return list(ranking.top(limit))
    dates = ranking.evidence.dates
    best = ranking.top(MAX_BY_DATE)
    return sorted(best, key=lambda ranked: dates[ranked.row], reverse=True)[:limit]


def _rounded(number: float) -> float:
    return round(number, SCORE_DIGITS)


def _rounded_or_none(number: float | None) -> float | None:
    return None if number is None else _rounded(number)
