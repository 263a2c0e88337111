"""Searches with what is redacted taken out: pages, names, and lines of snippets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
from kbx_tui.search.results.snippets import make_snippet
from kbx_tui.tools.redaction.public_text import marked_documents
from kbx_tui.tools.redaction.redacted_text import redact
from kbx_tui.tools.redaction.withheld import Withheld, identify_open, withheld

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.knowledge.records import Document

UNNAMED = "[redacted]"
"""Stands for an entity in the sum of a score: left out, the shares would not add up."""


def public_search(
    kb: KnowledgeBase, query: str, *, limit: int, entities: Sequence[str] = (), **options: Any
) -> SearchResponse:
    """Search as `KnowledgeBase.search` does, for somebody who is not to see what is redacted.

    Pages withheld are no results and do not count as matched, as far as they were among the best.
    Raises as that one; an entity that is withheld is not found.
    """
    spare = withheld(kb)
    for one in entities if spare.ids else ():
        identify_open(kb, one)
    wanted = limit + len(spare.paths)
    response = kb.search(query, limit=wanted, entities=entities, **options)
    hidden = withheld(kb)  # once more: without an index, the search made one
    open_ones = [one for one in response.results if one.path not in hidden.paths]
    dropped = len(response.results) - len(open_ones)
    kept = open_ones[:limit]
    marked = marked_documents(kb, [one.path for one in kept])
    results = (
        _without_lines(one, marked[one.path], response.query) if one.path in marked else one
        for one in kept
    )
    if not hidden.ids:
        return replace(response, results=tuple(results))
    return replace(
        response,
        results=tuple(_without_names(one, hidden) for one in results),
        meta=_public_meta(response.meta, hidden, dropped),
    )


def _without_lines(result: SearchResult, document: Document, query: str) -> SearchResult:
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


def _without_names(result: SearchResult, hidden: Withheld) -> SearchResult:
    if result.explain is None:
        return result
    shares: list[Mapping[str, Any]] = [
        {**share, "id": UNNAMED, "name": UNNAMED} if share["id"] in hidden.ids else share
        for share in result.explain["entities"]
    ]
    return replace(result, explain={**result.explain, "entities": shares})


def _public_meta(meta: SearchMeta, hidden: Withheld, dropped: int) -> SearchMeta:
    explain = meta.explain
    if explain is not None:
        kept = [one for one in explain["kept_entities"] if one not in hidden.ids]
        drawn_to = [one for one in explain["drawn_to"] if one["path"] not in hidden.paths]
        explain = {**explain, "kept_entities": kept, "drawn_to": drawn_to}
    return replace(
        meta,
        pass1_entities=tuple(one for one in meta.pass1_entities if one.id not in hidden.ids),
        total_matched=meta.total_matched - dropped,
        notes=tuple(note for note in meta.notes if not _names_any(note, hidden.names)),
        explain=explain,
    )


def _names_any(note: str, names: Iterable[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", note) for name in names)
