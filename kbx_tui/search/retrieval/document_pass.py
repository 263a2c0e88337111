"""Pass 2: BM25 and cosines of the documents in scope, for each variant of the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Vector
from kbx_tui.index.vectors.vector_matrix import ApproximateCosines, VectorMatrix
from kbx_tui.search.evidence.evidence import (
    ComponentScores,
    Evidence,
    FeedbackDocument,
    Rows,
    Scores,
    frozen,
)
from kbx_tui.search.evidence.score_normalization import TITLE_BONUS
from kbx_tui.search.evidence.scoring import QueryVariant, Scoring
from kbx_tui.search.evidence.topic import Topic
from kbx_tui.search.index_generation import IndexGeneration
from kbx_tui.search.query.names.named_query import NamedQuery
from kbx_tui.search.query.query_terms import lexical_weight, searched_terms
from kbx_tui.search.retrieval.pseudo_relevance_feedback import FeedbackQuery
from kbx_tui.search.retrieval.query_topic import query_topic
from kbx_tui.search.retrieval.scope import ScopedDocuments
from kbx_tui.search.retrieval.top_k.top_k import TopKRequest, top_k_evidence


class DocumentPass:
    """Pass 2 of one search. BM25 is computed on construction, cosines when the model is ready.

    BM25 is that of the whole base, so that another scope costs little (`within`).
    """

    def __init__(
        self,
        generation: IndexGeneration,
        named: NamedQuery,
        scoped: ScopedDocuments,
        *,
        fast: bool,
        propagation_share: float,
    ) -> None:
        self._query, self._generation, self._scoped = named.text, generation, scoped
        self._propagation_share = propagation_share
        words, variants = generation.words, named.variants
        terms = [searched_terms(query, words.languages, words.holds) for query in variants]
        bm25 = words.bm25([searched.weights for searched in terms])
        if not named.spans:  # links find what belongs to people and teams, not titles
            for language, single in terms[0].in_titles.items():
                rarest_first = sorted(single, key=words.idf, reverse=True)
                if single and len(texts := words.rows_holding_all(rarest_first)):
                    titles = generation.title_words
                    titled, shares = titles.holding(rarest_first, language, among=texts)
                    bm25[0][titled] += TITLE_BONUS * shares
        self._named, self._words, self._searched_terms = named, words, terms[-1]
        weights = [
            1.0 if fast else lexical_weight(query, names_someone=bool(named.spans))
            for query in variants
        ]
        self._is_typical = words.in_statistics
        self._bm25 = dict(zip(variants, map(frozen, bm25), strict=True))
        self._lexical_weights = dict(zip(variants, weights, strict=True))

    def within(self, scoped: ScopedDocuments) -> DocumentPass:
        """Return this pass over other documents in scope."""
        if scoped is self._scoped:
            return self
        other = copy(self)
        other._scoped = scoped
        for computed in ("_scoring", "lexical_scores"):
            vars(other).pop(computed, None)
        return other

    @cached_property
    def _scoring(self) -> Scoring:
        documents = self._generation.scored_documents(self._scoped, self._propagation_share)
        variants = {
            query: QueryVariant(frozen(raw[documents.rows]), self._lexical_weights[query])
            for query, raw in self._bm25.items()
        }
        return Scoring(documents, variants, self._propagation_share)

    @property
    def bm25(self) -> Mapping[str, Scores]:
        """BM25 of every document of the base for each query variant, shape (documents,)."""
        return self._bm25

    @cached_property
    def lexical_scores(self) -> tuple[ComponentScores, ComponentScores]:
        """The scores without cosines, for the query as typed and for that of pass 2."""
        scores = [self._scoring.components(query, None) for query in self._scoring.variants]
        return scores[0], scores[-1]

    def topic(self) -> Topic | None:
        """Return the topic of the query, None if it names people or teams and asks nothing else."""
        weight = self._lexical_weights[self._named.variants[-1]]
        return query_topic(self._named, self._searched_terms, self._words, weight)

    def feedback_query(
        self, vectors: VectorMatrix, embed: Callable[[str], Vector], feedback: float
    ) -> FeedbackQuery:
        """Return the vectors of the query variants; `feedback` is the weight of feedback.

        Entity pages are never feedback documents.
        """
        eligible = np.where(self._is_typical, self._bm25[self._query], 0.0)
        weight = self._lexical_weights[self._query]
        return FeedbackQuery(self._query, eligible, weight, embed, vectors, feedback)

    def with_cosines(
        self,
        evidence: Evidence,
        vectors: VectorMatrix,
        query: FeedbackQuery,
        top_k: TopKRequest | None,
    ) -> Evidence:
        """Return the evidence with cosines: of all documents, or of those that `top_k` needs."""
        if top_k is None:
            evidence = self._full_scan(evidence, vectors, query)
        else:
            evidence = self._top_k(evidence, vectors, query, top_k)
        snapshot = self._generation.snapshot
        paths, titles = snapshot.paths, snapshot.titles
        moved_towards = (FeedbackDocument(paths[row], titles[row]) for row in query.feedback_rows)
        return replace(evidence, feedback_documents=tuple(moved_towards))

    def _full_scan(
        self, evidence: Evidence, vectors: VectorMatrix, query: FeedbackQuery
    ) -> Evidence:
        variants = list(self._scoring.variants)
        queries = np.stack([query.vector(variant) for variant in variants])
        cosines = self._cosines(vectors, queries)
        scores = list(map(self._scoring.components, variants, cosines))
        return replace(evidence, as_typed=scores[0], as_searched=scores[-1])

    def _cosines(self, vectors: VectorMatrix, queries: NDArray[np.float32]) -> Scores:
        """Return the exact cosines of the scored documents for each query."""
        documents = self._scoring.documents
        if self._scoped.scope.complete:
            return vectors.best_cosine(queries, documents.flags)[:, documents.rows]
        return np.stack([vectors.best_cosine_of(query, documents.rows) for query in queries])

    def _top_k(
        self, evidence: Evidence, vectors: VectorMatrix, query: FeedbackQuery, top_k: TopKRequest
    ) -> Evidence:
        rows = self._scoring.documents.rows
        rounded: dict[str, ApproximateCosines] = {}

        def approximate(variant: str) -> tuple[Scores, float]:
            cosines = rounded[variant] = vectors.approximate_cosine(query.vector(variant), rows)
            return cosines.cosine, cosines.error_bound

        def exact(variant: str, positions: Rows) -> Scores:
            vector = query.vector(variant)
            return vectors.best_cosine_of(vector, rows[positions], rounded[variant])

        best = top_k_evidence(evidence, top_k, self._scoring, approximate, exact)
        if best is None:
            variant = top_k.query_variant(evidence)
            cosine = self._cosines(vectors, query.vector(variant)[None])[0]
            scores = self._scoring.components(variant, cosine)
            best = replace(evidence, as_typed=scores, as_searched=scores, only_for=top_k.tuning)
            if top_k.rank(best, top_k.tuning).lists_linked:  # in the order of the query as typed
                best = replace(best, as_typed=evidence.as_typed)
        return best
