"""Explore a markdown knowledge base: entities first, then documents, and why.

    >>> from kbx_tui import KnowledgeBase
    >>> with KnowledgeBase("~/notes") as kb:
    ...     kb.index()
    ...     for result in kb.search("what did Alice decide?").results:
    ...         print(result.score, result.path)

Names are imported on first use, so that importing the package is fast.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # type checkers assume True; `typing` would double the import time
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "kbx_tui.api": "KnowledgeBase",
    "kbx_tui.drafting.drafts": "Applied Choice Draft DraftCheck Plan Verdict Written",
    "kbx_tui.editing.journal": "JournalEntry",
    "kbx_tui.errors": (
        "Ambiguous ConfigError EmbeddingAuth EmbeddingError EmbeddingRateLimited "
        "EmbeddingUnavailable EngineFault FileChanged IndexDamaged IndexElsewhere IndexFault "
        "IndexForeign IndexLocked KbxError NotConfirmed NotFound NotTrusted OutOfRange ReadOnly "
        "RecordDamaged RerankerError StoreFault UnfitText UnknownEntity WriteFault"
    ),
    "kbx_tui.evaluation.judgments": "JudgedQuery Judgment UndoneJudgment",
    "kbx_tui.experts.expert_engine": "Expert ExpertRanking",
    "kbx_tui.index.build.progress": "IndexReport Progress",
    "kbx_tui.index.index_status": "Status",
    "kbx_tui.search.browse": "EntityCard EntityName",
    "kbx_tui.search.link_graph": "Destination",
    "kbx_tui.search.evidence.evidence": "Evidence",
    "kbx_tui.search.request": "Tuning",
    "kbx_tui.search.ranking.rank": "Ranking",
    "kbx_tui.search.results.response": "SearchResponse",
    "kbx_tui.similarity.duplicate_scan": "DuplicateScan",
    "kbx_tui.similarity.pair_score": (
        "FieldSimilarity PairSimilarity SimilarityCheck SimilarityMatch"
    ),
}
"""Public names by the module that defines them."""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*sorted(_MODULE_OF), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'kbx_tui' has no attribute {name!r}")
    return getattr(import_module(_MODULE_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
