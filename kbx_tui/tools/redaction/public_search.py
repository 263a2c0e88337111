"""Search responses without redacted pages and lines, as many results as were asked for."""

from __future__ import annotations

from dataclasses import replace

from kbx_tui.api import KnowledgeBase
from kbx_tui.knowledge.facts.public_page import PublicPage
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.notes import (
    few_answers_note,
    nothing_found_notes,
    unknown_types_note,
)
from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
from kbx_tui.search.results.snippets import make_snippet
from kbx_tui.tools.redaction.visible_pages import VisiblePages

ALL = 1_000_000
"""Limit of a lookup that leaves out no entity: one unchecked would show what is redacted."""


def public_search(kb: KnowledgeBase, pages: VisiblePages, request: SearchRequest) -> SearchResponse:
    """Search as `KnowledgeBase.search` does, for readers who may not see what is redacted.

    Hidden pages are neither results nor counted. Pages that were hidden since the index was built,
    and those on which the topic, or else every word of the query, stands only in redacted text, are
    not counted as matches, as far as they would have been among the results; where linked documents
    follow those on the topic, a linked page stays as one of them. Raises as `KnowledgeBase.search`;
    a hidden entity is not found.
    """
    hidden, limit = pages.hidden(), request.limit
    entities, pinned, muted = (
        tuple(pages.find(name).id for name in names)
        for names in (request.entities, request.pinned, request.muted)
    )
    request = replace(request, entities=entities, pinned=pinned, muted=muted)
    if pages.hold_redacted_text():  # which may be why most documents hold a word
        request = replace(request, usual_words=False)
    if names := _hidden_names(kb, pages, request):
        request = replace(request, hidden_names=names)
    while True:
        is_plain = not hidden.paths and limit == request.limit
        asked = request if is_plain else replace(request, limit=limit, hidden=hidden.paths)
        response = kb.search(asked)
        found, meta = response.results, response.meta
        public = [_public_result(pages, result, request, meta) for result in found]
        visible = [result for result in public if result is not None]
        dropped = len(found) - len(visible)
        moved = [
            new for new, old in zip(public, found, strict=True) if new and new.score < old.score
        ]
        if len(visible) - len(moved) >= request.limit or len(found) < limit:
            break
        limit *= 2
    if moved and request.sort == "score":
        visible.sort(key=lambda result: -result.score)
    notes = _public_notes(kb, pages, request, meta)
    if dropped:
        below_floor = meta.total_below_floor + (0 if request.fast else dropped)
        total = meta.total_matched - dropped
        meta = replace(meta, total_matched=total, total_below_floor=below_floor)
        if not total:  # told as if the word were nowhere
            notes += _nothing_found(request, meta)
    if notes != meta.notes:
        meta = replace(meta, notes=notes)
    return replace(response, results=tuple(visible[: request.limit]), meta=meta)


def _hidden_names(
    kb: KnowledgeBase, pages: VisiblePages, request: SearchRequest
) -> frozenset[tuple[str, str]]:
    """Return the typed names, and ids of entities found by them only in what is redacted."""
    names = request.filters.typed_names
    if names and not kb.is_indexed():
        kb.search(request)  # indexes the base
    return frozenset(
        (name, found.id)
        for name in names
        for found in kb.find_entities(name, ALL)
        if not pages.is_named_openly(found.id, name)
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
    kb: KnowledgeBase, pages: VisiblePages, request: SearchRequest, meta: SearchMeta
) -> tuple[str, ...]:
    """Return the notes on a search, by what is public.

    Types that only hidden pages have do not exist, and documents that only redacted text puts on
    the topic are not.
    """
    notes = list(meta.notes)
    if types := request.all_types:
        said = list(unknown_types_note(types, sorted(kb.document_kinds())))
        shown = unknown_types_note(types, sorted(pages.kinds()))
        notes = [*shown, *(note for note in notes if note not in said)]
    if few := meta.few_answers:
        answering = [path for path in few.paths if _is_on_topic(pages, path, few.topic)]
        if len(answering) < len(few.paths):
            others = few.others + len(few.linked.difference(answering))
            public = few_answers_note(replace(few, paths=tuple(answering), others=others))
            said_of_few = few_answers_note(few)
            notes = [
                *(note for note in notes if note != said_of_few),
                *([public] if public else []),
            ]
    return tuple(notes)


def _is_on_topic(pages: VisiblePages, path: str, topic: str) -> bool:
    page = pages.page(path)
    if page is None or pages.is_open(page):
        return page is not None
    return not _is_only_found_by_redacted_text(page, topic)


def _public_result(
    pages: VisiblePages, result: SearchResult, request: SearchRequest, meta: SearchMeta
) -> SearchResult | None:
    page = pages.page(result.path)
    if page is None:
        return None
    if pages.is_open(page):
        return result
    if not request.filters.matches_all_tags(page.document.tags):
        return None
    few = meta.few_answers
    if _is_only_found_by_redacted_text(page, meta.topic or meta.searched):
        if few is None or page.path not in few.linked:
            return None
        result = replace(result, score=0.0, explain=None)  # as those that are linked and no more
    return _with_public_snippet(result, page, meta.searched)


def _is_only_found_by_redacted_text(page: PublicPage, words: str) -> bool:
    """Return whether every one of these words that is in a file is redacted in it."""
    whole, public = (
        {term for term, _ in make_snippet(text, 1, words).terms} for text in page.texts
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
