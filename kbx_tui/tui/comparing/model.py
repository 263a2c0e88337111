"""Ranks the query of the explore mode under the settings A, beside the current ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from kbx_tui.safe_text import safe_line
from kbx_tui.search.ranking.explain import Comparison, RankChange, compare, explain_pair
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.tui.drawing.lines import move_text
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.displayed_search import tuning_of
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.search_state import SearchState, knobs_of
from kbx_tui.tui.judging.model import JudgingModel

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence


LIMIT = 10
"""The first results, which are compared."""


class CompareModel:
    """B is the search of the explore mode, and A is that search with the pinned settings.

    A needs Evidence of its own only for another preset or a search by words; it is retrieved once.
    """

    def __init__(
        self,
        client: EngineClient,
        explore: ExploreModel,
        judging: JudgingModel,
        show: Callable[[CompareView | None], object],
    ) -> None:
        """`show` receives each comparison, None without a query."""
        self._client, self._explore, self._judging, self._show = client, explore, judging, show
        self._retrievals = LatestOnly(client)
        self._own: tuple[tuple[object, ...], Evidence] | None = None
        """Evidence of A, with what it was retrieved for."""
        self._rankings: tuple[Ranking, ...] = ()
        """Those of A and B that were compared last."""

    def explain_pair(self, marked: str, other: str) -> tuple[str, ...]:
        """Return which of two results is first and by what, under A and under B, by their paths.

        A setting under which one of them is not a result is left out.
        """
        engine = self._client.engine
        if engine is None or not marked or marked == other:
            return ()
        sentences = []
        for name, ranking in zip("AB", self._rankings, strict=False):
            paths = ranking.evidence.paths
            rows = [paths.index(path) for path in (marked, other) if path in paths]
            if len(rows) == 2 and all(ranking.included[row] for row in rows):
                pair = explain_pair(ranking, rows[0], rows[1])
                titles = ranking.evidence.titles
                ahead, behind = (
                    titles[one.row] or paths[one.row] for one in (pair.ahead, pair.behind)
                )
                sentences.append(f"Under {name}, {pair.text(f'“{ahead}”', f'“{behind}”')}.")
        return tuple(map(safe_line, sentences))

    def update(self) -> None:
        """Compare again: the settings, the query or the index changed."""
        state, evidence = self._state(), self._explore.displayed.evidence
        if state is None or evidence is None or not self._explore.state.query:
            self._retrievals.cancel()
            self._show(None)
        elif self._explore.displayed.answers(self._explore.state):
            key = _key(state, evidence.generation)
            if self._explore.displayed.answers(state):
                own = evidence
            elif self._own is not None and self._own[0] == key:
                own = self._own[1]
            else:
                self._retrievals.start(self._retrieve(state, key))
                return
            self._retrievals.cancel()
            if (engine := self._client.engine) is not None:
                self._show(self._compare(engine, state, own, evidence))

    def stop(self) -> None:
        """Retrieve nothing any more: the screen is closed."""
        self._retrievals.cancel()

    def _state(self) -> SearchState | None:
        """Return the current search with the settings A; None before kbx.toml is read."""
        if (pinned := self._judging.pinned) is None:
            return None
        state = replace(self._explore.state, **knobs_of(pinned.tuning))
        return replace(state, mode="fast") if pinned.is_fast else state

    async def _retrieve(self, state: SearchState, key: tuple[object, ...]) -> None:
        self._own = key, await self._client.run(lambda engine: engine.retrieve(state.request()))
        if state == self._state():
            self.update()

    def _compare(
        self, engine: KnowledgeBase, state: SearchState, evidence: Evidence, current: Evidence
    ) -> CompareView:
        from kbx_tui.tui.judging.live_measure import SearchSettings

        rankings, words = [], []
        for side, found in ((state, evidence), (self._explore.state, current)):
            tuning = tuning_of(engine, side)
            words.append(SearchSettings(tuning, side.mode == "fast").words())
            tuning = replace(tuning, muted=side.muted, pinned=side.pinned)
            # Without the reranker: only the current search waits for it.
            rankings.append(engine.rank(replace(found, reranker=None), tuning))
        before, after = self._rankings = tuple(rankings)
        comparison = compare(before, after, LIMIT)
        return present_comparison(before, after, comparison, (words[0], words[1]))


def _key(state: SearchState, generation: int) -> tuple[object, ...]:
    return (*state.retrieval_key, generation)


@dataclass(frozen=True, slots=True)
class ComparedResult:
    """One of the first results under one setting."""

    path: str
    """As indexed."""
    title: str
    score: float
    document_part: float
    entity_part: float
    move: str
    """From A to B: `▲3`, `▼2`, `lost`, `new`; empty if it stays where it is."""


@dataclass(frozen=True, slots=True)
class RankRow:
    """What is at one rank under A and under B; None below the last result."""

    rank: int
    before: ComparedResult | None
    after: ComparedResult | None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a document was lost or gained."""

    title: str
    ranks: str
    """Its ranks under A and B: `4 to 17`, `4 to none`."""
    reason: str


@dataclass(frozen=True, slots=True)
class CompareView:
    """One query under two settings."""

    query: str
    before: str
    """The settings A in words."""
    after: str
    """The settings B in words."""
    rows: tuple[RankRow, ...]
    lost: tuple[Reason, ...]
    gained: tuple[Reason, ...]
    moved: int
    """Number of documents that are in both at another rank."""


def present_comparison(
    before: Ranking, after: Ranking, comparison: Comparison, settings: tuple[str, str]
) -> CompareView:
    """Return what the screen shows; `settings` are those of A and B in words."""
    moves = {change.path: move_text(change.distance).strip() for change in comparison.kept}
    moves |= {change.path: "lost" for change in comparison.lost}
    moves |= {change.path: "new" for change in comparison.gained}
    columns = zip_longest(
        (_result(before, ranked, moves) for ranked in comparison.before),
        (_result(after, ranked, moves) for ranked in comparison.after),
    )
    return CompareView(
        query=safe_line(after.evidence.query),
        before=settings[0],
        after=settings[1],
        rows=tuple(RankRow(rank, *pair) for rank, pair in enumerate(columns, 1)),
        lost=tuple(map(_reason, comparison.lost)),
        gained=tuple(map(_reason, comparison.gained)),
        moved=len(comparison.moved),
    )


def _result(ranking: Ranking, ranked: Ranked, moves: Mapping[str, str]) -> ComparedResult:
    path = ranking.evidence.paths[ranked.row]
    known_item = bool(ranked.known_item)  # shown first, as if the document scored 1
    return ComparedResult(
        path=path,
        title=safe_line(ranking.evidence.titles[ranked.row]) or safe_line(path),
        score=ranked.score,
        document_part=1.0 if known_item else ranked.document_part,
        entity_part=0.0 if known_item else ranked.entity_part,
        move=moves[path],
    )


def _reason(change: RankChange) -> Reason:
    before, after = (rank or "none" for rank in (change.before, change.after))
    title = safe_line(change.title) or safe_line(change.path)
    return Reason(title, f"{before} to {after}", safe_line(change.reason))
