"""Retrieval: does all I/O of a search, returns Evidence, and reads the best passages of results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Embedder, Vector
from kbx_tui.index.lexical.terms import term_of_stem
from kbx_tui.index.path_filter import PathFilter
from kbx_tui.index.stored_documents import Body
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.knowledge.languages import ENGLISH
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import EntityCandidate, Evidence, LinkedDocuments
from kbx_tui.search.evidence.scores import FEEDBACK_WEIGHT, PROPAGATION_SHARE
from kbx_tui.search.evidence.tuning import MAX_ENTITIES_LIMIT
from kbx_tui.search.frecency import OpenedDocuments
from kbx_tui.search.open_index import IndexGeneration, OpenIndex
from kbx_tui.search.query.named_query import NamedQuery, NameMatch, as_hint
from kbx_tui.search.query.query_vectors import QueryVectors
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.snippets import (
    NO_CHUNKS,
    READ_AT_MOST,
    LinesAndCosines,
    WantedWords,
    make_snippet,
    passage_to_rerank,
    wanted_words,
)
from kbx_tui.search.results.text_words import OffsetsOf, offsets_in_body
from kbx_tui.search.retrieval.document_pass import DocumentPass, FeedbackQuery, TopKRequest
from kbx_tui.search.retrieval.entity_documents import NOTHING_LINKED
from kbx_tui.search.retrieval.entity_pass import with_pinned
from kbx_tui.search.retrieval.query_dates import QueryDates
from kbx_tui.search.retrieval.scope import ScopedDocuments
from kbx_tui.search.retrieval.wide_scope import EvidenceBuilder, WideScope, narrow


class Retriever:
    """Retrieves from one open index. Not thread-safe."""

    def __init__(
        self, index: OpenIndex, open_embedder: Callable[[], Embedder], opened: OpenedDocuments
    ) -> None:
        self._index, self._opened, self._open_embedder = index, opened, open_embedder
        self._query_vectors = QueryVectors(open_embedder)

    def warm(self) -> None:
        """Load everything that the first query needs."""
        self._query_vectors.begin("")
        generation = self._index.generation()
        _ = generation.words, generation.facts, generation.bodies
        generation.entity_pass.names.find("")
        self._vectors()
        self._query_vectors.vector("")

    def begin(self, request: SearchRequest, top_k: TopKRequest | None = None) -> None:
        """Start embedding the query in the background, before the index is opened or refreshed.

        If `top_k` needs only the query without names, and the names are found quickly, that one is
        embedded instead: two runs of the model slow each other down. Raises EmbeddingError.
        """
        if request.fast:
            return
        as_typed = top_k is None or top_k.uses_query_as_typed
        query, generation = request.searched, None if as_typed else self._index.in_memory
        if generation is not None:
            matches, entities = generation.names_if_ready(query), generation.snapshot.entities
            is_usual = _is_usual(request, generation)
            query = NamedQuery.of(query, matches, entities, is_usual).document_query
        self._query_vectors.begin(query)

    def retrieve(
        self, request: SearchRequest, path: PathFilter, top_k: TopKRequest | None = None
    ) -> Evidence:
        """Return everything `rank` needs to order the documents in scope.

        With `top_k` it may hold only what that one ranking needs (`Evidence.only_for`). Where the
        request has None, dates are preferred, no document is muted, and `feedback` and `parts` are
        `FEEDBACK_WEIGHT` and `PROPAGATION_SHARE`. Raises NotFound for the id of an entity that does
        not exist, pinned or filtered by.
        """
        clock, fast = _Clock(), request.fast
        share = PROPAGATION_SHARE if request.parts is None else request.parts
        generation = self._index.generation()
        snapshot = generation.snapshot
        dates = QueryDates.of(request, generation, partial(self._named, request))
        pinned = [generation.entity(entity_id) for entity_id in request.pinned]
        for entity_id in dates.filters.entities:
            generation.entity(entity_id)
        scoped = generation.scope(path, dates.filters)
        clock.lap("open_ms")
        named = self._named(request, dates.text)
        if not fast:
            self._query_vectors.begin(named.document_query)
        documents = DocumentPass(generation, named, scoped, fast=fast, propagation_share=share)
        clock.lap("words_ms")
        self._prefetch_links(named, share)
        vectors = None if fast else self._vectors()
        topic = documents.topic()
        full_relevance = None if topic is None else topic.full_relevance
        preference = dates.preference(generation, scoped, full_relevance)
        known_items = self._known_items(request.searched, named, scoped, fast=fast)
        wide_share = None
        if vectors is not None and not request.exact:
            wide_share = vectors.share_of_wide_scope(scoped.flags)
        if wide_share is None:
            _ = documents.lexical_scores  # while the model is running, for which pass 1 waits
        candidates = with_pinned(() if fast else self._candidates(named, vectors), pinned)
        clock.lap("pass1_ms")
        links = [
            self._documents_of(entity, named, share)
            if top_k is None or top_k.may_keep(entity)
            else NOTHING_LINKED
            for entity in candidates
        ]
        clock.lap("links_ms")
        builder = EvidenceBuilder(
            request=request,
            generation=generation.number,
            named=named,
            dates=dates,
            documents=documents,
            scoped=scoped,
            entities=candidates,
            links=links,
            known_items=known_items,
            topic=topic,
            preference=preference,
            frecency=self._opened.frecency(snapshot.row_of),
            vectors=vectors,
            timings=clock.laps,
        )
        if vectors is None or not dates.text:
            evidence = builder.within(scoped)
            if listed := dates.listed(preference) or _listed_by_filters(
                request, dates, len(scoped.rows)
            ):
                items = MappingProxyType({**listed, **evidence.known_items})
                evidence = replace(evidence, known_items=items)
            return evidence
        feedback = FEEDBACK_WEIGHT if request.feedback is None else request.feedback
        query = documents.feedback_query(vectors, self._query_vectors.vector, feedback)
        evidence = self._compared_in_meaning(builder, vectors, query, wide_share, top_k)
        clock.lap("pass2_ms")
        return evidence

    def _compared_in_meaning(
        self,
        builder: EvidenceBuilder,
        vectors: VectorMatrix,
        query: FeedbackQuery,
        share: float | None,
        top_k: TopKRequest | None,
    ) -> Evidence:
        """Return the evidence with cosines, of the candidates alone in a wide scope.

        `share` is that of the chunks in a wide scope, None in another.
        """
        scoped = builder.scoped
        if share is not None and vectors.lists is not None and vectors.lists.is_worth(share):
            wide = WideScope(scoped, vectors.lists, vectors, share)
            snapshot = self._index.generation().snapshot
            scoped = narrow(builder, snapshot, wide, query, top_k)
        evidence = builder.documents.within(scoped).with_cosines(
            builder.within(scoped), vectors, query, top_k
        )
        is_missing = share is not None and vectors.lists is None
        return replace(evidence, lists_missing=True) if is_missing else evidence

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> list[Snippet]:
        """Return the best passage of some documents of `evidence`, in the order of `rows`.

        Meaning counts unless the search was fast. A deleted document has an empty snippet.
        """
        return PassageReader(self._index, evidence, self._query_vectors).snippets(rows)

    def passages_to_rerank(self, evidence: Evidence, rows: Sequence[int]) -> list[str]:
        """Return what a reranker reads of some documents, in the order of `rows`.

        A deleted document has its title only.
        """
        return PassageReader(self._index, evidence, self._query_vectors).passages_to_rerank(rows)

    def _vectors(self) -> VectorMatrix:
        embedder = self._open_embedder()
        return self._index.generation().vectors(model=embedder.model, dimension=embedder.dimension)

    def _names(self, query: str) -> Sequence[NameMatch]:
        generation = self._index.generation()
        recent = generation.pass_one.get(query)
        return recent[0] if recent else generation.entity_pass.names.find(query)

    def _named(self, request: SearchRequest, query: str) -> NamedQuery:
        generation, names = self._index.generation(), () if request.fast else self._names(query)
        entities, is_usual = generation.snapshot.entities, _is_usual(request, generation)
        named = NamedQuery.of(query, names, entities, is_usual)
        if not named.spans or not named.names_things or named.asked_for:
            return named
        unlinked = {each for each in named.things if not self._is_linked(entities[each])}
        if not unlinked:
            return named
        names = [as_hint(name) if name.entity in unlinked else name for name in names]
        return NamedQuery.of(query, names, entities, is_usual)

    def _is_linked(self, entity: Entity) -> bool:
        """Return whether any document but its own page is linked to an entity.

        If none is, its name beside that of a person or team is a topic like any other: no link
        shows what concerns it, and it would take half of the credit.
        """
        generation = self._index.generation()
        rows = generation.entity_documents.linked(entity.id).rows
        return any(row != generation.snapshot.row_of.get(entity.path, -1) for row in rows[:2])

    def _candidates(
        self, named: NamedQuery, vectors: VectorMatrix | None
    ) -> tuple[EntityCandidate, ...]:
        """Return the entities of pass 1, cached for recent queries.

        Profiles are compared with the query without names: names are matched as such, the rest may
        describe other entities, and pass 2 waits for the same vector.
        """
        generation = self._index.generation()
        if recent := generation.pass_one.get(named.text):
            return recent[1]
        facts, nearest = generation.facts.find(named.text), None
        if vectors is not None:
            nearest = partial(self._nearest_profiles, vectors, named.document_query)
        candidates = generation.entity_pass.find(named.text, named.matches, facts, nearest)
        return generation.pass_one.put(named.text, (named.matches, candidates))[1]

    def _nearest_profiles(
        self, vectors: VectorMatrix, query: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        return vectors.profiles.nearest(self._query_vectors.vector(query), MAX_ENTITIES_LIMIT)

    def _prefetch_links(self, named: NamedQuery, share: float) -> None:
        """Compute the documents of the entities named, while the model is still running."""
        entities = self._index.generation().snapshot.entities
        for match in named.matches:
            if match.named:
                self._documents_of(entities[match.entity], named, share)

    def _documents_of(
        self, entity: Entity | EntityCandidate, named: NamedQuery, share: float
    ) -> LinkedDocuments:
        documents = self._index.generation().entity_documents
        if named.names_only and entity.type == "person":
            return documents.about(entity.id)
        return documents.propagated(entity.id, share)

    def _known_items(
        self, typed: str, named: NamedQuery, scoped: ScopedDocuments, *, fast: bool
    ) -> dict[int, str]:
        """Return the documents that the query gives in full, by row of the base, and by what.

        `typed` is the query with its date words, which may be those of a title.
        """
        generation = self._index.generation()
        entities = generation.snapshot.entities
        looks_for_roles = not (fast or named.spans)
        holders = generation.entity_pass.holders_asked_for(named.text) if looks_for_roles else ()
        pages = [
            *((entities[number].path, "name") for number in named.asked_for),
            *((entities[number].path, "role") for number in holders),
        ]
        texts = dict.fromkeys((typed, named.subject))  # mostly the same
        items = [
            *(item for text in texts for item in generation.known_items.find(text)),
            *((generation.snapshot.row_of.get(page, -1), what) for page, what in pages),
        ]
        known_items: dict[int, str] = {}
        for row, what in items:
            if row >= 0 and scoped.flags[row]:
                known_items.setdefault(row, what)
        return known_items


def _is_usual(request: SearchRequest, generation: IndexGeneration) -> Callable[[str], bool]:
    return generation.is_usual if request.usual_words else lambda _: False


def _listed_by_filters(request: SearchRequest, dates: QueryDates, count: int) -> Mapping[int, str]:
    """Return all `count` documents in scope for a query of typed filters and nothing else.

    By row, with `filter`, as `Evidence.known_items`.
    """
    is_listed = request.typed.filters and not (dates.text or dates.read or dates.undated)
    return dict.fromkeys(range(count), "filter") if is_listed else {}


class _Clock:
    """A stopwatch for consecutive stages, in milliseconds."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """Record the time since the last stage ended, under the name of this one."""
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now


class _Source(NamedTuple):
    """What passages of a document are chosen from."""

    body: Body
    language: str
    cosines: LinesAndCosines
    offsets_of: OffsetsOf | None


class PassageReader:
    """Chooses passages of the documents of one Evidence."""

    def __init__(self, index: OpenIndex, evidence: Evidence, query_vectors: QueryVectors) -> None:
        self._generation = index.generation()
        self._evidence, self._query_vectors = evidence, query_vectors
        self._wanted: dict[str, WantedWords] = {}

    def snippets(self, rows: Sequence[int]) -> list[Snippet]:
        """Return the best passage of some documents, in the order of `rows`."""
        query = self._evidence.document_query
        return [
            make_snippet(
                *source.body,
                query,
                wanted=self._wanted_words(source.language),
                cosines=source.cosines,
                language=source.language,
                offsets_of=source.offsets_of,
            )
            for source in self._sources(rows)
        ]

    def passages_to_rerank(self, rows: Sequence[int]) -> list[str]:
        """Return what a reranker reads of some documents, in the order of `rows`."""
        evidence = self._evidence
        return [
            passage_to_rerank(
                evidence.titles[row],
                *source.body,
                evidence.document_query,
                self._wanted_words(source.language),
                source.cosines,
                source.language,
                source.offsets_of,
            )
            for row, source in zip(rows, self._sources(rows), strict=True)
        ]

    def _sources(self, rows: Sequence[int]) -> Iterator[_Source]:
        snapshot, words = self._generation.snapshot, self._generation.words
        paths = [self._evidence.paths[row] for row in rows]
        bodies = self._generation.bodies.read(paths)
        base_rows = [snapshot.row_of.get(path, -1) for path in paths]
        offsets = words.offsets(base_rows)
        for row, body, text in zip(base_rows, bodies, offsets, strict=True):
            if row < 0:
                yield _Source(body, ENGLISH, NO_CHUNKS, None)
                continue
            language = words.language_of(row)
            known = text if language == ENGLISH else None
            offsets_of = offsets_in_body(known, body[0], read_at_most=READ_AT_MOST)
            yield _Source(body, language, self._cosines(row), offsets_of)

    def _cosines(self, row: int) -> LinesAndCosines:
        """Return lines and cosines of the chunks of a document; none where meaning does not count.

        It does not in a fast search, nor with a query that was never embedded.
        """
        if self._vector is None:
            return NO_CHUNKS
        return self._generation.chunk_cosines(row, self._vector)

    @cached_property
    def _vector(self) -> Vector | None:
        query = self._evidence.document_query
        return None if self._evidence.fast or not query else self._query_vectors.known(query)

    def _wanted_words(self, language: str) -> WantedWords:
        if (wanted := self._wanted.get(language)) is None:
            idf = self._generation.words.idf
            query, typed = self._evidence.document_query, self._evidence.query
            wanted = self._wanted[language] = wanted_words(
                query, typed, lambda stem: idf(term_of_stem(stem, language)), language
            )
        return wanted
