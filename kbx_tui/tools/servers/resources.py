"""Documents and entities as MCP resources: `kbx://document/PATH`, `kbx://entity/ID`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from kbx_tui.errors import NotFound

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase

SCHEME = "kbx://"
DOCUMENT, ENTITY = f"{SCHEME}document/", f"{SCHEME}entity/"
PAGE = 200
"""Resources listed at once."""
LONGEST_PAGE = 1_000_000
"""Characters of one resource; kb_get reads on."""


def uri_of(document_id: str, path: str, *, is_entity: bool) -> str:
    """Return the address of a document or of an entity's page."""
    return ENTITY + quote(document_id) if is_entity else DOCUMENT + quote(path)


def list_page(kb: KnowledgeBase, offset: int) -> tuple[list[tuple[str, str, str]], int | None]:
    """Return address, name and path of resources from `offset` on, and where the next page is."""
    if not kb.is_indexed():
        return [], None
    from kbx_tui.tools.redaction.withheld import (
        withheld,  # a server says hello before that is loaded
    )

    found, hidden = kb.listed_documents(offset, PAGE), withheld(kb)
    rows = [
        (uri_of(one, path, is_entity=kb.identify(path)[1] is not None), title, path)
        for one, path, title in found
        if path not in hidden.paths
    ]
    return rows, offset + PAGE if len(found) == PAGE else None


def read(kb: KnowledgeBase, uri: str) -> str:
    """Return the text at an address, what is redacted left out. Raises NotFound."""
    from kbx_tui.tools.redaction.redacted_text import redact
    from kbx_tui.tools.redaction.withheld import identify_open, read_open

    for start in (DOCUMENT, ENTITY):
        if uri.startswith(start):
            wanted = unquote(uri.removeprefix(start))
            path, entity = identify_open(kb, wanted)
            if path:
                return redact(read_open(kb, path, wanted))[:LONGEST_PAGE]
            return f"# {entity.name}\n" if entity else ""
    raise NotFound(f"no resource {uri[:200]!r}; they begin with {DOCUMENT} or {ENTITY}")
