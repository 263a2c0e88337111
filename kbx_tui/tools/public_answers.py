"""Searches, links and expert rankings for readers who may not see redacted text."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from rapidfuzz import fuzz

from kbx_tui.experts.expert_ranking import Expert, ExpertRanking, Receipt, rank_experts
from kbx_tui.knowledge.entity_names import EntityResolver
from kbx_tui.knowledge.fields import stem_of
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.markdown import split_target
from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.document_links import SIMILAR, target_key
from kbx_tui.search.link_records import BrokenLink, DocumentLinks, OutgoingLink
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.answer import few_answers_note, nothing_found_notes, unknown_types_note
from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
from kbx_tui.search.results.snippets import make_snippet
from kbx_tui.tools.visible_pages import NO_LIMIT, VisiblePages


def public_search(pages: VisiblePages, request: SearchRequest) -> SearchResponse:
    """Search as `KnowledgeBase.search` does, for readers who may not see redacted text.

    Hidden pages are neither returned nor counted. Two kinds of results are dropped, and subtracted
    from the number of matches: pages hidden since the index was built, and pages on which the topic
    (without one, all words of the query) occurs only in redacted text. Of the latter, a page that
    is linked to the documents on the topic stays as a linked result. Raises as
    `KnowledgeBase.search`; a hidden entity is not found.
    """
    hidden, limit = pages.hidden(), request.limit
    entities, pinned, muted = (
        tuple(pages.find(name).id for name in names)
        for names in (request.entities, request.pinned, request.muted)
    )
    request = replace(request, entities=entities, pinned=pinned, muted=muted)
    if pages.hold_redacted_text():  # only redacted text may make a word common
        request = replace(request, usual_words=False)
    if names := _hidden_names(pages, request):
        request = replace(request, hidden_names=names)
    while True:
        response = pages.kb.search(replace(request, limit=limit, hidden=hidden))
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
    notes = _public_notes(pages, request, meta)
    if dropped:
        below_floor = meta.total_below_floor + (0 if request.fast else dropped)
        total = meta.total_matched - dropped
        meta = replace(meta, total_matched=total, total_below_floor=below_floor)
        if not total:  # the notes are those for words that occur nowhere
            notes += tuple(
                nothing_found_notes(
                    meta.search_mode,
                    meta.search_mode_reason,
                    in_scope=meta.in_scope,
                    below_floor=meta.total_below_floor,
                    fast=request.fast,
                    path=meta.path_filter is not None,
                )
            )
    results = tuple(visible[: request.limit])
    return replace(response, results=results, meta=replace(meta, notes=notes))


def _hidden_names(pages: VisiblePages, request: SearchRequest) -> frozenset[tuple[str, str]]:
    """Return (typed name, entity id) where the name leads to the entity only by redacted text."""
    kb, names = pages.kb, request.filters.typed_names
    if names and not kb.is_indexed():
        kb.search(request)  # a first search indexes the base
    return frozenset(
        (name, found.id)
        for name in names
        for found in kb.entities.find(name, NO_LIMIT)  # all: an unchecked one would be a leak
        if not pages.is_named_openly(found.id, name)
    )


def _public_notes(pages: VisiblePages, request: SearchRequest, meta: SearchMeta) -> tuple[str, ...]:
    """Return the notes, free of types of hidden pages and of topics only in redacted text."""
    notes = list(meta.notes)
    if types := request.all_types:
        said = list(unknown_types_note(types, sorted(pages.kb.documents.kinds())))
        shown = unknown_types_note(types, sorted(pages.kinds()))
        notes = [*shown, *(note for note in notes if note not in said)]
    if few := meta.few_answers:
        answering = [path for path in few.paths if _is_on_topic(pages, path, few.topic)]
        if len(answering) < len(few.paths):
            others = few.others + len(few.linked.difference(answering))
            public = few_answers_note(replace(few, paths=tuple(answering), others=others))
            said_of_few = few_answers_note(few)
            notes = [note for note in notes if note != said_of_few] + ([public] if public else [])
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
        result = replace(result, score=0.0, explain=None)  # as of any result that is only linked
    return _with_public_snippet(result, page, meta.searched)


def _is_only_found_by_redacted_text(page: PublicPage, words: str) -> bool:
    """Return whether some of these words are in the file, but only in redacted text."""
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


def public_links(pages: VisiblePages, document_id: str) -> DocumentLinks:
    """Return the links from and to a document that are not in redacted text.

    A link that resolves only by a redacted alias, or to a hidden page, is returned as broken.
    Raises NotFound for a hidden document, as for one that does not exist.
    """
    path, entity = pages.identify(document_id)
    links = pages.kb.links.of(path or document_id)
    page = pages.page(links.path)
    if page is None:
        return replace(links, title="", backlinks=(), mentions=(), outgoing=(), broken=())
    entity_id = entity.id if entity else ""
    names = None if pages.is_open(page) else _names(page, entity_id)
    outgoing = [link for link in links.outgoing if _states(pages, path, link.target)]
    hidden = [link for link in outgoing if not _is_found_openly(pages, link)]
    broken = [
        *(BrokenLink(path, link.target, link.line, ()) for link in hidden),
        *(
            replace(link, suggestions=_open_suggestions(pages, link))
            for link in links.broken
            if _states(pages, path, link.target)
        ),
    ]
    return replace(
        links,
        backlinks=tuple(
            link
            for link in links.backlinks
            if _states(pages, link.path, link.target) and _names_openly(pages, page, link.target)
        ),
        mentions=tuple(
            mention
            for mention in links.mentions
            if (names is None or name_key(mention.name) in names)
            and (source := pages.page(mention.path)) is not None
            and (pages.is_open(source) or source.says(mention.text))
        ),
        outgoing=tuple(link for link in outgoing if link not in hidden),
        broken=tuple(sorted(broken, key=lambda link: link.line)),
    )


def _states(pages: VisiblePages, path: str, target: str) -> bool:
    """Return whether the public text of a page has a link with this target."""
    page = pages.page(path)
    if page is None or pages.is_open(page):
        return page is not None
    return target in page.document.links or target in page.document.property_links


def _is_found_openly(pages: VisiblePages, link: OutgoingLink) -> bool:
    """Return whether a link leads to a visible page or entity by one of its public names."""
    if not link.path:
        return pages.is_visible_id(link.entity_id)
    page = pages.page(link.path)
    return page is not None and _names_openly(pages, page, link.target)


def _names_openly(pages: VisiblePages, page: PublicPage, target: str) -> bool:
    name = split_target(target)[0]
    if pages.is_open(page) or not name:
        return True
    public = page.entity(pages.id_of(page))
    spellings = (name, unicodedata.normalize("NFC", unquote(name)))
    return any(
        EntityResolver([public]).by_reference(spelling)
        or target_key(spelling) in _names(page, public.id)
        for spelling in spellings
    )


def _open_suggestions(pages: VisiblePages, link: BrokenLink) -> tuple[str, ...]:
    key = target_key(split_target(link.target)[0])
    return tuple(
        path
        for path in link.suggestions
        if (page := pages.page(path)) is not None
        and (
            pages.is_open(page)
            or any(fuzz.ratio(key, name) >= SIMILAR for name in _names(page, pages.id_of(page)))
        )
    )


def _names(page: PublicPage, entity_id: str) -> set[str]:
    document = page.document
    names = [document.title, stem_of(page.path), *document.aliases]
    if entity_id:
        public = page.entity(entity_id)
        names += [public.name, *public.aliases]
    return set(map(name_key, names))


def public_experts(
    pages: VisiblePages, topic: str, *, limit: int, min_claims: int, **how: Any
) -> ExpertRanking:
    """Rank as `KnowledgeBase.experts` does, without hidden entities and redacted claims.

    A claim counts only if the public text of its page still states it. Only the claims of the
    experts returned are checked. Raises as `KnowledgeBase.experts`.
    """
    ranking = found = pages.kb.experts(topic, limit, min_claims=min_claims, **how)
    if all(_is_unchanged(expert, pages) for expert in ranking.experts):
        return ranking
    everyone = pages.kb.experts(topic, NO_LIMIT, min_claims=1, **how).experts
    experts = {expert.entity_id: expert for expert in everyone}
    entities = {id_: Entity(id_, expert.name, expert.type, "") for id_, expert in experts.items()}
    claims = {id_: [*expert.receipts, *expert.excluded] for id_, expert in experts.items()}
    while True:
        ranking = rank_experts(
            found.topic, ranking.weight, claims, entities, limit=limit, min_claims=min_claims
        )
        changed = [expert for expert in ranking.experts if not _is_unchanged(expert, pages)]
        if not changed:
            return replace(ranking, in_scope=found.in_scope, notes=found.notes)
        for expert in changed:
            claims[expert.entity_id] = _public_claims(experts[expert.entity_id], pages)


def _is_unchanged(expert: Expert, pages: VisiblePages) -> bool:
    return len(_public_claims(expert, pages)) == len(expert.receipts)


def _public_claims(expert: Expert, pages: VisiblePages) -> list[Receipt]:
    def is_public(receipt: Receipt) -> bool:
        page = pages.page(receipt.path)
        if page is None or pages.is_open(page) or not receipt.line:  # it is a document, not a fact
            return page is not None
        return any(fact.text == receipt.text and fact.status == "active" for fact in page.facts)

    return list(filter(is_public, expert.receipts)) if pages.is_visible_id(expert.entity_id) else []
