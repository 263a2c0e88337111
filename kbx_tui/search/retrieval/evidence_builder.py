"""Builds Evidence without cosines from what the stages of one search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from kbx_tui.index.vectors.vector_matrix import VectorMatrix
from kbx_tui.search.evidence.date_preference import DatePreference
from kbx_tui.search.evidence.evidence import (
    EntityCandidate,
    Evidence,
    LinkedDocuments,
    Scores,
    frozen,
)
from kbx_tui.search.evidence.topic import Topic
from kbx_tui.search.query.names.named_query import NamedQuery
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.retrieval.document_pass import DocumentPass
from kbx_tui.search.retrieval.query_dates import QueryDates
from kbx_tui.search.retrieval.scope import ScopedDocuments


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
