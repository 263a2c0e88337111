"""Pass 2: BM25 and cosines of the documents in scope, for each variant of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

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
from kbx_tui.search.query.named_query import NamedQuery
from kbx_tui.search.query.query_terms import lexical_weight, searched_terms
from kbx_tui.search.retrieval.pseudo_relevance_feedback import FeedbackQuery
from kbx_tui.search.retrieval.query_topic import query_topic
from kbx_tui.search.retrieval.scope import ScopedDocuments
from kbx_tui.search.retrieval.top_k.top_k import TopKRequest, top_k_evidence


class DocumentPass:
    """Pass 2 of one search. BM25 is computed on construction, cosines when the model is ready."""

    def __init__(
        self,
        generation: IndexGeneration,
        named: NamedQuery,
        scoped: ScopedDocuments,
        *,
        fast: bool,
        propagation_share: float,
    ) -> None:
        self._query, self._snapshot = named.text, generation.snapshot
        documents = generation.scored_documents(scoped, propagation_share)
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
        self._bm25_as_typed, self._is_typical = bm25[0], words.in_statistics
        self._lexical_weight, self._searched_weight = weights[0], weights[-1]
        self._scoring = Scoring(
            documents,
            {
                query: QueryVariant(frozen(raw[documents.rows]), weight)
                for query, raw, weight in zip(variants, bm25, weights, strict=True)
            },
            propagation_share,
        )

    def lexical_scores(self) -> tuple[ComponentScores, ComponentScores]:
        """Return the scores without cosines, for the query as typed and for that of pass 2."""
        unknown = np.full(len(self._scoring.documents.rows), np.nan)
        variants = self._scoring.variants
        scores = [self._scoring.components(query, unknown) for query in variants]
        return scores[0], scores[-1]

    def topic(self) -> Topic | None:
        """Return the topic of the query, None if it names people or teams and asks nothing else."""
        return query_topic(self._named, self._searched_terms, self._words, self._searched_weight)

    def with_cosines(
        self,
        evidence: Evidence,
        vectors: VectorMatrix,
        embed: Callable[[str], Vector],
        *,
        feedback: float,
        top_k: TopKRequest | None,
    ) -> Evidence:
        """Return the evidence with cosines: of all documents, or of those that `top_k` needs.

        `feedback` is the weight of pseudo-relevance feedback. Entity pages are never feedback
        documents.
        """
        eligible = np.where(self._is_typical, self._bm25_as_typed, 0.0)
        query = FeedbackQuery(self._query, eligible, self._lexical_weight, embed, vectors, feedback)
        if top_k is None:
            evidence = self._full_scan(evidence, vectors, query)
        else:
            evidence = self._top_k(evidence, vectors, query, top_k)
        paths, titles = self._snapshot.paths, self._snapshot.titles
        moved_towards = (FeedbackDocument(paths[row], titles[row]) for row in query.feedback_rows)
        return replace(evidence, feedback_documents=tuple(moved_towards))

    def _full_scan(
        self, evidence: Evidence, vectors: VectorMatrix, query: FeedbackQuery
    ) -> Evidence:
        documents, variants = self._scoring.documents, list(self._scoring.variants)
        queries = np.stack([query.vector(variant) for variant in variants])
        cosines = vectors.best_cosine(queries, documents.flags)[:, documents.rows]
        scores = list(map(self._scoring.components, variants, cosines))
        return replace(evidence, as_typed=scores[0], as_searched=scores[-1])

    def _top_k(
        self, evidence: Evidence, vectors: VectorMatrix, query: FeedbackQuery, top_k: TopKRequest
    ) -> Evidence:
        rows, flags = self._scoring.documents.rows, self._scoring.documents.flags
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
            cosine = vectors.best_cosine(query.vector(variant)[None], flags)[0, rows]
            scores = self._scoring.components(variant, cosine)
            best = replace(evidence, as_typed=scores, as_searched=scores, only_for=top_k.tuning)
            if top_k.rank(best, top_k.tuning).lists_linked:  # in the order of the query as typed
                best = replace(best, as_typed=evidence.as_typed)
        return best
