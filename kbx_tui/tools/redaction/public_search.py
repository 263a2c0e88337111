"""Search responses without redacted pages and lines, as many results as were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kbx_tui.api import KnowledgeBase
from kbx_tui.knowledge.facts.public_page import PublicPage
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.notes import nothing_found_notes, unknown_types_note
from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
from kbx_tui.search.results.snippets import make_snippet
from kbx_tui.tools.redaction.visible_pages import VisiblePages


def public_search(kb: KnowledgeBase, pages: VisiblePages, request: SearchRequest) -> SearchResponse:
    """Search as `KnowledgeBase.search` does, for readers who may not see what is redacted.

    Hidden pages are neither results nor counted. Pages that were hidden since the index was built,
    and those on which the words of the query stand only in redacted text, are not counted as
    matches, as far as they would have been among the results. Raises as `KnowledgeBase.search`; a
    hidden entity is not found.
    """
    hidden, limit = pages.hidden(), request.limit
    for entity_id in request.entities if hidden.ids else ():
        pages.identify(entity_id)
    while True:
        response = kb.search(replace(request, limit=limit, hidden=hidden.paths))
        searched = response.meta.searched
        found = [_public_result(pages, result, request, searched) for result in response.results]
        visible = [result for result in found if result is not None]
        if len(visible) >= request.limit or len(found) < limit:
            break
        limit *= 2  # some were dropped
    meta, dropped = response.meta, len(found) - len(visible)
    meta = replace(meta, total_matched=meta.total_matched - dropped)
    notes = _public_notes(kb, pages, request, meta.notes)
    if dropped and not meta.total_matched:  # told as if the word were nowhere
        notes += _nothing_found(request, meta)
    return replace(
        response, results=tuple(visible[: request.limit]), meta=replace(meta, notes=notes)
    )


def _nothing_found(request: SearchRequest, meta: SearchMeta) -> tuple[str, ...]:
    return tuple(
        nothing_found_notes(
            meta.search_mode,
            meta.search_mode_reason,
            in_scope=meta.in_scope,
            below_floor=meta.total_below_floor,
            fast=request.fast,
            path=meta.path_filter is not None,
        )
    )


def _public_notes(
    kb: KnowledgeBase, pages: VisiblePages, request: SearchRequest, notes: Sequence[str]
) -> tuple[str, ...]:
    """Return the notes on a search, where types that only hidden pages have do not exist."""
    types = request.all_types
    if not types:
        return tuple(notes)
    said = list(unknown_types_note(types, sorted(kb.document_kinds())))
    others = (note for note in notes if note not in said)
    return (*unknown_types_note(types, sorted(pages.kinds())), *others)


def _public_result(
    pages: VisiblePages, result: SearchResult, request: SearchRequest, searched: str
) -> SearchResult | None:
    page = pages.page(result.path)
    if page is None:
        return None
    if pages.is_open(page):
        return result
    if _is_only_found_by_redacted_text(page, request.all_tags, searched):
        return None
    return _with_public_snippet(result, page, searched)


def _is_only_found_by_redacted_text(
    page: PublicPage, wanted_tags: Sequence[str], searched: str
) -> bool:
    """Return whether a tag, or every word of the query that is in a file, is redacted in it."""
    tags = {tag.casefold() for tag in page.document.tags}
    if any(tag.casefold().lstrip("#") not in tags for tag in wanted_tags):
        return True
    whole, public = (
        {term for term, _ in make_snippet(text, 1, searched).terms} for text in page.texts
    )
    return bool(whole) and not public


def _with_public_snippet(result: SearchResult, page: PublicPage, query: str) -> SearchResult:
    snippet = make_snippet(page.body, page.document.body_line, query)
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
