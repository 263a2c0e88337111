"""Ranks the query of the explore mode under the settings A, beside the current ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.comparing.messages import Compared
from kbx_tui.tui.comparing.view import CompareView
from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.explore.displayed_search import tuning_of
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.search_state import SearchState, knobs_of
from kbx_tui.tui.judging.model import JudgingModel

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.ranking.rank import Ranking

LIMIT = 10
"""The first results, which are compared."""


class CompareModel:
    """B is the search of the explore mode, and A is that search with the pinned settings.

    A needs Evidence of its own only for another preset or a search by words; it is retrieved once.
    """

    def __init__(self, client: EngineClient, explore: ExploreModel, judging: JudgingModel) -> None:
        self._client, self.explore, self._judging = client, explore, judging
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
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
                pair = engine.explain_pair(ranking, rows[0], rows[1])
                titles = ranking.evidence.titles
                ahead, behind = (
                    titles[one.row] or paths[one.row] for one in (pair.ahead, pair.behind)
                )
                sentences.append(f"Under {name}, {pair.text(f'“{ahead}”', f'“{behind}”')}.")
        return tuple(map(safe_line, sentences))

    def update(self) -> None:
        """Compare again: the settings, the query or the index changed."""
        state, evidence = self._state(), self.explore.displayed.evidence
        if state is None or evidence is None or not self.explore.state.query:
            self._retrievals.cancel()
            self.post(Compared(None))
        elif self.explore.displayed.answers(self.explore.state):
            if (own := self._evidence_for(state, evidence)) is not None:
                self._retrievals.cancel()
                self._compare(state, own)
            else:
                self._retrievals.start(self._retrieve(state, evidence.generation))

    def _state(self) -> SearchState | None:
        """Return the current search with the settings A; None before kbx.toml is read."""
        if (pinned := self._judging.pinned) is None:
            return None
        state = replace(self.explore.state, **knobs_of(pinned.tuning))
        return replace(state, mode="fast") if pinned.is_fast else state

    def _evidence_for(self, state: SearchState, current: Evidence) -> Evidence | None:
        if self.explore.displayed.answers(state):
            return current
        own = self._own
        return own[1] if own is not None and own[0] == _key(state, current.generation) else None

    async def _retrieve(self, state: SearchState, generation: int) -> None:
        evidence = await self._client.run(lambda engine: engine.retrieve(state.request()))
        self._own = _key(state, generation), evidence
        if state == self._state():
            self.update()

    def _compare(self, state: SearchState, evidence: Evidence) -> None:
        engine, current = self._client.engine, self.explore.displayed.evidence
        if engine is not None and current is not None:
            self.post(Compared(self._view(engine, state, evidence, current)))

    def _view(
        self, engine: KnowledgeBase, state: SearchState, evidence: Evidence, current: Evidence
    ) -> CompareView:
        from kbx_tui.tui.comparing.present_comparison import present_comparison
        from kbx_tui.tui.judging.search_settings import SearchSettings

        rankings, words = [], []
        for side, found in ((state, evidence), (self.explore.state, current)):
            tuning = tuning_of(engine, side)
            words.append(SearchSettings(tuning, side.mode == "fast").words())
            tuning = replace(tuning, muted=side.muted, pinned=side.pinned)
            # Without the reranker: only the current search waits for it.
            rankings.append(engine.rank(replace(found, reranker=None), tuning))
        before, after = self._rankings = tuple(rankings)
        comparison = engine.compare(before, after, LIMIT)
        return present_comparison(before, after, comparison, (words[0], words[1]))


def _key(state: SearchState, generation: int) -> tuple[object, ...]:
    return (*state.retrieval_key, generation)
