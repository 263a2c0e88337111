"""The real engine with its calls counted; tests can hold or break them."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kbx_tui.api import KnowledgeBase
from kbx_tui.api.documents import Documents, DocumentView
from kbx_tui.api.drafts import Drafts
from kbx_tui.api.entities import Entities
from kbx_tui.api.searcher import PendingReranking
from kbx_tui.api.session import Notice, Session
from kbx_tui.drafting.drafts import Applied, Draft, DraftCheck, Plan
from kbx_tui.editing.file_edits import ProgressCallback
from kbx_tui.index.build.progress import IndexReport, Progress, ProgressListener
from kbx_tui.search.browse import EntityCard
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.reranking import Reranker
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.search.results.response import SearchResponse, Snippet
from kbx_tui.search.why_not import WhyNot
from kbx_tui.tui.base_session import Bases

GATE_TIMEOUT = 120.0
"""Seconds after which a closed gate raises."""


@dataclass
class Watched:
    """The calls to all engines of one app, and how a test interferes."""

    calls: Counter[str] = field(default_factory=Counter)
    queries: list[str] = field(default_factory=list)
    """The queries retrieved, in order."""
    faults: dict[str, Exception] = field(default_factory=dict)
    """Errors to raise, by name of the method; `open` for opening a base."""
    retrieving: threading.Event = field(default_factory=threading.Event)
    """While cleared, retrievals wait."""
    indexing: threading.Event = field(default_factory=threading.Event)
    """While cleared, indexing waits at steps for which `held` is true."""
    reranking: threading.Event = field(default_factory=threading.Event)
    """While cleared, the reranker waits before each run of its model, unless it is cancelled."""
    asking: threading.Event = field(default_factory=threading.Event)
    """While cleared, answers to why not wait."""
    checking: threading.Event = field(default_factory=threading.Event)
    """While cleared, checks of drafts wait."""
    held: Callable[[Progress], bool] = lambda progress: progress.searchable
    vector_share: float | None = None
    """Reported instead of the real share."""

    def __post_init__(self) -> None:
        self.retrieving.set()
        self.indexing.set()
        self.reranking.set()
        self.asking.set()
        self.checking.set()

    def record(self, method: str) -> None:
        """Count a call, and raise its fault if there is one."""
        self.calls[method] += 1
        if (fault := self.faults.get(method)) is not None:
            raise fault


class WatchedKb(KnowledgeBase):
    """A knowledge base that records its calls."""

    def __init__(self, root: Path, watched: Watched, notice: Notice = lambda text: None) -> None:
        watched.record("open")
        super().__init__(root, notice=notice)
        self.entities = WatchedEntities(self._session, watched)
        self.drafts = WatchedDrafts(self._session, watched)
        self.watched = watched

    def close(self) -> None:
        self.watched.record("close")
        super().close()

    def index(
        self,
        progress: ProgressListener | None = None,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> IndexReport:
        self.watched.record("index")

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
        self.watched.record("watch")
        super().watch(changed, **options)

    def search(self, query: str | SearchRequest, **options: Any) -> SearchResponse:
        self.watched.record("search")
        return super().search(query, **options)

    def retrieve(self, query: str | SearchRequest, **options: Any) -> Evidence:
        if isinstance(query, SearchRequest) and query.alpha is None:
            # in the background, for the measure with any knobs
            self.watched.record("retrieve judged")
            return super().retrieve(query, **options)
        self.watched.queries.append(query if isinstance(query, str) else query.query)
        self.watched.record("retrieve")
        if not self.watched.retrieving.wait(GATE_TIMEOUT):
            raise TimeoutError("the test never opened the gate of the retrieval")
        evidence = super().retrieve(query, **options)
        share = self.watched.vector_share
        return evidence if share is None else replace(evidence, vector_share=share)

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        self.watched.record("rank")
        return super().rank(evidence, tuning)

    def begin_reranking(
        self, ranking: Ranking, reranker: str | None = None
    ) -> PendingReranking | None:
        self.watched.record("begin_reranking")
        pending = super().begin_reranking(ranking, reranker)
        if pending is None:
            return None
        self.watched.calls["passages"] += len(pending.passages)
        return replace(pending, reranker=HeldReranker(pending.reranker, self.watched))

    def why_not(
        self, query: str | SearchRequest, path: str, limit: int = 10, **options: Any
    ) -> WhyNot:
        self.watched.record("why_not")
        if not self.watched.asking.wait(GATE_TIMEOUT):
            raise TimeoutError("the test never opened the gate of why not")
        return super().why_not(query, path, limit, **options)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        self.watched.record("snippets")
        return super().snippets(evidence, rows)

    @property
    def documents(self) -> Documents:
        session = self._session
        return session.shared(WatchedDocuments, lambda: WatchedDocuments(session, self.watched))


class WatchedDocuments(Documents):
    def __init__(self, session: Session, watched: Watched) -> None:
        super().__init__(session)
        self._watched = watched

    def view(self, path: str, *, most: int | None = None) -> DocumentView:
        self._watched.record("document")
        return super().view(path, most=most)


class WatchedEntities(Entities):
    def __init__(self, session: Session, watched: Watched) -> None:
        super().__init__(session)
        self._watched = watched

    def card(self, entity_id: str, *, as_of: str = "") -> EntityCard:
        self._watched.record("entity")
        return super().card(entity_id, as_of=as_of)


class WatchedDrafts(Drafts):
    def __init__(self, session: Session, watched: Watched) -> None:
        super().__init__(session)
        self._watched = watched

    def check(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        self._watched.record("check_drafts")
        if not self._watched.checking.wait(GATE_TIMEOUT):
            raise TimeoutError("the test never opened the gate of the checks")
        return super().check(drafts)

    def apply(self, plan: Plan, progress: ProgressCallback | None = None) -> Applied:
        self._watched.record("apply")
        return super().apply(plan, progress)


class HeldReranker(Reranker):
    """A reranker that a test can hold."""

    def __init__(self, reranker: Reranker, watched: Watched) -> None:
        self.name, self._reranker, self._watched = reranker.name, reranker, watched

    def scores(
        self, query: str, passages: Sequence[str], cancelled: Callable[[], bool] = lambda: False
    ) -> list[float] | None:
        while not self._watched.reranking.wait(0.01):
            if cancelled():
                self._watched.calls["reranking cancelled"] += 1
                return None
        return self._reranker.scores(query, passages, cancelled)


class WatchedBases(Bases):
    """Local folders, opened as watched knowledge bases."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    def open(self, root: Path, notice: Notice = lambda text: None) -> WatchedKb:
        return WatchedKb(root, self.watched, notice)
