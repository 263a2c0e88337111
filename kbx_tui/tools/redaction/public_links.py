"""The links of a document for readers who may not see what is redacted."""

from __future__ import annotations

from dataclasses import replace

from kbx_tui.api import KnowledgeBase
from kbx_tui.knowledge.facts.public_page import PublicPage
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.kinds import stem_of
from kbx_tui.search.links.link_records import DocumentLinks
from kbx_tui.tools.redaction.visible_pages import VisiblePages


def public_links(kb: KnowledgeBase, pages: VisiblePages, document_id: str) -> DocumentLinks:
    """Return the links of a document that are written openly, in either direction.

    Raises NotFound for a hidden document, as for one that does not exist.
    """
    path, entity = pages.identify(document_id)
    links = kb.links(path or document_id)
    page = pages.page(links.path)
    if page is None:
        return replace(links, title="", backlinks=(), mentions=(), outgoing=(), broken=())
    names = None if pages.is_open(page) else _names(page, entity.id if entity else "")
    return replace(
        links,
        backlinks=tuple(e for e in links.backlinks if _states(pages, e.path, e.target)),
        mentions=tuple(
            mention
            for mention in links.mentions
            if (names is None or name_key(mention.name) in names)
            and (source := pages.page(mention.path)) is not None
            and (pages.is_open(source) or source.says(mention.text))
        ),
        outgoing=tuple(e for e in links.outgoing if _states(pages, path, e.target)),
        broken=tuple(e for e in links.broken if _states(pages, path, e.target)),
    )


def _states(pages: VisiblePages, path: str, target: str) -> bool:
    """Return whether a page has a link with this target in what is public of it."""
    page = pages.page(path)
    if page is None or pages.is_open(page):
        return page is not None
    return target in page.document.links or target in page.document.property_links


def _names(page: PublicPage, entity_id: str) -> set[str]:
    """Return the keys of the names of a document that are public."""
    document = page.document
    names = [document.title, stem_of(page.path), *document.aliases]
    if entity_id:
        public = page.entity(entity_id)
        names += [public.name, *public.aliases]
    return set(map(name_key, names))
