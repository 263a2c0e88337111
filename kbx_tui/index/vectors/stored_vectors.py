"""The arrays of vectors.bin: those of a VectorMatrix, with what identifies its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.int8_codes import QuantizedVectors, quantize
from kbx_tui.index.vectors.vector_segment import VectorSegment


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """The vectors of one generation by one model, flattened to one dimension. Read-only.

    Fields that VectorSegment has too are as there, with indices into `versions` as document rows.
    """

    versions: NDArray[np.bytes_]
    """Versions of all documents, including those without a chunk."""
    document_rows: Rows
    starts: Rows
    lines: NDArray[np.int32]
    chunks: NDArray[np.float32]
    contexts: NDArray[np.float32]
    chunk_weights: NDArray[np.float32]
    codes: NDArray[np.int8]
    code_scales: NDArray[np.float32]
    code_errors: NDArray[np.float32]
    profiles: NDArray[np.bytes_]
    """Hash of the profile of each row of `entities`, empty without a vector."""
    entities: NDArray[np.float32]
    entity_codes: NDArray[np.int8] | None = None
    """The codes of `entities`, with scales and errors; None in a file of a former version."""
    entity_scales: NDArray[np.float32] | None = None
    entity_errors: NDArray[np.float32] | None = None

    def profile_codes(self, dimension: int) -> QuantizedVectors:
        """Return the codes of the profiles, made here where the file has none."""
        codes, scales, errors = self.entity_codes, self.entity_scales, self.entity_errors
        if codes is None or scales is None or errors is None:
            return quantize(self.entities.reshape(-1, dimension))
        return QuantizedVectors(codes.reshape(-1, dimension), scales, errors)

    def to_segment(self, dimension: int) -> VectorSegment:
        """Return a segment of views of the arrays, with document rows as stored."""
        return VectorSegment.of(
            chunks=self.chunks.reshape(-1, dimension),
            lines=self.lines,
            starts=self.starts,
            contexts=self.contexts.reshape(-1, dimension),
            chunk_weights=self.chunk_weights,
            quantized=QuantizedVectors(
                self.codes.reshape(-1, dimension), self.code_scales, self.code_errors
            ),
            document_rows=self.document_rows,
        )
