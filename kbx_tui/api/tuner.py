"""Tuning: judged queries with their evidence, kept while the index does not change."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from kbx_tui.api.searcher import Searcher
from kbx_tui.api.session import Session
from kbx_tui.evaluation.judged_evidence import JudgedEvidence, Progress
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.request import SearchRequest


class Tuner:
    """Measures knobs over a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session, self._searcher = session, Searcher(session)
        self._kept: tuple[Hashable, JudgedEvidence] | None = None

    def judged_evidence(
        self,
        queries: Sequence[JudgedQuery],
        preset: str | None,
        doc_types: Sequence[str],
        limit: int,
        progress: Progress | None,
    ) -> JudgedEvidence:
        self._session.ensure_indexed(fast=False)
        request = SearchRequest("", doc_types=doc_types, preset=preset)
        generation = self._session.fresh_index().generation().number
        key = generation, self._searcher.preset(preset), request.doc_types
        known: dict[str, Evidence] = {}
        if self._kept is not None and self._kept[0] == key:
            before = self._kept[1]
            if before.queries == [query for query in queries if query.is_measurable]:
                return before
            known = {
                query.text: found
                for query, found in zip(before.queries, before.evidence, strict=True)
            }

        def retrieve(text: str) -> Evidence:
            if text in known:
                return known[text]
            return self._searcher.retrieve(replace(request, query=text))

        self._kept = None  # two need not fit in memory
        tuning = self._searcher.tuning(preset)
        read = JudgedEvidence.read(
            queries, retrieve, generation, tuning, limit=limit, progress=progress
        )
        if self._session.open_index().generation().number == generation:
            self._kept = key, read
        return read
