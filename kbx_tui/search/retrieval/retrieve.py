"""All the I/O of a search: from a query to Evidence."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.vectors.vector_matrix import Vectors
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import (
    EntityCandidate,
    Evidence,
    FeedbackDocument,
    Flags,
    LinkedDocuments,
    frozen,
)
from kbx_tui.search.evidence.score_normalization import FEEDBACK_WEIGHT, PART_SHARE
from kbx_tui.search.evidence.scoring import Scoring, Wording
from kbx_tui.search.frecency import Usage
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.query.filters import Filters
from kbx_tui.search.query.name_index import NameMatch
from kbx_tui.search.query.named_query import NamedQuery
from kbx_tui.search.query.query_terms import counted_terms, lexical_weight
from kbx_tui.search.query.query_vectors import QueryVectors
from kbx_tui.search.results.response import Snippet
from kbx_tui.search.results.snippets import make_snippet
from kbx_tui.search.retrieval.compared import compared
from kbx_tui.search.retrieval.entity_pass import with_pinned
from kbx_tui.search.retrieval.link_strength import NOTHING_LINKED
from kbx_tui.search.retrieval.pseudo_relevance_feedback import Meanings
from kbx_tui.search.retrieval.scope import ALL
from kbx_tui.search.retrieval.top_k.top_k import Once


class Retriever:
    """Answers queries from one open index; not for several threads."""

    def __init__(
        self, index: OpenIndex, open_embedder: Callable[[], Embedder], usage: Usage
    ) -> None:
        self._index, self._usage = index, usage
        self._open_embedder = open_embedder
        self._query_vectors = QueryVectors(open_embedder)

    def warm(self) -> None:
        """Load what the first query needs."""
        self._query_vectors.begin("")
        loaded = self._index.loaded()
        for read in (loaded.words, loaded.facts, loaded.bodies):
            read()
        loaded.entity_pass.names("")
        self._vectors()
        self._query_vectors.vector("")

    def begin(self, query: str, once: Once | None = None) -> None:
        """Start embedding a query at the side, while the index is opened or looked at.

        Where `once` compares documents with what names leave of it, that is begun with, as far as
        names are known without looking long: two runs of the model take time from each other.
        """
        known = None if once is None or once.compares_as_typed else self._index.known
        matches = known.names_at_once(query) if known else ()
        entities = known.snapshot.entities if known else ()
        self._query_vectors.begin(NamedQuery.of(query, matches, entities).document_query)

    def retrieve(
        self,
        query: str,
        *,
        path: PathFilter,
        filters: Filters = ALL,
        fast: bool = False,
        pinned: Sequence[str] = (),
        once: Once | None = None,
        feedback: float = FEEDBACK_WEIGHT,
        parts: float = PART_SHARE,
    ) -> Evidence:
        """Return everything `rank` needs to order the documents in scope.

        With `once` it may be no more than that one ranking needs: `Evidence.only_for`. `feedback`,
        0..1, is how much the query is drawn to what fits it best, `parts`,
        0..1, how much parts of a document lend those beside them (`continuations`).
        Raises NotFound for the id of an entity that does not exist, pinned or filtered by.
        """
        clock = _Clock()
        loaded = self._index.loaded()
        snapshot, asked_for = loaded.snapshot, [loaded.entity(one) for one in pinned]
        for one in filters.entities:
            loaded.entity(one)
        scoped = loaded.scope(path, filters, fast=fast)
        in_scope, kept = scoped.flags, scoped.rows
        clock.lap("open_ms")
        named = NamedQuery.of(query, () if fast else self._names(query), snapshot.entities)
        wordings = named.wordings
        if not fast:
            self._query_vectors.begin(named.document_query)
        words = loaded.words()
        terms = [counted_terms(query)]
        if len(wordings) > 1:
            terms.append(counted_terms(named.document_query, named.names_left))
        found = words.bm25(terms)
        weights = [lexical_weight(one, names_someone=bool(named.spans)) for one in wordings]
        reach = loaded.reach(scoped, parts)
        scoring = Scoring(
            reach,
            {
                wording: Wording(frozen(raw[reach.rows]), 1.0 if fast else weight)
                for wording, raw, weight in zip(wordings, found, weights, strict=True)
            },
            parts,
        )
        unknown = np.full(len(reach.rows), np.nan)
        typed, *others = (scoring.components(wording, unknown) for wording in wordings)
        clock.lap("words_ms")
        self._look_up_links(named, parts)
        vectors = None if fast else self._vectors()
        candidates = () if fast else self._candidates(named, vectors)
        candidates = with_pinned(candidates, asked_for)
        clock.lap("pass1_ms")
        used = [once is None or once.may_keep(entity) for entity in candidates]
        links = self._links(candidates, used, in_scope, kept, named, parts)
        clock.lap("links_ms")
        evidence = Evidence(
            query=query,
            document_query=named.document_query,
            generation=loaded.generation,
            scope=scoped.scope,
            entities=candidates,
            links=links,
            paths=scoped.paths,
            titles=scoped.titles,
            dates=scoped.dates,
            kinds=scoped.kinds,
            as_typed=typed,
            as_searched=others[0] if others else typed,
            exact=MappingProxyType(self._exact(named, kept)),
            hotness=frozen(self._usage.hotness(snapshot.row_of)[kept]),
            fast=fast,
            vector_share=vectors.share if vectors else 0.0,
            timings=MappingProxyType(clock.laps),
        )
        if vectors is not None:
            best_words = np.where(words.typical, found[0], 0.0)  # pages of entities draw nothing
            meaning = Meanings(
                query, best_words, weights[0], self._query_vectors.vector, vectors, weight=feedback
            )
            evidence = compared(evidence, vectors, meaning, scoring, once)
            drawn_to = tuple(
                FeedbackDocument(snapshot.paths[row], snapshot.titles[row])
                for row in meaning.drawn_to
            )
            evidence = replace(evidence, drawn_to=drawn_to)
            clock.lap("pass2_ms")
        return evidence

    def snippets(self, query: str, paths: Sequence[str]) -> list[Snippet]:
        """Return the best place of each document for `query`, in order of `paths`.

        Where no word matches, it is the chunk nearest in meaning. A path that is gone gives an
        empty snippet.
        """
        bodies = self._index.loaded().bodies().read(paths, self._index.reader)
        return [
            make_snippet(*body, query, fallback_line=partial(self._nearest_line, query, path))
            for path, body in zip(paths, bodies, strict=True)
        ]

    def _nearest_line(self, query: str, path: str) -> int:
        vector = self._query_vectors.known(query)
        return 0 if vector is None else self._index.loaded().best_line(path, vector)

    def _vectors(self) -> Vectors:
        embedder = self._open_embedder()
        return self._index.loaded().vectors(model=embedder.model, dimension=embedder.dimension)

    def _names(self, query: str) -> Sequence[NameMatch]:
        loaded = self._index.loaded()
        known = loaded.pass_one.get(query)
        return known[0] if known else loaded.entity_pass.names(query)

    def _candidates(
        self, named: NamedQuery, vectors: Vectors | None
    ) -> tuple[EntityCandidate, ...]:
        """Return the entities of pass 1; those of a query asked just now are known.

        Names are looked up as such, so it is the rest whose meaning tells of other entities; and
        pass 2 waits for one vector instead of two. What needs none comes before it is waited for.
        """
        loaded = self._index.loaded()
        known = loaded.pass_one.get(named.text)
        if known is None:
            facts, cosines = loaded.facts().find(named.text), None
            if vectors is not None:
                cosines = partial(self._cosines_with_profiles, vectors, named.document_query)
            found = loaded.entity_pass.find(named.text, named.matches, facts, cosines)
            known = loaded.pass_one.put(named.text, (named.matches, found))
        return known[1]

    def _cosines_with_profiles(self, vectors: Vectors, query: str) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = vectors.entities @ self._query_vectors.vector(query)
        return cosines

    def _look_up_links(self, named: NamedQuery, part_share: float) -> None:
        """Make the documents of those named ready, as these will be asked for: the model still
        runs.
        """
        entities = self._index.loaded().snapshot.entities
        for match in named.matches:
            if match.named:
                self._linked(entities[match.entity], named.names_only, part_share)

    def _links(
        self,
        entities: Sequence[EntityCandidate],
        used: Sequence[bool],
        in_scope: Flags,
        kept: NDArray[np.int64],
        named: NamedQuery,
        part_share: float,
    ) -> tuple[LinkedDocuments, ...]:
        found = [
            self._linked(entity, named.names_only, part_share) if needed else NOTHING_LINKED
            for entity, needed in zip(entities, used, strict=True)
        ]
        if len(kept) == len(in_scope):
            return tuple(found)
        return tuple(linked.within(in_scope, kept) for linked in found)

    def _linked(
        self, entity: Entity | EntityCandidate, names_only: bool, part_share: float
    ) -> LinkedDocuments:
        """Return all documents of an entity, which are kept for the next time."""
        loaded = self._index.loaded()
        if names_only and entity.type == "person":
            return loaded.about(entity.id)
        return loaded.lent(entity.id, part_share)

    def _exact(self, named: NamedQuery, kept: NDArray[np.int64]) -> dict[int, str]:
        """Return rows of Evidence that are exactly what the query asks for, and how it says so."""
        loaded = self._index.loaded()
        pages = [loaded.snapshot.entities[number].path for number in named.asked_for]
        found = [
            *loaded.exact(named.text),
            *loaded.exact(named.subject),
            *((loaded.snapshot.row_of.get(page, -1), "name") for page in pages),
        ]
        exact: dict[int, str] = {}
        for row, what in found:
            at = int(np.searchsorted(kept, row))
            if at < len(kept) and kept[at] == row:
                exact.setdefault(at, what)
        return exact


class _Clock:
    """Milliseconds of consecutive stages."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now
