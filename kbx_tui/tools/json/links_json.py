"""The links of a document as JSON, for every surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.search.links.link_records import (
        Backlink,
        BrokenLink,
        DocumentLinks,
        UnlinkedMention,
    )


def links_json(links: DocumentLinks, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the links of a document as JSON."""
    return {
        "path": links.path,
        "title": links.title,
        "backlinks": list(map(_line, links.backlinks)),
        "mentions": [{**_line(each), "name": each.name} for each in links.mentions],
        "outgoing": [
            {
                "id": each.entity_id or each.path,
                "path": each.path or None,
                "title": each.title,
                "line": each.line,
            }
            for each in links.outgoing
        ],
        "broken": list(map(broken_json, links.broken)),
        "notes": list(notes),
    }


def broken_json(link: BrokenLink) -> dict[str, Any]:
    """Return a broken link as JSON, without its document."""
    return {"target": link.target, "line": link.line, "suggestions": list(link.suggestions)}


def _line(each: Backlink | UnlinkedMention) -> dict[str, Any]:
    return {
        "path": each.path,
        "title": each.title,
        "date": each.date or None,
        "line": each.line,
        "text": each.text,
    }
