"""Documents and entities as MCP resources: `kbx://document/PATH`, `kbx://entity/ID`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from kbx_tui.errors import KbxError, NotFound
from kbx_tui.tools.contracts.answers import ResourceList, ResourceText

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

SCHEME = "kbx://"
DOCUMENT, ENTITY = f"{SCHEME}document/", f"{SCHEME}entity/"
PAGE_SIZE = 200
"""Resources per page of the list."""
TEXT_LENGTH = 1_000_000
"""Maximum length of a resource in characters; kb_get reads the rest."""


def list_page(kb: KnowledgeBase, offset: int) -> tuple[list[tuple[str, str, str]], int | None]:
    """Return URI, title and path of resources from `offset` on, and the offset of the next page."""
    if not kb.is_indexed():
        return [], None
    from kbx_tui.tools.redaction.passing_on import pass_on  # loads the engine

    documents = kb.list_documents(offset, PAGE_SIZE)
    rows = [
        {
            "uri": ENTITY + quote(document_id) if kb.identify(path)[1] else DOCUMENT + quote(path),
            "title": title,
            "path": path,
        }
        for document_id, path, title in documents
    ]
    listed = pass_on(kb, ResourceList, lambda: {"resources": rows}, {})["resources"]
    rows_left = [(row["uri"], row["title"], row["path"]) for row in listed]
    return rows_left, offset + PAGE_SIZE if len(documents) == PAGE_SIZE else None


def read(kb: KnowledgeBase, uri: str) -> str:
    """Return the text of a resource without what is redacted. Raises NotFound."""
    from kbx_tui.tools.redaction.passing_on import pass_on

    text: str = pass_on(kb, ResourceText, lambda: _resource(kb, uri), _named(uri))["text"]
    return text


def read_or_refuse(kb: KnowledgeBase, uri: str) -> str:
    """Return a resource as `read` does. Raises NotFound with a message without what is redacted."""
    from kbx_tui.tools.servers.dispatch import public_error

    try:
        return read(kb, uri)
    except KbxError as error:
        raise NotFound(public_error(kb, error, _named(uri))) from None


def _named(uri: str) -> dict[str, str]:
    """Return what a caller said with an address."""
    name = unquote(uri.removeprefix(DOCUMENT).removeprefix(ENTITY))
    return {"uri": unquote(uri), "id": name}


def _resource(kb: KnowledgeBase, uri: str) -> dict[str, str]:
    from kbx_tui.tools.redaction.visible_pages import visible_pages

    for prefix in (DOCUMENT, ENTITY):
        if uri.startswith(prefix):
            pages = visible_pages(kb)
            path, entity = pages.identify(unquote(uri.removeprefix(prefix)))
            page = pages.page(path) if path else None
            if page is not None:
                return {"id": path, "text": page.body[:TEXT_LENGTH]}
            return {"id": entity.id, "text": f"# {entity.name}\n"} if entity else {"text": ""}
    raise NotFound(f"no resource {uri[:200]!r}; URIs start with {DOCUMENT} or {ENTITY}")
