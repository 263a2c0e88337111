"""The real engine, watched: what the app asks of it is counted, and a test may hold or break it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kbx_tui.api import DocumentView, KnowledgeBase
from kbx_tui.drafting.checks import DraftCheck
from kbx_tui.drafting.plans import Applied, Plan
from kbx_tui.editing.file_edits import Listener
from kbx_tui.editing.state.drafts import Draft
from kbx_tui.index.build.progress import IndexReport, Progress, ProgressListener
from kbx_tui.search.browsing.card import EntityCard
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.results.response import Snippet
from kbx_tui.tui.bases import LocalBases

FORGOTTEN = 30.0
"""Seconds after which a gate that no test opened lets through."""


@dataclass
class Watched:
    """What all engines of one app were asked, and what a test does about it."""

    calls: Counter[str] = field(default_factory=Counter)
    queries: list[str] = field(default_factory=list)
    """Those that were retrieved, in order."""
    faults: dict[str, Exception] = field(default_factory=dict)
    """What a method raises, by its name; `open` for opening a base."""
    retrieving: threading.Event = field(default_factory=threading.Event)
    """When cleared, a retrieval waits for it."""
    indexing: threading.Event = field(default_factory=threading.Event)
    """When cleared, indexing waits for it at the first step that `held` is true of."""
    held: Callable[[Progress], bool] = lambda progress: progress.searchable
    vector_share: float | None = None
    """Reported instead of the true share."""

    def __post_init__(self) -> None:
        self.retrieving.set()
        self.indexing.set()

    def hear(self, method: str) -> None:
        """Count a call, and raise what it is to raise."""
        self.calls[method] += 1
        if (fault := self.faults.get(method)) is not None:
            raise fault


class WatchedKb(KnowledgeBase):
    """Does what `KnowledgeBase` does, and tells."""

    def __init__(self, root: Path, watched: Watched) -> None:
        watched.hear("open")
        super().__init__(root)
        self.watched = watched

    def close(self) -> None:
        self.watched.hear("close")
        super().close()

    def index(
        self,
        progress: ProgressListener | None = None,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> IndexReport:
        self.watched.hear("index")

        def listen(step: Progress) -> None:
            if progress is not None:
                progress(step)
            if self.watched.held(step):
                while not self.watched.indexing.wait(0.01):
                    if cancelled():
                        self.watched.calls["index cancelled"] += 1
                        break

        return super().index(listen, cancelled=cancelled, **options)

    def watch(self, changed: Callable[[frozenset[str]], None], **options: Any) -> None:
        self.watched.hear("watch")
        super().watch(changed, **options)

    def retrieve(self, query: str, **options: Any) -> Evidence:
        self.watched.queries.append(query)
        self.watched.hear("retrieve")
        if not self.watched.retrieving.wait(FORGOTTEN):
            raise TimeoutError("the test forgot to let the retrieval go on")
        evidence = super().retrieve(query, **options)
        share = self.watched.vector_share
        return evidence if share is None else replace(evidence, vector_share=share)

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        self.watched.hear("rank")
        return super().rank(evidence, tuning)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        self.watched.hear("snippets")
        return super().snippets(evidence, rows)

    def document(self, path: str) -> DocumentView:
        self.watched.hear("document")
        return super().document(path)

    def entity(self, entity_id: str) -> EntityCard:
        self.watched.hear("entity")
        return super().entity(entity_id)

    def check_drafts(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        self.watched.hear("check_drafts")
        return super().check_drafts(drafts)

    def apply(self, plan: Plan, progress: Listener | None = None) -> Applied:
        self.watched.hear("apply")
        return super().apply(plan, progress)


class WatchedBases(LocalBases):
    """Folders on this machine, opened as watched ones."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    def open(self, root: Path) -> WatchedKb:
        return WatchedKb(root, self.watched)
