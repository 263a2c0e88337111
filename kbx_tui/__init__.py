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
    "Ambiguous": "kbx_tui.errors",
    "Applied": "kbx_tui.drafting.plans",
    "Choice": "kbx_tui.editing.state.drafts",
    "ConfigError": "kbx_tui.errors",
    "Destination": "kbx_tui.search.browsing.destination",
    "Draft": "kbx_tui.editing.state.drafts",
    "DraftCheck": "kbx_tui.drafting.checks",
    "DuplicateScan": "kbx_tui.similarity.duplicate_scan",
    "EmbeddingAuth": "kbx_tui.errors",
    "EmbeddingError": "kbx_tui.errors",
    "EmbeddingRateLimited": "kbx_tui.errors",
    "EmbeddingUnavailable": "kbx_tui.errors",
    "EntityCard": "kbx_tui.search.browsing.card",
    "EntityName": "kbx_tui.search.browsing.card",
    "Evidence": "kbx_tui.search.evidence.evidence",
    "Expert": "kbx_tui.experts.expert_ranking",
    "ExpertRanking": "kbx_tui.experts.expert_ranking",
    "FieldSimilarity": "kbx_tui.similarity.matches",
    "FileChanged": "kbx_tui.errors",
    "IndexFault": "kbx_tui.errors",
    "IndexForeign": "kbx_tui.errors",
    "IndexLocked": "kbx_tui.errors",
    "IndexReport": "kbx_tui.index.build.progress",
    "JournalEntry": "kbx_tui.editing.journal",
    "KbxError": "kbx_tui.errors",
    "KnowledgeBase": "kbx_tui.api",
    "NotFound": "kbx_tui.errors",
    "OutOfRange": "kbx_tui.errors",
    "PairSimilarity": "kbx_tui.similarity.scoring.pair_score",
    "Plan": "kbx_tui.drafting.plans",
    "Progress": "kbx_tui.index.build.progress",
    "Ranking": "kbx_tui.search.ranking.rank",
    "SearchResponse": "kbx_tui.search.results.response",
    "SimilarityCheck": "kbx_tui.similarity.matches",
    "SimilarityMatch": "kbx_tui.similarity.matches",
    "Status": "kbx_tui.index.status",
    "Tuning": "kbx_tui.search.evidence.tuning",
    "Verdict": "kbx_tui.drafting.checks",
    "WriteFault": "kbx_tui.errors",
    "Written": "kbx_tui.drafting.written",
}

__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kbx_tui' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
