"""Pass 2: BM25 and cosines of the documents in scope, for each variant of the query; its vectors.

Pseudo-relevance feedback moves the query vector towards the documents that fit it best:

    q' = (q + w * m) / (1 + w)

with the weight w (`[search] feedback`, 0 = off) and the mean vector m of these documents. A cosine
with q' is the weighted mean of those with the query and with m. The documents are chosen from the
whole base, before any filter, so that a score depends on no filter, batch or pool. The vectors of a
few documents are read for it. Source: Rocchio 1971, "Relevance Feedback in Information Retrieval";
for embeddings Li et al. 2021, https://arxiv.org/abs/2108.11044.

Top-k retrieval, for one tuning, computes exact cosines only for documents that can enter the top k.
Lexical scores, links and cosines with quantized vectors (`vectors`), which have a known maximum
error, bound the final score of every document. Documents are evaluated in batches by descending
bound, until no remaining bound exceeds the score of the k-th best. Source: two-pass proposal,
"Convergence"; the exact rule is the threshold algorithm of Fagin, Lotem & Naor 2003,
https://doi.org/10.1016/S0022-0000(03)00026-6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Literal

import numpy as np

from kbx_tui.embedding import is_remote
from kbx_tui.embedding.embedder import Embedder, Vector
from kbx_tui.errors import EmbeddingError
from kbx_tui.index.lexical.bm25 import Bm25Index
from kbx_tui.index.lexical.postings import stem_of_term, terms_in
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.knowledge.folding import beginning_of, fold, folded_words
from kbx_tui.search.evidence.evidence import EntityCandidate, Evidence, Topic
from kbx_tui.search.evidence.scores import (
    FEEDBACK_CANDIDATES,
    FEEDBACK_DOCUMENTS,
    FULL_BM25,
    FULL_COSINE,
    NAMES_VECTOR_FLOOR,
    TITLE_BONUS,
    VECTOR_FLOOR,
    ComponentScores,
    Flags,
    QueryVariant,
    Rows,
    Scores,
    Scoring,
    frozen,
    fuse,
    highest,
    scale_cosine,
    scale_lexical,
)
from kbx_tui.search.lru_cache import LruCache
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.query_terms import (
    NamedQuery,
    SearchedTerms,
    lexical_weight,
    searched_terms,
)
from kbx_tui.search.query.query_words import topic_words_of
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import Tuning
from kbx_tui.search.retrieval.asked import asks_for_people
from kbx_tui.search.retrieval.scope import ScopedDocuments


class DocumentPass:
    """Pass 2 of one search: BM25 of the whole base, whatever the scope, on construction."""

    def __init__(
        self,
        generation: IndexGeneration,
        named: NamedQuery,
        variants: Sequence[str],
        *,
        fast: bool,
        for_time: bool,
    ) -> None:
        self._generation, self._named = generation, named
        no_topic = named.names_only or bool(named.things and not named.words_asked)
        self._vector_floor = NAMES_VECTOR_FLOOR if for_time or no_topic else VECTOR_FLOOR
        words = generation.words
        terms = [searched_terms(query, words.languages, words.holds) for query in variants]
        bm25 = words.bm25([searched.weights for searched in terms])
        if not named.spans:  # links find what belongs to people and teams, not titles
            for language, single in terms[0].in_titles.items():
                if single:
                    rarest_first = sorted(single, key=words.idf, reverse=True)
                    texts = np.sort(words.rows_holding_all(rarest_first))
                    rows = highest(bm25[0], texts, TEXTS_READ).tolist()
                    rows = [row for row in rows if words.language_of(row) == language]
                    for row, share in titles_holding(
                        generation.snapshot.titles, rows, single, language
                    ):
                        bm25[0][row] += TITLE_BONUS * share
        phrase = _STATE.search(named.document_query)
        if phrase:
            for scores in bm25:
                scores[self._lacking(phrase[1], scores)] = 0.0
        self._searched_terms = terms[-1]
        self.bm25: Mapping[str, Scores] = dict(zip(variants, map(frozen, bm25), strict=True))
        """BM25 of every document of the base for each query variant, shape (documents,)."""
        self._lexical_weights = {
            query: 1.0 if fast else lexical_weight(query, names_someone=bool(named.spans))
            for query in variants
        }

    def _lacking(self, phrase: str, scores: Scores) -> Rows:
        """Return which of the best rows lack the words of a phrase one after the other.

        None if all of those read lack it.
        """
        generation, words = self._generation, r"[\s-]+".join(map(re.escape, phrase.split()))
        written = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
        rows = highest(scores, np.flatnonzero(scores > 0.0), TEXTS_READ)
        titles = [generation.snapshot.titles[row] for row in rows.tolist()]
        bodies = generation.bodies.of_rows(rows.tolist())
        texts = zip(titles, (body for body, _ in bodies), strict=True)
        lacking = rows[[not any(map(written.search, text)) for text in texts]]
        return lacking[: 0 if len(lacking) == len(rows) else None]

    def scoring(self, scoped: ScopedDocuments, propagation_share: float) -> Scoring:
        documents = self._generation.scored_documents(scoped, propagation_share)
        variants = {
            query: QueryVariant(frozen(raw[documents.rows]), self._lexical_weights[query])
            for query, raw in self.bm25.items()
        }
        return Scoring(documents, variants, propagation_share, self._vector_floor)

    def topic(self, in_scope: Flags) -> Topic | None:
        *_, weight = self._lexical_weights.values()
        words = self._generation.words
        return query_topic(self._named, self._searched_terms, words, weight, in_scope)

    def feedback_query(
        self, vectors: VectorMatrix, embed: Callable[[str], Vector], feedback: float
    ) -> FeedbackQuery:
        """Return the vectors of the query variants; `feedback` is the weight of feedback.

        Entity pages are never feedback documents.
        """
        query, is_typical = self._named.text, self._generation.words.in_statistics
        eligible = np.where(is_typical, self.bm25[query], 0.0)
        return FeedbackQuery(
            query, eligible, self._lexical_weights[query], embed, vectors, feedback
        )


TEXTS_READ = 50
"""Documents with the words of a query whose titles or texts are read, those with the highest
BM25."""
_STATE = re.compile(
    r"\b(?:am|are|be|been|is|was|were)\s(?:(?:he|i|it|she|they|we|you)\s)?"
    r"((?:off|on)\s(?:air|call|duty)|on\s(?:hold|track))\b",
    re.IGNORECASE,
)
"""Matches `is on call` and `were we off air`: the index holds no preposition, and `call` says
something else. Where the noun alone says as much, no text is to lack it: `was at kickoff`."""


def titles_holding(
    titles: Sequence[str], rows: Sequence[int], terms: Sequence[str], language: str
) -> Iterator[tuple[int, float]]:
    """Yield the rows of the titles that hold all `terms`, with their share of its terms, 0..1."""
    wanted = frozenset(terms)
    beginnings = [beginning_of(stem_of_term(term), language) for term in terms]
    for row in rows:
        folded = fold(titles[row])
        if all(beginning in folded for beginning in beginnings):  # stemming takes longer
            held = frozenset(terms_in(folded, language))
            if wanted <= held:
                yield row, len(wanted) / len(held)


def with_cosines(
    evidence: Evidence,
    scoring: Scoring,
    vectors: VectorMatrix,
    query: FeedbackQuery,
    top_k: TopKRequest | None,
) -> Evidence:
    rows = scoring.documents.rows

    def full_scan(variants: Sequence[str]) -> list[ComponentScores]:
        queries = [query.vector(variant) for variant in variants]
        if evidence.scope.complete:
            cosines = vectors.best_cosine(np.stack(queries), scoring.documents.flags)[:, rows]
        else:
            cosines = np.stack([vectors.best_cosine_of(vector, rows) for vector in queries])
        return list(map(scoring.components, variants, cosines))

    def approximate(variant: str) -> tuple[Scores, float]:
        return vectors.approximate_cosine(query.vector(variant), rows)

    def exact(variant: str, positions: Rows) -> Scores:
        return vectors.best_cosine_of(query.vector(variant), rows[positions])

    if top_k is None:
        scores = full_scan(list(scoring.variants))
        return replace(evidence, as_typed=scores[0], as_searched=scores[-1])
    best = top_k_evidence(evidence, top_k, scoring, approximate, exact)
    if best is None:
        (only,) = full_scan([top_k.query_variant(evidence)])
        best = replace(evidence, as_typed=only, as_searched=only, only_for=top_k.tuning)
        if rank(best, top_k.tuning).lists_linked:  # in the order of the query as typed
            best = replace(best, as_typed=evidence.as_typed)
    return best


def query_topic(
    named: NamedQuery,
    terms: SearchedTerms,
    words: Bm25Index,
    lexical_weight: float,
    in_scope: Flags,
) -> Topic | None:
    """Return the topic of a query, None if it names people or teams and asks nothing else.

    `terms` are those of `named.document_query`, and `lexical_weight` is the weight of BM25 in the
    relevance. Terms that no document holds do not count.
    """
    if named.names_only:
        return None
    idf = words.idf_of_held(terms.words)
    bm25 = FULL_BM25 * sum(terms.weights[term] * value for term, value in idf.items())
    full = fuse(scale_lexical(np.array(bm25)), np.array(FULL_COSINE), lexical_weight)
    thing_share, documents, asked = 0.0, 0, idf
    if named.things:
        query = named.words_asked
        found = searched_terms(query, words.languages, words.holds).words if query else ()
        asked = {term: idf[term] for term in found if term in idf}
        if not asks_for_people(named.text):
            total = sum(idf.values())
            thing_share = 1.0 - (sum(asked.values()) / total if total else 0.0)
    if named.spans and asked:
        rarest = max(asked, key=asked.__getitem__)
        documents = int(np.count_nonzero(in_scope[words.rows_holding(rarest)]))
    topic = topic_words_of(folded_words(named.document_query))
    is_common = any(map(words.is_held, topic)) and all(map(is_common_word, topic))
    return Topic(float(full), thing_share, documents, is_common)


class FeedbackQuery:
    """The vectors of the variants of one query, each computed once.

    Only the query as typed is moved. Without names, it would also match documents of other people,
    and links already show which documents belong to an entity.
    """

    def __init__(
        self,
        query: str,
        raw_lexical: Scores,
        lexical_weight: float,
        embed: Callable[[str], Vector],
        vectors: VectorMatrix,
        weight: float,
    ) -> None:
        """Take BM25 of every document of the base (0: not eligible) and its weight in relevance."""
        self._query, self._raw_lexical, self._weight = query, raw_lexical, weight
        self._lexical_weight = lexical_weight
        self._embed, self._vectors = embed, vectors
        self._made: dict[str, Vector] = {}
        self.feedback_rows: list[int] = []

    def vector(self, variant: str) -> Vector:
        if variant not in self._made:
            vector = self._embed(variant)
            if variant == self._query and self._weight:
                rows = best_documents(
                    vector, self._raw_lexical, self._lexical_weight, self._vectors
                )
                self.feedback_rows = rows.tolist()
                vector = moved_towards(vector, rows, self._vectors, self._weight)
            self._made[variant] = vector
        return self._made[variant]


def best_documents(
    query: Vector, raw_lexical: Scores, lexical_weight: float, vectors: VectorMatrix
) -> Rows:
    """Return the rows of the most relevant documents of the base, best first, at most 3."""
    rows = highest(raw_lexical, np.flatnonzero(raw_lexical > 0.0), FEEDBACK_CANDIDATES)
    cosine = vectors.best_cosine_of(query, rows)
    rows, cosine = rows[~np.isnan(cosine)], cosine[~np.isnan(cosine)]
    relevance = fuse(scale_lexical(raw_lexical[rows]), scale_cosine(cosine), lexical_weight)
    return rows[np.argsort(-relevance, kind="stable")[:FEEDBACK_DOCUMENTS]]


def moved_towards(query: Vector, rows: Rows, vectors: VectorMatrix, weight: float) -> Vector:
    if not len(rows):
        return query
    mean = vectors.mean_vectors(rows).mean(axis=0)
    mean /= max(float(np.linalg.norm(mean)), 1e-9)
    moved: Vector = (query + np.float32(weight) * mean) / np.float32(1 + weight)
    return moved


ApproximateCosine = Callable[[str], tuple[Scores, float]]
"""Returns approximate cosines of a query variant with all scored documents, NaN where there is no
vector, and the maximum error."""
ExactCosine = Callable[[str, Rows], Scores]

UNDECIDED_SHARE = 1 / 3
"""Share of documents above which a full scan is faster, if quantized vectors leave undecided which
of them are results. Chosen by the experiment "undecided documents in top-k retrieval" in
docs/quality.md."""


@dataclass(frozen=True, slots=True)
class TopKRequest:
    tuning: Tuning
    limit: int
    rule: Rule = "exact"

    @property
    def is_flat(self) -> bool:
        return not self.tuning.hierarchy

    @property
    def uses_query_as_typed(self) -> bool:
        """True when names stay in the query, whatever entities are named."""
        return self.is_flat or self.tuning.keep_names

    def may_keep(self, entity: EntityCandidate) -> bool:
        tuning, is_pinned = self.tuning, entity.id in self.tuning.pinned
        return tuning.hierarchy and (entity.score >= tuning.entity_threshold or is_pinned)

    def query_variant(self, evidence: Evidence) -> str:
        return rank(evidence, self.tuning).components.query


def top_k_evidence(
    evidence: Evidence,
    top_k: TopKRequest,
    scoring: Scoring,
    approximate_cosine: ApproximateCosine,
    exact_cosine: ExactCosine,
) -> Evidence | None:
    """Return evidence that ranks the top k and counts the results as a full scan would.

    `evidence` lacks cosines only. Documents that were not evaluated keep their approximate cosine.
    None if a full scan would be faster.
    """
    largest_limit = int(WORTH_SHARE * len(evidence))
    if len(evidence) < WORTH_FROM or top_k.limit > largest_limit:
        return None
    query = top_k.query_variant(evidence)
    cosine, error = approximate_cosine(query)
    if not np.isfinite(error):
        return None

    def ranked(scores: ComponentScores) -> Ranking:
        return rank(replace(evidence, as_typed=scores, as_searched=scores), top_k.tuning)

    highest = ranked(scoring.components(query, cosine + error))
    if highest.lists_linked:
        return None  # other documents may be the results: `Ranking.matched`

    def evaluate(rows: Rows) -> None:
        positions = scoring.documents.positions_for(rows)
        cosine[positions] = exact_cosine(query, positions)

    def final_for(rows: Rows) -> Scores:
        evaluate(rows)
        return highest.final_for(rows, scoring.relevance(query, cosine, rows))

    bounds = np.where(highest.matched, highest.final, -np.inf)
    converged = converge(bounds, final_for, top_k.limit, top_k.rule)
    if converged is None:
        return None
    evaluated = converged.evaluated
    is_relevant = scoring.is_relevant(query, cosine - error)
    if not np.array_equal(is_relevant, highest.components.doc_relevance > 0.0):
        lowest = ranked(scoring.components(query, cosine - error))
        if lowest.lists_linked or lowest.unanswered != highest.unanswered:
            return None
        undecided = np.flatnonzero(highest.matched & ~lowest.matched & ~evaluated)
        if len(undecided) > UNDECIDED_SHARE * len(evidence):
            return None
        evaluate(undecided)
        evaluated[undecided] = True
    scores = scoring.components(query, cosine)
    return replace(
        evidence,
        as_typed=scores,
        as_searched=scores,
        evaluated=frozen(evaluated),
        stopped_by=converged.stopped_by,
        only_for=top_k.tuning,
    )


Rule = Literal["exact", "stable"]
"""`exact` gives the top k of a full scan; `stable` may stop once the top k stays the same."""
StoppedBy = Literal["all", "exact", "stable"]
"""Why evaluation stopped: none were left, none could enter the top k, or it stayed the same."""

BATCH, STABLE_ROUNDS = 20, 3
"""Documents per batch, and batches without a change after which the top k is stable. Chosen by the
experiment "batch size of top-k retrieval" in docs/quality.md."""
WORTH_FROM = 1000
"""Documents in scope below which a full scan is as fast as sorting the bounds."""
WORTH_SHARE = 0.1
"""Share of the documents above which a full scan is faster than evaluating them in batches."""


@dataclass(frozen=True, slots=True)
class Converged:
    evaluated: Flags
    stopped_by: StoppedBy


def converge(
    bounds: Scores, final_for: Callable[[Rows], Scores], k: int, rule: Rule
) -> Converged | None:
    """Evaluate documents until the top `k` are known; None if a full scan would be faster.

    `bounds` holds an upper bound of every final score, shape (n,), -inf for a document that cannot
    be a result; `final_for` returns the final scores of rows. Under `exact` the top `k` equals that
    of a full scan: documents that tie with the last place are evaluated too.
    """
    finite = np.flatnonzero(np.isfinite(bounds))
    order = highest(bounds, finite, int(WORTH_SHARE * len(bounds)) + BATCH)
    evaluated = np.zeros(len(bounds), np.bool_)
    best_rows, best = np.empty(0, np.int64), np.empty(0)
    unchanged = 0
    for start in range(0, len(order), BATCH):
        if len(best) >= k and best[k - 1] > bounds[order[start]]:
            return Converged(evaluated, "exact")
        rows = order[start : start + BATCH]
        evaluated[rows] = True
        scores = np.concatenate((best, final_for(rows)))
        top = np.argsort(-scores, kind="stable")[: max(k, 1)]
        top_rows = np.concatenate((best_rows, rows))[top]
        unchanged = unchanged + 1 if np.array_equal(top_rows, best_rows) else 0
        best_rows, best = top_rows, scores[top]
        if rule == "stable" and unchanged >= STABLE_ROUNDS:
            return Converged(evaluated, "stable")
    return None if len(finite) > len(order) else Converged(evaluated, "all")


VECTORS_KEPT = 256
EMBEDDING_THREADS = 2
HAND_OVER = 0.05
"""Maximum time in seconds to wait for a thread to start embedding; it usually starts at once."""


class QueryVectors:
    """Vectors of queries, each embedded once, in the background while other stages run.

    Each query is a run of its own: a batch would pad queries to the longest, and leave a second
    core idle, as the model uses one thread. So a vector depends only on its own text. A server gets
    a second text once it has answered, so that one that refuses is asked once.
    """

    def __init__(self, open_embedder: Callable[[], Embedder]) -> None:
        self._open_embedder = open_embedder
        self._futures: LruCache[str, Future[Vector]] = LruCache(VECTORS_KEPT)
        self._threads: ThreadPoolExecutor | None = None
        self._first, self._has_answered = Lock(), False
        self._failure: EmbeddingError | None = None
        """Of a text of this search: no other text is then embedded for it."""

    def begin_search(self) -> None:
        """Embed texts again where the model failed in the search before."""
        self._failure = None

    def begin(self, text: str) -> None:
        """Start embedding a text unless it is cached, also where that has failed before.

        Raises EmbeddingError without a model.
        """
        if self._begun(text) is None:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(EMBEDDING_THREADS, "kbx-query")
            embedder, begun = self._open_embedder(), Event()

            def embed() -> Vector:
                begun.set()
                asks_one = is_remote(embedder.model) and not self._has_answered
                with self._first if asks_one else nullcontext():
                    return self._ask(embedder, text)

            self._futures.put(text, self._threads.submit(embed))
            begun.wait(HAND_OVER)  # yields the GIL, or the thread would start late

    def vector(self, text: str) -> Vector:
        """Return the vector of a text, waiting for it. Raises EmbeddingError."""
        self.begin(text)
        future = self._futures.get(text)
        assert future is not None  # begun above
        return future.result()

    def await_first(self, text: str) -> None:
        """Wait for the vector of a text unless the model has answered before."""
        if not self._has_answered:
            self.vector(text)

    def _ask(self, embedder: Embedder, text: str) -> Vector:
        if self._failure is not None:
            raise self._failure
        try:
            vector = embedder.embed_query(text)
        except EmbeddingError as error:
            self._failure, self._has_answered = error, False
            raise
        self._has_answered = True
        return vector

    def is_token(self, word: str) -> bool:
        """Return whether the model has a token for a word."""
        one, own = self._open_embedder().count_tokens(["the", word])
        return one == own

    def known(self, text: str) -> Vector | None:
        return self.vector(text) if self._begun(text) is not None else None

    def _begun(self, text: str) -> Future[Vector] | None:
        future = self._futures.get(text)
        has_failed = future is not None and future.done() and future.exception() is not None
        return None if has_failed else future
