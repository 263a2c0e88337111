"""kbx_tui: explore a markdown knowledge base, entities first, documents second, and why.

    >>> from kbx_tui import KnowledgeBase
    >>> with KnowledgeBase("~/notes") as kb:
    ...     kb.index()
    ...     for result in kb.search("what did Alice decide?").results:
    ...         print(result.score, result.path)

Names load on first use: importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "ConfigError": "kbx_tui.errors",
    "EmbeddingError": "kbx_tui.errors",
    "Evidence": "kbx_tui.search.evidence",
    "IndexFault": "kbx_tui.errors",
    "IndexForeign": "kbx_tui.errors",
    "IndexLocked": "kbx_tui.errors",
    "IndexReport": "kbx_tui.index.progress",
    "KbxError": "kbx_tui.errors",
    "KnowledgeBase": "kbx_tui.api",
    "NotFound": "kbx_tui.errors",
    "OutOfRange": "kbx_tui.errors",
    "Progress": "kbx_tui.index.progress",
    "Ranking": "kbx_tui.search.ranking",
    "SearchResponse": "kbx_tui.search.response",
    "Status": "kbx_tui.index.status",
    "Tuning": "kbx_tui.search.tuning",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kbx_tui' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
