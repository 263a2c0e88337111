"""Evidence reduced to what `rank` needs, so that that of hundreds of queries fits in memory. Pure.

Such Evidence ranks as before, but cannot explain: cosines, both scaled forms, and BM25 where it
resolves no ties are NaN in one array that all share. What is equal in the Evidence of several
queries is shared, too: the links of an entity, and frecency. A document takes 16 bytes for a query
that holds the name of a person or team, 24 if it also has a topic, 8 for any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.evidence import ComponentScores, Evidence, LinkedDocuments
from kbx_tui.search.evidence.scores import Array, frozen

OBJECT_BYTES = 2_000
"""About what the objects of one Evidence take besides its arrays."""


class EvidenceCompactor:
    """Compacts the Evidence of one base, and counts the bytes that it takes."""

    def __init__(self) -> None:
        self.bytes = 0
        """Bytes of all Evidence compacted so far."""
        self._links: dict[Hashable, LinkedDocuments] = {}
        self._arrays: dict[Hashable, NDArray[Any]] = {}

    def compact(self, evidence: Evidence) -> Evidence:
        typed = self._relevance_only(evidence.as_typed)
        if evidence.topic is not None:  # BM25 resolves ties of documents that say nothing of it
            typed = replace(typed, raw_lexical=evidence.as_typed.raw_lexical)
            self.bytes += typed.raw_lexical.nbytes
        searched = typed
        if evidence.as_searched is not evidence.as_typed:
            searched = self._relevance_only(evidence.as_searched)
        self.bytes += OBJECT_BYTES
        return replace(
            evidence,
            as_typed=typed,
            as_searched=searched,
            links=tuple(
                self._shared_links(entity.id, linked)
                for entity, linked in zip(evidence.entities, evidence.links, strict=True)
            ),
            frecency=self._shared(evidence.frecency),
        )

    def _relevance_only(self, components: ComponentScores) -> ComponentScores:
        size = len(components.doc_relevance)
        unknown, nowhere = np.full(size, np.nan), np.full(size, -1, np.int8)
        unknown = self._shared(frozen(unknown))
        self.bytes += components.doc_relevance.nbytes
        return replace(
            components,
            raw_lexical=unknown,
            lexical=unknown,
            cosine=unknown,
            vector=unknown,
            own_relevance=unknown,
            propagated_from=self._shared(frozen(nowhere)),
        )

    def _shared_links(self, entity_id: str, linked: LinkedDocuments) -> LinkedDocuments:
        arrays: list[NDArray[Any]] = [linked.rows, linked.strengths]
        if linked.propagated is not None:
            arrays.append(linked.propagated)
        key = entity_id, *map(_content, arrays)
        if key not in self._links:
            self._links[key] = linked
            self.bytes += _size(arrays) + 8 * len(linked.reasons)
        return self._links[key]

    def _shared(self, array: Array) -> Array:
        shared: Array = self._arrays.setdefault(_content(array), array)  # type: ignore[assignment]
        if shared is array:
            self.bytes += array.nbytes
        return shared


def _content(array: NDArray[Any]) -> Hashable:
    return array.dtype.str, hash(array.tobytes()), len(array)


def _size(arrays: Iterable[NDArray[Any]]) -> int:
    return sum(array.nbytes for array in arrays)
