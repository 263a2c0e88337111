"""The links of a document for readers who may not see what is redacted."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from urllib.parse import unquote

from rapidfuzz import fuzz

from kbx_tui.api import KnowledgeBase
from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.facts.public_page import PublicPage
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.kinds import stem_of
from kbx_tui.knowledge.parsing.link_syntax import split_target
from kbx_tui.search.links.likely_targets import SIMILAR, target_key
from kbx_tui.search.links.link_records import BrokenLink, DocumentLinks, OutgoingLink
from kbx_tui.tools.redaction.visible_pages import VisiblePages


def public_links(kb: KnowledgeBase, pages: VisiblePages, document_id: str) -> DocumentLinks:
    """Return the links of a document that are written openly, in either direction.

    A link that leads where it does only by a redacted alias, or to a hidden page, leads to nothing.
    Raises NotFound for a hidden document, as for one that does not exist.
    """
    path, entity = pages.identify(document_id)
    links = kb.links(path or document_id)
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
    """Return whether a page has a link with this target in what is public of it."""
    page = pages.page(path)
    if page is None or pages.is_open(page):
        return page is not None
    return target in page.document.links or target in page.document.property_links


def _is_found_openly(pages: VisiblePages, link: OutgoingLink) -> bool:
    """Return whether a link leads to a visible page or entity by what is public of it."""
    if not link.path:
        return pages.is_visible_id(link.entity_id)
    page = pages.page(link.path)
    return page is not None and _names_openly(pages, page, link.target)


def _names_openly(pages: VisiblePages, page: PublicPage, target: str) -> bool:
    """Return whether a link with this target means a page by a name of it that is public."""
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
    """Return the documents that a link may mean by a name of them that is public."""
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
    """Return the keys of the names of a document that are public."""
    document = page.document
    names = [document.title, stem_of(page.path), *document.aliases]
    if entity_id:
        public = page.entity(entity_id)
        names += [public.name, *public.aliases]
    return set(map(name_key, names))
