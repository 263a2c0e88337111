"""All vectors of one generation: exact cosines under any filter, no approximate index.

An approximate index loses rows under a selective path filter. Where only the best documents are
wanted, int8 codes first narrow down which could be among them (`index/vectors/int8_codes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kbx_tui.index.inverted_file import vector_lists
from kbx_tui.index.inverted_file.vector_lists import VectorLists
from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.coverage import Coverage
from kbx_tui.index.vectors.exact_products import Flags
from kbx_tui.index.vectors.int8_codes import Matrix, Vector
from kbx_tui.index.vectors.profile_vectors import ProfileVectors
from kbx_tui.index.vectors.vector_segment import ChunkProducts, Cosines, VectorSegment


@dataclass(frozen=True, slots=True)
class ApproximateCosines:
    """Cosines of documents computed from int8 codes, with an error bound."""

    cosine: Cosines
    """Approximate `VectorMatrix.best_cosine` of each document, NaN without vectors."""
    error_bound: float
    """How far any of `cosine` can be from the exact value."""
    parts: tuple[ChunkProducts, ...]
    """Those of the chunks, by segment."""


@dataclass(frozen=True, slots=True)
class VectorMatrix:
    """Chunk vectors by document, and entity profile vectors by entity."""

    segments: tuple[VectorSegment, ...]
    """Each document that has vectors is in one of them."""
    profiles: ProfileVectors
    coverage: Coverage
    """How many texts the generation has, and how many of them have no vector here."""
    lists: VectorLists | None = None
    """The inverted file of the first of `segments`; None for a base that needs none, and where it
    is missing or damaged."""

    def share_of_wide_scope(self, in_scope: Flags) -> float | None:
        """Return which share of the chunks is in scope, if that is more than `EXACT_CHUNKS`.

        `in_scope` has shape (documents,).
        """
        total = sum(len(segment.chunks) for segment in self.segments)
        if total <= vector_lists.EXACT_CHUNKS:
            return None
        chunks = total
        if not in_scope.all():
            chunks = sum(segment.count_chunks(in_scope) for segment in self.segments)
        return chunks / total if chunks > vector_lists.EXACT_CHUNKS else None

    def best_documents(
        self, query: Vector, in_scope: Flags, count: int, scope_share: float
    ) -> Rows:
        """Return the rows of about `count` documents in scope that are likely nearest to `query`.

        Approximate: it reads `lists`, which must be there. `scope_share` is that of the wide scope.
        Of documents newer than the lists, all codes are compared. In any order.
        """
        assert self.lists is not None
        first, *newer = self.segments
        found = [first.best_documents(query, in_scope, count, self.lists, scope_share)]
        for segment in newer:
            rows = segment.document_rows[in_scope[segment.document_rows]]
            cosines, _ = segment.approximate_cosine(query, rows)
            found.append(rows[np.argsort(-cosines, kind="stable")[:count]])
        return np.concatenate(found)

    def best_cosine(self, queries: Matrix, in_scope: Flags) -> Cosines:
        """Return the weighted cosine of each document in scope by its best chunk, -1..1.

        `queries` has shape (q, dimension), `in_scope` (documents,) and the result (q, documents):
        NaN out of scope and without vectors. A cosine has the same bits under any scope, because
        blocks are always cut alike and only those without a document in scope are skipped.
        """
        cosines = np.full((len(queries), len(in_scope)), np.nan)
        for segment in self.segments:
            segment.put_best_cosine(queries, in_scope, cosines)
        return cosines

    def approximate_cosine(self, query: Vector, rows: Rows) -> ApproximateCosines:
        """Return the approximate `best_cosine` of documents, given by ascending row.

        Reads the int8 codes only: a quarter of the bytes.
        """
        found = [segment.approximate_cosine(query, rows) for segment in self.segments]
        cosine, *others = (cosines for cosines, _ in found)
        for other in others:
            cosine = np.where(np.isnan(cosine), other, cosine)
        parts = tuple(part for _, part in found)
        return ApproximateCosines(cosine, max(part.error_bound for part in parts), parts)

    def best_cosine_of(
        self, query: Vector, rows: Rows, approximate: ApproximateCosines | None = None
    ) -> Cosines:
        """Return the same as `best_cosine`, bit for bit, for a few documents given by row.

        With `approximate`, which must cover all of them, only chunks that can be the best are read.
        """
        cosines = np.full(len(rows), np.nan)
        for number, segment in enumerate(self.segments):
            part = None if approximate is None else approximate.parts[number]
            segment.put_best_cosine_of(query, rows, part, cosines)
        return cosines

    def mean_vectors(self, rows: Rows) -> Matrix:
        """Return the mean of the chunks of some documents, unit length, by row.

        Every one of `rows` must have vectors.
        """
        places = filter(None, map(self._chunks_of, rows.tolist()))
        sums = np.stack([segment.chunks[part].sum(axis=0) for segment, part in places])
        means: Matrix = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return means

    def chunk_cosines(self, query: Vector, document_row: int) -> tuple[list[int], list[float]]:
        """Return the line where each chunk of a document starts, in order, and its cosine.

        Empty for a document without vectors.
        """
        if (place := self._chunks_of(document_row)) is None:
            return [], []
        segment, chunks = place
        return segment.lines[chunks].tolist(), (segment.chunks[chunks] @ query).tolist()

    def nearest_chunks(self, query: Vector, within: Flags, count: int) -> Sequence[tuple[int, int]]:
        """Return document row and first line of the chunks with the highest cosines, best first.

        Those of the documents that `within`, shape (documents,), flags; at most `count`.
        """
        nearest: list[tuple[float, int, int]] = []
        for segment in self.segments:
            chunks, rows, cosines = segment.chunk_cosines(query, within)
            top = np.argsort(-cosines, kind="stable")[:count]
            lines = segment.lines[chunks[top]]
            nearest += zip(
                (-cosines[top]).tolist(), rows[top].tolist(), lines.tolist(), strict=True
            )
        return [(row, line) for _, row, line in sorted(nearest)[:count]]

    def _chunks_of(self, document_row: int) -> tuple[VectorSegment, slice] | None:
        for segment in self.segments:
            if (chunks := segment.chunks_of(document_row)) is not None:
                return segment, chunks
        return None
