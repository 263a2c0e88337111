"""From a ranking to the answer every surface gives. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kbx_tui.search.evidence import Evidence
from kbx_tui.search.explain import explain
from kbx_tui.search.ranking import Ranked, Ranking
from kbx_tui.search.response import (
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
) -> SearchResponse:
    """Return the response for the given results and their snippets, in that order."""
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
        )
        for ranked, snippet in zip(top, snippets, strict=True)
    )
    meta = SearchMeta(
        search_mode=ranking.search_mode,
        search_mode_reason=ranking.search_mode_reason,
        pass1_entities=tuple(
            PassOneEntity(e.id, e.name, e.type, _rounded(e.score), e.path)
            for e in evidence.entities
        ),
        path_filter=evidence.scope.path or None,
        timings={**evidence.timings, "total_ms": round(total_ms, 3)},
        total_matched=int(ranking.included.sum()),
        in_scope=evidence.scope.in_scope,
        vector_share=round(evidence.vector_share, SCORE_DIGITS),
        notes=_notes(evidence),
        explain=_search_explanation(ranking) if with_explain else None,
    )
    return SearchResponse(evidence.query, results, meta)


def _notes(evidence: Evidence) -> tuple[str, ...]:
    if evidence.fast or evidence.vector_share >= 1.0 or not evidence.scope.total:
        return ()
    share = f"{evidence.vector_share:.0%}"
    return (f"meaning {share}: some texts have no vector yet; `kbx index` makes them",)


def _search_explanation(ranking: Ranking) -> dict[str, Any]:
    evidence, scope = ranking.evidence, ranking.evidence.scope
    filtered = scope.in_scope < scope.total or bool(scope.clause)
    lexical = {
        "where": scope.clause or None,
        "filter": "prefilter" if filtered else None,
        "in_scope": scope.in_scope,
        "status": "complete",
    }
    in_memory = {**lexical, "where": None, "filter": "in_memory" if filtered else None}
    return {
        "document_query": ranking.components.query,
        "hierarchy_alpha": ranking.tuning.alpha,
        "hierarchy_threshold": ranking.tuning.entity_threshold,
        "kept_entities": [entity.id for entity in ranking.kept_entities],
        "documents": scope.total,
        "evaluated": len(evidence),
        "lexical": lexical,
        "vector": None if evidence.fast else in_memory,
    }


def _explanation(ranking: Ranking, ranked: Ranked, snippet: Snippet) -> dict[str, Any]:
    why = explain(ranking, ranked)
    return {
        "final_score": _rounded(ranked.score),
        "doc_relevance": _rounded(ranked.doc_relevance),
        "parent_entity_score": _rounded(ranked.parent_entity_score),
        "document_part": _rounded(ranked.document_part),
        "entity_part": _rounded(ranked.entity_part),
        "hotness_part": _rounded(ranked.hotness_part),
        "fts_score": _rounded(why.raw_lexical),
        "lexical_score": _rounded(why.lexical),
        "lexical_weight": _rounded(why.lexical_weight),
        "cosine": None if why.cosine is None else _rounded(why.cosine),
        "vector_score": _rounded(why.vector),
        "vector_weight": _rounded(why.vector_weight),
        "exact": ranked.exact or None,
        "entities": [
            {
                "id": share.entity_id,
                "name": share.name,
                "score": _rounded(share.entity_score),
                "link_strength": _rounded(share.link_strength),
                "reason": share.reason,
                "share": _rounded(share.share),
            }
            for share in why.entities
        ],
        "matched_terms": [{"term": term, "body_count": count} for term, count in snippet.terms],
    }


def _rounded(number: float) -> float:
    return round(number, SCORE_DIGITS)
