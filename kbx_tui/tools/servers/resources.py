"""Documents and entities as MCP resources: `kbx://document/PATH`, `kbx://entity/ID`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from kbx_tui.errors import NotFound

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
    from kbx_tui.tools.redaction.hidden_pages import hidden_pages  # loads the engine

    documents, hidden = kb.list_documents(offset, PAGE_SIZE), hidden_pages(kb)
    rows = [
        (
            ENTITY + quote(document_id) if kb.identify(path)[1] else DOCUMENT + quote(path),
            title,
            path,
        )
        for document_id, path, title in documents
        if path not in hidden.paths
    ]
    return rows, offset + PAGE_SIZE if len(documents) == PAGE_SIZE else None


def read(kb: KnowledgeBase, uri: str) -> str:
    """Return the text of a resource without what is redacted. Raises NotFound."""
    from kbx_tui.tools.redaction.hidden_pages import identify_visible, read_visible
    from kbx_tui.tools.redaction.redacted_text import redact

    for prefix in (DOCUMENT, ENTITY):
        if uri.startswith(prefix):
            document_id = unquote(uri.removeprefix(prefix))
            path, entity = identify_visible(kb, document_id)
            if path:
                return redact(read_visible(kb, path, document_id))[:TEXT_LENGTH]
            return f"# {entity.name}\n" if entity else ""
    raise NotFound(f"no resource {uri[:200]!r}; URIs start with {DOCUMENT} or {ENTITY}")
