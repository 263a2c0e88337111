"""The response of a search, made from a ranking, the same for every surface, and its notes. Pure.

Notes are sentences for the reader of an answer: what could not be searched, what is out of date,
and why nothing was found.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from itertools import chain
from typing import Any

import numpy as np

from kbx_tui.formatting import FLAT_REASONS, format_count, format_percent, join_limited, mode_name
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence, Scope
from kbx_tui.search.query.query_words import topic_words
from kbx_tui.search.ranking.explain import explain
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.search.request import MAX_QUERY, type_names
from kbx_tui.search.results.response import (
    MAX_BY_DATE,
    PassOneEntity,
    SearchMeta,
    SearchResponse,
    SearchResult,
    Snippet,
    candidates_words,
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

    `notes` are sentences about the index; those of `search_notes`, which gets `types` and
    `outdated`, follow them.
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
            line_breaks=snippet.line_breaks,
            explain=_explanation(ranking, ranked, snippet) if with_explain else None,
            is_cut=snippet.is_cut,
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
        total_matched=ranking.total_matched,
        total_below_floor=ranking.total_below_floor,
        in_scope=evidence.scope.in_scope,
        vector_share=round(evidence.vector_share, SCORE_DIGITS),
        candidates=evidence.scope.candidates,
        recall=None if evidence.scope.complete else _rounded(evidence.scope.recall),
        dates=() if evidence.date_preference is None else evidence.date_preference.dates,
        typed_filters=tuple(map(str, evidence.scope.filters.typed)),
        notes=(*notes, *search_notes(ranking, types, outdated)),
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
    numbers = {
        "final_score": ranked.score,
        "doc_relevance": ranked.doc_relevance,
        "answered": ranked.answered,
        "full_relevance": why.full_relevance,
        "parent_entity_score": ranked.parent_entity_score,
        "document_part": ranked.document_part,
        "entity_part": ranked.entity_part,
        "hotness_part": ranked.frecency_part,
        "reranker_part": ranked.reranker_part,
        "reranker_score": ranked.reranker_score,
        "fts_score": why.raw_lexical,
        "lexical_score": why.lexical,
        "lexical_weight": why.lexical_weight,
        "cosine": why.cosine,
        "vector_score": why.vector,
        "vector_weight": why.vector_weight,
        "date_part": why.date_part,
        "date_reason": why.date_reason or None,
        "lowered_reason": why.lowered_reason or None,
        "lent": float(lent),  # part of doc_relevance; why.propagated is part of answered
        "lent_by": why.propagated_from or None,
        "exact": ranked.known_item or None,
        "entities": [_all_rounded(asdict(share)) for share in why.entities],
        "matched_terms": [{"term": term, "body_count": count} for term, count in snippet.terms],
    }
    return _all_rounded(numbers)


def in_order(ranking: Ranking, sort: str, limit: int) -> list[Ranked]:
    """Return at most `limit` results: the best or, with `date`, the newest of `MAX_BY_DATE` best.

    Results of the same date are ordered by score; those without a date come last.
    """
    if sort != "date":
        return list(ranking.top(limit))
    dates = ranking.evidence.dates
    best = ranking.top(MAX_BY_DATE)
    return sorted(best, key=lambda ranked: dates[ranked.row], reverse=True)[:limit]


def _rounded(number: float) -> float:
    return round(number, SCORE_DIGITS)


def _all_rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _rounded(value) if isinstance(value, float) else value
        for name, value in values.items()
    }


MAX_TOPIC = 80
_ASKS_FOR_EXPERTS = re.compile(
    r"\s*(?:who\s+knows?|who\s+(?:has\s+)?worked|who\s+can\s+help|experts?|who(?:'s|\s+is|\s+are)"
    r"\s+(?:an?|the|our)\s+experts?)\s+(?:\w+\s+)?(?:about|on|with|for|in)\s+\w",
    re.IGNORECASE,
)
LISTS_NAME = "vectors-ivf.bin"
NOT_INDEXED = "there is no index yet; `kbx index` builds it"


def search_notes(
    ranking: Ranking, types: Collection[str], outdated: Sequence[str]
) -> Iterator[str]:
    evidence = ranking.evidence
    yield from cut_query_notes(evidence.query)
    yield from misspelt_notes(evidence)
    if asks_for_experts(evidence.query):
        yield "these are documents; `kbx experts` ranks people by what they know about a topic"
    yield from _ambiguous_names(ranking)
    if not evidence.fast and evidence.scope.total:
        yield from vector_notes(evidence.vector_share, evidence.without_vector)
    yield from wide_scope_notes(evidence)
    for typed, meant in evidence.corrections:
        typed = safe_line(typed)
        yield f'no document has {typed}: searched for {meant}; "{typed}" is searched for as typed'
    if evidence.undated:
        yield f"no document is dated {join_limited(evidence.undated, ' or ')}"
    if evidence.listed:
        yield safe_line(evidence.listed)
    yield from outdated
    if failure := reranker_failure(ranking):
        yield failure
    if left_out := evidence.scope.left_out:
        documents = format_count(left_out, "muted document")
        yield f"{documents} left out: [search] muted_documents in kbx.toml"
    yield from scope_notes(evidence.scope, types)
    if note := few_answers_note(ranking):
        yield note
    if evidence.scope.in_scope and not ranking.total_matched:
        yield from nothing_found_notes(
            ranking.search_mode,
            ranking.search_mode_reason,
            in_scope=evidence.scope.in_scope,
            below_floor=ranking.total_below_floor,
            fast=evidence.fast,
            path=bool(evidence.scope.path),
        )


def few_answers_note(ranking: Ranking) -> str:
    """Return that only a few documents answer the topic, where the list continues with others."""
    answers = int(np.count_nonzero(ranking.says_something)) if ranking.lists_linked else 0
    if not (ranking.unanswered or (ranking.lists_linked and answers < ranking.total_matched)):
        return ""
    names = join_limited([safe_line(entity.name) for entity in ranking.kept_entities], " and ")
    topic = safe_line(topic_words(ranking.components.query))
    if len(topic) > MAX_TOPIC:
        topic = f"{topic[:MAX_TOPIC].rstrip()} …"
    scope = ranking.evidence.scope
    here = " in scope" if scope.in_scope < scope.total else ""
    linked = f" linked to {names}" if ranking.tuning.gate == "hard" else ""
    if ranking.unanswered:
        return f"no document{here} says much about “{topic}”; first are those linked to {names}"
    if answers:
        count = f"only {format_count(answers, 'document')}{here}{linked}"
        verb = "matches" if answers == 1 else "match"
        return f"{count} {verb} “{topic}”; the others are linked to {names}"
    return f"no document{here}{linked} says anything about “{topic}”; these are linked to {names}"


def reranker_failure(ranking: Ranking) -> str:
    reranker = ranking.evidence.reranker
    return reranker.failure if reranker is not None else ""


def cut_query_notes(query: str) -> Iterator[str]:
    if len(query) > MAX_QUERY:
        yield f"the query has {len(query):,} characters; only the first {MAX_QUERY:,} count"


def misspelt_notes(evidence: Evidence) -> Iterator[str]:
    for word, meant in evidence.misspelt:
        hint = f"; did you mean {meant}?" if meant else ""
        yield safe_line(f"{word} is not a filter: no page has that property{hint}")


def unknown_names_notes(scope: Scope) -> Iterator[str]:
    for unknown in scope.unknown_names:
        hint = f"; did you mean {unknown.similar}?" if unknown.similar else ""
        what = "nobody speaks under the name" if unknown.speaks else "no entity is called"
        yield safe_line(f"{what} {unknown.name}{hint}")


def asks_for_experts(query: str) -> bool:
    return _ASKS_FOR_EXPERTS.match(query[:MAX_QUERY]) is not None


def vector_notes(share: float, missing: int) -> Iterator[str]:
    if missing:
        texts = f"{format_count(missing, 'text')} {'has' if missing == 1 else 'have'}"
        verb = "adds it" if missing == 1 else "adds them"
        yield f"meaning {format_percent(share)}: {texts} no vector yet; `kbx index` {verb}"


def wide_scope_notes(evidence: Evidence, *, has_switch: bool = True) -> Iterator[str]:
    """Yield a note if only candidates were scored, or the file needed for that is missing."""
    scope = evidence.scope
    if scope.candidates is not None:
        words = candidates_words(scope.candidates, scope.recall)
        switch = "; `kbx search --exact` scores all, which takes longer" if has_switch else ""
        yield f"scored {words}{switch}"
    elif evidence.lists_missing:
        yield (
            f"every chunk was compared: {LISTS_NAME}, which makes a search in so many faster, is "
            "missing, damaged or older than the vectors; `kbx index` writes it"
        )


def scope_notes(scope: Scope, types: Collection[str]) -> Iterator[str]:
    if not scope.total:
        yield "there are no documents to search; `kbx status` shows what is indexed"
        return
    given, all_typed = scope.filters, scope.filters.typed
    kinds = [type_names(typed.values) for typed in all_typed if typed.key == "type"]
    kinds = [names for names in (given.doc_types, *kinds) if names]
    unknown = list[str]()
    for name in dict.fromkeys(chain.from_iterable(kinds)):
        if name not in types and (near := get_close_matches(name, types, n=1)):
            yield f"no document has type {_listed([name])}; did you mean {near[0]}?"
        elif name not in types:
            unknown.append(name)
    if unknown:
        yield f"no document has type {_listed(unknown)}; existing types: {', '.join(types)}"
    yield from unknown_names_notes(scope)
    for words in scope.unmatched_phrases:
        yield f"no document has {safe_line(words)} word for word: searched for the words"
    for typed in all_typed:
        if typed.key == "-":
            words = safe_line(typed.values[0])
            quoted = f'"-{words}"'
            yield f"documents with {words} are left out; quote it to search for it: {quoted}"
    for typed in all_typed:
        if typed.lacks_date:
            yield safe_line(f"{typed} holds no date such as 2026-03-17, 2026-03 or 2026")
            return
    is_explained = scope.unknown_names or any(not set(names) & set(types) for names in kinds)
    if scope.in_scope or is_explained:
        return
    path = safe_line(scope.path)
    filters = {
        "path": [path],
        "type": given.doc_types,
        "from": [given.since],
        "to": [given.until],
        "tag": given.tags,
        "entity": given.entities,
    }
    named = [f"{name} {_listed(values)}" for name, values in filters.items() if any(values)]
    named += [safe_line(str(typed)) for typed in all_typed if typed.key != "newest first"]
    if len(named) == 1 and (path or (all_typed and all_typed[0].key == "in")):
        path = path or safe_line(all_typed[0].values[0])
        yield f"there are no documents in {path}; paths start at the root: memory/meetings"
    elif named:
        which = "it" if len(named) == 1 else "one of them"
        yield f"no document matches {' and '.join(named)}; omit or change {which}"


def nothing_found_notes(
    search_mode: str, reason: str, *, in_scope: int, below_floor: int, fast: bool, path: bool
) -> Iterator[str]:
    documents = format_count(in_scope, "document")
    words = (mode_name(search_mode, reason), FLAT_REASONS.get(reason, ""))
    yield f"nothing found in {documents} ({join_limited([word for word in words if word], ': ')})"
    if below_floor:
        are = "is" if below_floor == 1 else "are"
        below = format_count(below_floor, "document")
        yield f"{below} {are} too little similar to the query to be shown"
    if fast:
        yield "a search that is not fast finds documents with a similar meaning too"
    if path:
        yield "without the path, all folders are searched"
    yield "try fewer words, or the name of a person, project or team"


def _ambiguous_names(ranking: Ranking) -> Iterator[str]:
    names_of: dict[str, list[str]] = {}
    for entity in ranking.kept_entities:
        for signal in entity.signals:
            if signal.ambiguous and signal.score == entity.score:
                names_of.setdefault(signal.detail, []).append(entity.name)
    for text, names in names_of.items():
        if len(names) > 1:
            yield f"{text} may be {' or '.join(names)}; their documents count equally"


def _listed(values: Collection[str]) -> str:
    return safe_line(",".join(values))
