"""Retrieval quality measured on judged queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kbx_tui.api.searching.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.errors import RerankerError
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.evaluation.measure import Knob, Mode, ProgressCallback, Retrieve, Sweep, measure, sweep
from kbx_tui.evaluation.runs import Run
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.request import SearchRequest


class Evaluator:
    """Runs judged queries over a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)

    def evaluate(
        self,
        queries: Sequence[JudgedQuery],
        mode: Mode,
        preset: str | None,
        doc_types: Sequence[str],
        progress: ProgressCallback | None,
        reranker: str | None,
    ) -> Run:
        def rerank(ranking: Ranking) -> Ranking:
            reranked = self._searcher.rerank(ranking, reranker)
            scores = reranked.evidence.reranker
            if scores is not None and scores.failure:  # other figures than those asked for
                raise RerankerError(scores.failure)
            return reranked

        tuning, retrieve = self._prepare(preset, doc_types, fast=mode == "fast")
        return measure(
            queries,
            retrieve,
            tuning,
            base=self._session.root.name,
            mode=mode,
            preset=self._searcher.preset(preset),
            doc_types=doc_types,
            progress=progress,
            rerank=rerank,
        )

    def sweep(
        self,
        queries: Sequence[JudgedQuery],
        knob: Knob,
        preset: str | None,
        doc_types: Sequence[str],
        progress: ProgressCallback | None,
    ) -> Sweep:
        tuning, retrieve = self._prepare(preset, doc_types)
        return sweep(queries, retrieve, tuning, knob, progress=progress)

    def _prepare(
        self, preset: str | None, doc_types: Sequence[str], *, fast: bool = False
    ) -> tuple[Tuning, Retrieve]:
        """Return knobs and retrieval of a preset, with index and model loaded."""
        self._session.ensure_indexed(fast=False)
        request = SearchRequest("", doc_types=doc_types, fast=fast, preset=preset)
        if not fast:
            self._searcher.warm()  # so that the first query is timed like the others
        tuning = self._searcher.tuning(preset)
        return tuning, lambda query: self._searcher.retrieve(replace(request, query=query))
