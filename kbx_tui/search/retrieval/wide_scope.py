"""Candidates of a search whose scope is too wide to compare every chunk in meaning.

These documents are scored in full, exactly as in any other scope, and only they can be results:
- those with the highest BM25, for each variant of the query, and again among those of the time that
  the query asks for;
- those linked to the entities found;
- known items, and documents that the caller asks about;
- those likely nearest in meaning, by the inverted file of the vectors (`vector_lists`).

So only a document that neither words nor links find can be missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from kbx_tui.embedding.embedder import Vector
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.vectors.vector_lists import VectorLists
from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.search.evidence.evidence import EntityCandidate, Evidence, LinkedDocuments
from kbx_tui.search.evidence.scores import Flags, Rows, Scores, frozen, highest
from kbx_tui.search.evidence.topic import DatePreference, Topic
from kbx_tui.search.query.named_query import NamedQuery
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.retrieval.document_pass import DocumentPass, FeedbackQuery, TopKRequest
from kbx_tui.search.retrieval.query_dates import QueryDates
from kbx_tui.search.retrieval.scope import ScopedDocuments

BY_WORDS, BY_MEANING = 1000, 5000
"""Documents taken by BM25 and by meaning, for each variant of the query. With 1,000 of each, those
were missed that are among the best only by both (docs/scale.md)."""
LINKED = 10_000
"""Documents taken by their links: all of the entities found, best entity first, until there are so
many; of the entity with which there are more, those with the highest BM25."""


@dataclass(frozen=True, slots=True)
class WideScope:
    """A scope of more than `vector_lists.EXACT_CHUNKS` chunks."""

    scoped: ScopedDocuments
    lists: VectorLists
    vectors: VectorMatrix
    share: float
    """Share of the chunks that is in scope."""

    def by_words(self, bm25: Iterable[Scores], preferred: Flags) -> Rows:
        """Return the documents in scope with the highest BM25, and of those the preferred ones.

        BM25 and the flags have shape (documents,), BM25 is that of a variant of the query. In any
        order, some twice.
        """
        found = []
        for scores in bm25:
            rows = np.flatnonzero(scores > 0.0)
            rows = rows[self.scoped.flags[rows]]
            found.append(highest(scores, rows, BY_WORDS))
            found.append(highest(scores, rows[preferred[rows]], BY_WORDS))
        return np.concatenate(found)

    def by_links(self, links: Sequence[LinkedDocuments], bm25: Scores) -> Rows:
        """Return the documents in scope that are linked to entities, given best first."""
        taken, room = np.zeros(len(self.scoped.flags), np.bool_), LINKED
        for linked in links:
            rows = linked.rows[self.scoped.flags[linked.rows] & ~taken[linked.rows]]
            taken[highest(bm25, rows, room) if room else rows[:0]] = True
            room = max(room - len(rows), 0)
        return np.flatnonzero(taken)

    def by_meaning(self, query: Vector) -> Rows:
        """Return the documents in scope that are likely nearest to a query, in any order."""
        return self.vectors.best_documents(query, self.scoped.flags, BY_MEANING, self.share)

    def candidates(
        self, snapshot: Snapshot, rows: Sequence[Rows], also: Sequence[str] = ()
    ) -> ScopedDocuments:
        """Return the scope with these documents alone, some given twice, and those `also` has."""
        distinct = np.unique(np.concatenate(rows))
        wanted = {row: path for path in also if (row := snapshot.row_of.get(path)) is not None}
        added = {
            row: path
            for row, path in wanted.items()
            if self.scoped.flags[row] and row not in distinct
        }
        scope = replace(
            self.scoped.scope,
            candidates=len(distinct),
            recall=float(self.lists.recall[0]),
            asked_about=frozenset(added.values()),
        )
        return ScopedDocuments.some(
            snapshot, np.union1d(distinct, np.array(list(added), np.int64)), scope
        )


def narrow(
    builder: EvidenceBuilder,
    snapshot: Snapshot,
    wide: WideScope,
    query: FeedbackQuery,
    top_k: TopKRequest | None,
) -> ScopedDocuments:
    """Return the candidates of a search in a wide scope."""
    scoped, bm25 = builder.scoped, builder.documents.bm25
    preferred = np.zeros(len(scoped.flags), np.bool_)
    if builder.preference is not None:
        preferred[scoped.rows[builder.preference.matches > 0]] = True
    rows = [
        wide.by_words(bm25.values(), preferred),
        wide.by_links(builder.links, bm25[builder.named.document_query]),
        np.array(list(builder.known_items), np.int64),
    ]
    variants = list(bm25)
    if top_k is not None and len(variants) > 1:  # only one is ranked by: which, entities decide
        variants = [top_k.query_variant(builder.within(wide.candidates(snapshot, rows)))]
    rows += [wide.by_meaning(query.vector(variant)) for variant in variants]
    return wide.candidates(snapshot, rows, builder.request.also)


@dataclass(frozen=True, slots=True)
class EvidenceBuilder:
    """What one search found, by row of the base."""

    request: SearchRequest
    generation: int
    named: NamedQuery
    dates: QueryDates
    documents: DocumentPass
    scoped: ScopedDocuments
    """The documents that pass the filters."""
    entities: tuple[EntityCandidate, ...]
    links: Sequence[LinkedDocuments]
    """Parallel to `entities`."""
    known_items: Mapping[int, str]
    topic: Topic | None
    preference: DatePreference | None
    """Parallel to `scoped.rows`."""
    frecency: Scores
    vectors: VectorMatrix | None
    timings: Mapping[str, float]

    def within(self, scoped: ScopedDocuments) -> Evidence:
        """Return the evidence for documents of the scope: all, or its candidates."""
        as_typed, as_searched = self.documents.within(scoped).lexical_scores
        links, preference, vectors = tuple(self.links), self.preference, self.vectors
        if len(scoped.rows) < len(scoped.flags):
            links = tuple(linked.within(scoped.flags, scoped.rows) for linked in links)
        if preference is not None and scoped is not self.scoped:
            matches = preference.matches[np.searchsorted(self.scoped.rows, scoped.rows)]
            preference = replace(preference, matches=frozen(matches))
        fast = self.request.fast
        return Evidence(
            query=self.request.query,
            document_query=self.named.document_query,
            generation=self.generation,
            scope=scoped.scope,
            entities=self.entities,
            links=links,
            paths=scoped.paths,
            titles=scoped.titles,
            dates=scoped.dates,
            kinds=scoped.kinds,
            as_typed=as_typed,
            as_searched=as_searched,
            topic=None if fast else self.topic,
            known_items=MappingProxyType(
                {
                    int(np.searchsorted(scoped.rows, row)): what
                    for row, what in self.known_items.items()
                }
            ),
            frecency=frozen(self.frecency[scoped.rows]),
            fast=fast,
            vector_share=vectors.coverage.share if vectors else 0.0,
            without_vector=vectors.coverage.missing if vectors else 0,
            timings=MappingProxyType(self.timings),
            date_preference=preference,
            undated=self.dates.undated,
        )
