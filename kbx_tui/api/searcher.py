"""Search: retrieval, ranking and reranking.

Reranking has two steps; the second runs the model and may do so in any thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kbx_tui.api.session import Session
from kbx_tui.base_trust import RERANKER
from kbx_tui.errors import ConfigError, IndexDamaged, KbxError, RerankerError
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.reranking import RERANK_MS, RERANKED, Reranker, RerankerScores
from kbx_tui.search.frecency import OpenedDocuments
from kbx_tui.search.query.typed_filters import names_in
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest, Tuning
from kbx_tui.search.results.answer import answer, in_order
from kbx_tui.search.results.response import MAX_BY_DATE, SearchResponse, Snippet
from kbx_tui.search.results.snippets import RERANKED_LENGTH
from kbx_tui.search.retrieval.document_pass import TopKRequest
from kbx_tui.search.retrieval.retrieve import Retriever

if TYPE_CHECKING:
    from kbx_tui.embedding.cross_encoder import CrossEncoder


TRIED_WORDS = (
    "the team agreed to move the review of the plan to the next week because of the audit "
)


class Searcher:
    """Searches the index of a session. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def tuning(self, preset: str | None = None) -> Tuning:
        search = self._session.settings.search
        knobs: dict[str, Any] = {
            "alpha": search.hierarchy_alpha,
            "entity_threshold": search.hierarchy_entity_threshold,
            "max_entities": search.hierarchy_max_entities,
            "hotness_weight": search.hotness_weight,
        }
        if self.preset(preset) == "seed":
            return replace(Tuning.seed(), **knobs)
        return Tuning(gate=search.hierarchy_gate, parent=search.hierarchy_parent, **knobs)

    def preset(self, preset: str | None = None) -> str:
        """Return the given preset, or for None the one in kbx.toml."""
        return preset or self._session.settings.search.hierarchy_preset

    def retrieve(self, request: SearchRequest, top_k: TopKRequest | None = None) -> Evidence:
        """Return the evidence; with `top_k`, only as much as that ranking needs."""
        retriever, request = self._retriever(), self.with_properties(request)
        retriever.begin(request, top_k)  # the rest is done while the model is running
        request = self._configured(request)
        path = self._session.path_filter(request.path)
        generation = self._session.fresh_index().generation()
        evidence = retriever.retrieve(request, path, top_k)
        read = self._session.read_paths
        for unknown in evidence.scope.unknown_names:
            read.update(unknown.pages)
        for _, key in evidence.misspelt:
            read.update(generation.snapshot.paths[row] for row in generation.properties.pages(key))
        return evidence

    def with_properties(self, request: SearchRequest) -> SearchRequest:
        """Return the request with the names in its query that are properties of the base."""
        if not names_in(request.query):
            return request  # without opening the index: the query is embedded meanwhile
        known = self._session.fresh_index().generation().properties.named_in(request.query)
        return replace(request, properties=known)

    def ranked(self, request: SearchRequest) -> Ranking:
        return rank(self.retrieve(request), request.tuning(self.tuning(request.preset)))

    def _configured(self, request: SearchRequest) -> SearchRequest:
        """Return the request with None fields set from kbx.toml or from the seed preset."""
        search = self._session.settings.search
        configured: dict[str, Any] = {
            "feedback": search.feedback,
            "parts": search.parts,
            "age_half_life": search.age_half_life,
            "dates": search.dates,
            "muted_documents": search.muted_documents,
        }
        if self.preset(request.preset) == "seed":
            configured |= {"feedback": 0.0, "parts": 0.0, "dates": "off", "age_half_life": 0.0}
        unset = {name: each for name, each in configured.items() if getattr(request, name) is None}
        return replace(request, **unset) if unset else request

    def begin_reranking(
        self, ranking: Ranking, reranker: str | None = None
    ) -> PendingReranking | None:
        """Return the passages of top results that have no score yet, for scoring.

        None if all have a score, without a reranker, or if it has failed for this evidence.
        """
        is_seed = reranker is None and ranking.tuning.preset == "seed"
        if is_seed or not self._reranker_name(reranker):
            return None
        start, evidence, used = time.perf_counter(), ranking.evidence, self._reranker(reranker)
        if evidence.reranker is not None and evidence.reranker.model != used.name:
            evidence = replace(evidence, reranker=None)
        scored = evidence.reranker or RerankerScores(used.name)
        rows = [row for row in ranking.rows_to_rerank if row not in scored.scores]
        if scored.failure or not rows:
            return None
        passages = self._retriever().passages_to_rerank(evidence, rows)
        read_ms = (time.perf_counter() - start) * 1000
        return PendingReranking(evidence, used, rows, passages, read_ms)

    def try_reranker(self, reranker: str | None, *, download: bool) -> RerankerTrial:
        name = self._reranker_name(reranker)
        if not name:
            raise ConfigError("kbx.toml names no [search] reranker; name one, as a folder or model")
        if download:
            from kbx_tui.embedding.download import download as download_model

            download_model(name)
        tried = self._reranker(reranker)
        text = (TRIED_WORDS * RERANKED_LENGTH)[
            : RERANKED_LENGTH - 3
        ]  # as long as the longest passage
        tried.scores(TRIED_WORDS, [text])  # loads the model
        start = time.perf_counter()
        tried.scores(TRIED_WORDS, [f"{number:02} {text}" for number in range(RERANKED)])
        return RerankerTrial(tried.name, RERANKED, (time.perf_counter() - start) * 1000)

    def _reranker_name(self, reranker: str | None) -> str:
        return self._session.settings.search.reranker if reranker is None else reranker

    def _reranker(self, reranker: str | None) -> Reranker:
        """Return a reranker without loading it.

        The reranker in kbx.toml may be a folder relative to the root; loading it fails if the base
        is not trusted to run it.
        """
        session, name = self._session, self._reranker_name(reranker)
        relative_to = session.root if reranker is None else None

        def load() -> CrossEncoder:
            from kbx_tui.embedding.cross_encoder import open_cross_encoder

            if reranker is None and RERANKER in session.refused:
                raise RerankerError(
                    f'{session.root} is not trusted with [search] reranker = "{name}"; '
                    "`kbx trust` allows it"
                )
            return open_cross_encoder(name, relative_to=relative_to)

        known = session.shared(_Rerankers, _Rerankers)
        return known.setdefault((name, relative_to), Reranker(name, load))

    def search(self, request: SearchRequest) -> SearchResponse:
        self._session.ensure_indexed()
        request = self._with_entity_ids(request)
        tuning = request.tuning(self.tuning(request.preset))
        for full in (False, True):  # an incremental run can miss damage that a search finds
            try:
                return self._search(request, tuning)
            except IndexDamaged as damage:
                self._session.rebuild(damage, full=full)
            except KbxError:
                raise
            except Exception as error:  # a mapped file may hold other numbers than its layout says
                self._session.rewrite_derived_files(error)
                break
        return self._search(request, tuning)

    def _with_entity_ids(self, request: SearchRequest) -> SearchRequest:
        if not (request.pinned or request.muted or request.entities):
            return request
        from kbx_tui.search.name_lookup import EntityFinder

        finder = EntityFinder(self._session.snapshot().entities)
        lists = request.pinned, request.muted, request.entities
        found = [[finder.find(name) for name in names] for names in lists]
        self._session.read_paths.update(entity.path for each in found for entity in each)
        pinned, muted, entities = (tuple(entity.id for entity in each) for each in found)
        return replace(request, pinned=pinned, muted=muted, entities=entities)

    def _search(self, request: SearchRequest, tuning: Tuning) -> SearchResponse:
        start = time.perf_counter()
        search = self._session.settings.search
        may_rerank = request.rerank and bool(self._reranker_name(request.reranker))
        limit = max(
            request.limit,
            RERANKED if may_rerank else 0,
            MAX_BY_DATE if request.order == "date" else 0,
        )
        evidence = self.retrieve(request, TopKRequest(tuning, limit, search.convergence))
        ranking = rank(evidence, tuning)
        if may_rerank:
            ranking = self.rerank(ranking, request.reranker)
            self._session.fresh_index()  # the index may have changed while the model ran
        top = in_order(ranking, request.order, request.limit)
        snippets = self._retriever().snippets(evidence, [ranked.row for ranked in top])
        total_ms = (time.perf_counter() - start) * 1000
        return answer(
            ranking,
            top,
            snippets,
            total_ms=total_ms,
            with_explain=request.explain,
            sort=request.order,
            notes=self._session.repair_derived_files(),
            types=sorted(set(self._session.snapshot().kinds)) if request.all_types else (),
            outdated=self._session.outdated_notes(),
        )

    def rerank(self, ranking: Ranking, reranker: str | None = None) -> Ranking:
        pending = self.begin_reranking(ranking, reranker)
        return ranking if pending is None else rank(pending.run(), ranking.tuning)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        self._session.fresh_index()
        return tuple(self._retriever().snippets(evidence, rows))

    def warm(self) -> None:
        self._retriever().warm()

    def _retriever(self) -> Retriever:
        session = self._session
        return session.shared(
            Retriever,
            lambda: Retriever(
                session.open_index(),
                session.embedder,
                OpenedDocuments(session.root, session.notice_once),
            ),
        )


@dataclass(frozen=True, slots=True)
class PendingReranking:
    """Passages of the first results of a ranking that a reranker has yet to score."""

    evidence: Evidence
    reranker: Reranker
    rows: Sequence[int]
    """The documents, as rows of the Evidence."""
    passages: Sequence[str]
    read_ms: float

    def run(self, cancelled: Callable[[], bool] = lambda: False) -> Evidence:
        """Return the evidence with the scores of these documents added.

        Runs the model once per passage. `cancelled` is checked between passages; if it is True, the
        evidence is returned unchanged. If the model cannot be loaded or run, all scores are dropped
        and the evidence says why, so it is ranked without a reranker. Callable on any thread.
        """
        start, evidence = time.perf_counter(), self.evidence
        try:
            scores = self.reranker.scores(evidence.document_query, self.passages, cancelled)
        except RerankerError as error:
            failure = f"not reranked: {safe_line(str(error))}"
            scores_of_none = RerankerScores(self.reranker.name, failure=failure)
            return replace(evidence, reranker=scores_of_none)
        if scores is None:
            return evidence
        known = {} if evidence.reranker is None else evidence.reranker.scores
        merged = {**known, **dict(zip(self.rows, scores, strict=True))}
        took = self.read_ms + (time.perf_counter() - start) * 1000
        return replace(
            evidence,
            reranker=RerankerScores(self.reranker.name, MappingProxyType(merged)),
            timings=MappingProxyType({**evidence.timings, RERANK_MS: round(took, 3)}),
        )


@dataclass(frozen=True, slots=True)
class RerankerTrial:
    """How long a reranker took, with its model already loaded."""

    model: str
    passages: int
    milliseconds: float


class _Rerankers(dict[tuple[str, Path | None], Reranker]):
    """The rerankers of a session by name and folder, each with its model and recent scores."""
