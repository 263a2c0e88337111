"""The door to `kbx_tui.api.KnowledgeBase`: what the app needs of it, so that tests can stand in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kbx_tui.index.progress import IndexReport, Progress
    from kbx_tui.search.evidence import Evidence
    from kbx_tui.search.explain import Explanation
    from kbx_tui.search.ranking import Ranked, Ranking
    from kbx_tui.search.response import Snippet
    from kbx_tui.search.tuning import Tuning


class DocumentText(Protocol):
    """A document as its file is now."""

    @property
    def path(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


class Counts(Protocol):
    """What the index holds."""

    @property
    def documents(self) -> int: ...
    @property
    def entities(self) -> int: ...
    @property
    def vector_share(self) -> float: ...
    @property
    def stale(self) -> Sequence[object]: ...


class Engine(Protocol):
    """The one door, as far as the app goes through it. All but `rank` and `explain` do I/O."""

    @property
    def root(self) -> Path: ...
    def tuning(self) -> Tuning: ...
    def is_indexed(self) -> bool: ...
    def index(
        self,
        progress: Callable[[Progress], None] | None = None,
        *,
        cancelled: Callable[[], bool] = ...,
        wait: bool = ...,
    ) -> IndexReport: ...
    def warm(self) -> None: ...
    def retrieve(self, query: str) -> Evidence: ...
    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking: ...
    def explain(self, ranking: Ranking, ranked: Ranked) -> Explanation: ...
    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]: ...
    def document(self, path: str) -> DocumentText: ...
    def status(self) -> Counts: ...
    def close(self) -> None: ...


OpenEngine = Callable[[], Engine]
