"""Chunks in the context of their documents: weighted with the mean chunk and the title. Pure.

A chunk from the middle of a talk does not name the talk's topic. Chosen by the experiment "chunk in
the context of its document" in docs/quality.md.
"""

from __future__ import annotations

import numpy as np

from kbx_tui.index.snapshot import Rows
from kbx_tui.index.vectors.int8_codes import BLOCK, Matrix, QuantizedVectors, Vector

CHUNK_WEIGHT, DOCUMENT_WEIGHT, TITLE_WEIGHT = 0.7, 0.1, 0.2
"""Weights of best chunk, mean of all chunks, and title in the cosine of a document."""


def document_contexts(chunks: Matrix, starts: Rows, titles: Matrix) -> tuple[Matrix, Vector]:
    """Return `VectorSegment.contexts` and `VectorSegment.chunk_weights`.

    `titles` has a row per document, zeros without a vector; then the title's weight is shared out
    among chunk and document.
    """
    if not len(starts):
        return titles, np.zeros(0, np.float32)
    contexts = np.add.reduceat(chunks, starts, axis=0)
    lengths = np.linalg.norm(contexts, axis=1, keepdims=True)
    contexts *= DOCUMENT_WEIGHT / np.maximum(lengths, 1e-9)
    weights = np.where(titles.any(axis=1), 1.0, CHUNK_WEIGHT + DOCUMENT_WEIGHT).astype(np.float32)
    contexts += TITLE_WEIGHT * titles
    contexts /= weights[:, None]
    return contexts, (CHUNK_WEIGHT / weights).astype(np.float32)


def quantize_with_context(
    chunks: Matrix, starts: Rows, contexts: Matrix, chunk_weights: Vector
) -> QuantizedVectors:
    """Return the codes of weighted chunk plus context, for each chunk."""
    quantized = QuantizedVectors.empty(*chunks.shape)
    documents = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(chunks)))
    for begin in range(0, len(chunks), BLOCK):
        block = slice(begin, begin + BLOCK)
        document = documents[block]
        quantized.put(begin, chunks[block] * chunk_weights[document, None] + contexts[document])
    return quantized
