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
from kbx_tui.index.paths import PathFilter
from kbx_tui.index.vectors import Vectors
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.document_query import STRIPPED_TYPES, asks_for_names_only, strip_names
from kbx_tui.search.entity_pass import with_pinned
from kbx_tui.search.evidence import (
    EntityCandidate,
    Evidence,
    FeedbackDocument,
    Flags,
    LinkedDocuments,
    frozen,
)
from kbx_tui.search.feedback import Meanings
from kbx_tui.search.filters import Filters
from kbx_tui.search.lexical import counted_terms, lexical_weight
from kbx_tui.search.names import NameMatch
from kbx_tui.search.once import Once, all_evidence, best_evidence
from kbx_tui.search.opened import OpenIndex
from kbx_tui.search.query_vectors import QueryVectors
from kbx_tui.search.response import Snippet
from kbx_tui.search.scales import FEEDBACK_WEIGHT, PART_SHARE
from kbx_tui.search.scope import ALL
from kbx_tui.search.scoring import Scoring, Wording
from kbx_tui.search.snippets import make_snippet
from kbx_tui.search.usage import Usage


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

    def begin(self, query: str) -> None:
        """Start embedding a query at the side, while the index is opened or looked at.

        It is what is left without whole names, where these are known: they are found at once. Other
        names may be found in the rest later, and another text be wanted after all.
        """
        known = self._index.known
        spans = self._spans_of_names(known.entity_pass.whole_names(query)) if known else []
        self._query_vectors.begin(strip_names(query, spans))

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
        0..1, is how much the query is drawn to what fits it best (`search/feedback.py`), `parts`,
        0..1, how much parts of a document lend those beside them (`search/parts.py`).
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
        matches = [] if fast else self._names(query)
        spans = self._spans_of_names(matches)
        document_query = strip_names(query, spans) if spans else query
        wordings = list(dict.fromkeys((query, document_query)))
        for wording in () if fast else wordings[-1:] if once else wordings[::-1]:
            self._query_vectors.begin(wording)
        words = loaded.words()
        terms = [counted_terms(query)]
        if len(wordings) > 1:
            terms.append(counted_terms(document_query, _names_left(query, matches, spans)))
        found = words.bm25(terms)
        weights = [lexical_weight(one, names_someone=bool(spans)) for one in wordings]
        reach = loaded.reach(scoped, parts)
        scoring = Scoring(
            reach,
            {
                wording: Wording(raw[reach.rows], 1.0 if fast else weight)
                for wording, raw, weight in zip(wordings, found, weights, strict=True)
            },
            parts,
        )
        unknown = np.full(len(reach.rows), np.nan)
        typed, *others = (scoring.components(wording, unknown) for wording in wordings)
        clock.lap("words_ms")
        only_names = bool(spans) and asks_for_names_only(query, spans)
        for match in matches:  # their documents will be asked for, and the model is still at work
            if match.named:
                self._linked(loaded.snapshot.entities[match.entity], only_names, parts)
        vectors = None if fast else self._vectors()
        candidates = () if fast else self._candidates(query, document_query, matches, vectors)
        candidates = with_pinned(candidates, asked_for)
        clock.lap("pass1_ms")
        links = self._links(candidates, in_scope, kept, only_names, parts)
        clock.lap("links_ms")
        evidence = Evidence(
            query=query,
            document_query=document_query,
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
            exact=MappingProxyType(self._exact(query, kept)),
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
            evidence = _compared(evidence, vectors, meaning, scoring, once)
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
        self,
        query: str,
        document_query: str,
        matches: Sequence[NameMatch],
        vectors: Vectors | None,
    ) -> tuple[EntityCandidate, ...]:
        """Return the entities of pass 1; those of a query asked just now are known.

        Names are looked up as such, so it is the rest whose meaning tells of other entities; and
        pass 2 waits for one vector instead of two. What needs none comes before it is waited for.
        """
        loaded = self._index.loaded()
        known = loaded.pass_one.get(query)
        if known is None:
            facts = loaded.facts().find(query)
            cosines = None
            if vectors is not None:
                cosines = partial(self._cosines_with_profiles, vectors, document_query)
            found = loaded.entity_pass.find(query, matches, facts, cosines)
            known = loaded.pass_one.put(query, (matches, found))
        return known[1]

    def _cosines_with_profiles(self, vectors: Vectors, query: str) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = vectors.entities @ self._query_vectors.vector(query)
        return cosines

    def _spans_of_names(self, matches: Sequence[NameMatch]) -> list[tuple[int, int]]:
        entities = self._index.loaded().snapshot.entities
        return [
            (match.start, match.end)
            for match in matches
            if match.named and entities[match.entity].type in STRIPPED_TYPES
        ]

    def _links(
        self,
        entities: Sequence[EntityCandidate],
        in_scope: Flags,
        kept: NDArray[np.int64],
        only_names: bool,
        part_share: float,
    ) -> tuple[LinkedDocuments, ...]:
        found = [self._linked(entity, only_names, part_share) for entity in entities]
        if len(kept) == len(in_scope):
            return tuple(found)
        return tuple(linked.within(in_scope, kept) for linked in found)

    def _linked(
        self, entity: Entity | EntityCandidate, only_names: bool, part_share: float
    ) -> LinkedDocuments:
        """Return all documents of an entity, which are kept for the next time."""
        loaded = self._index.loaded()
        if only_names and entity.type == "person":
            return loaded.about(entity.id)
        return loaded.lent(entity.id, part_share)

    def _exact(self, query: str, kept: NDArray[np.int64]) -> dict[int, str]:
        """Return rows of Evidence whose title, path or id is the query."""
        exact: dict[int, str] = {}
        for row, what in self._index.loaded().exact(query):
            at = int(np.searchsorted(kept, row))
            if at < len(kept) and kept[at] == row:
                exact.setdefault(at, what)
        return exact


def _names_left(
    query: str, matches: Sequence[NameMatch], spans: Sequence[tuple[int, int]]
) -> list[str]:
    """Return the names in the query that are not taken out of it."""
    left = [(match.start, match.end) for match in matches if match.named]
    return [query[start:end] for start, end in left if (start, end) not in spans]


def _compared(
    evidence: Evidence, vectors: Vectors, meaning: Meanings, scoring: Scoring, once: Once | None
) -> Evidence:
    """Return the evidence with the meaning of all documents, or of those that `once` needs."""
    rows, flags = scoring.reach.rows, scoring.reach.flags
    if once is not None:
        found = best_evidence(
            evidence,
            once,
            scoring,
            lambda wording: vectors.about_cosine(meaning.of(wording), rows),
            lambda wording, at: vectors.best_cosine_of(meaning.of(wording), rows[at]),
        )
        if found is None:
            wording = once.wording(evidence)
            cosine = vectors.best_cosine(meaning.of(wording)[None], flags)[0, rows]
            found = all_evidence(evidence, once, scoring, cosine)
        return found
    wordings = list(scoring.wordings)
    queries = np.stack([meaning.of(one) for one in wordings])
    cosines = vectors.best_cosine(queries, flags)[:, rows]
    typed, *others = map(scoring.components, wordings, cosines)
    return replace(evidence, as_typed=typed, as_searched=others[0] if others else typed)


class _Clock:
    """Milliseconds of consecutive stages."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now
