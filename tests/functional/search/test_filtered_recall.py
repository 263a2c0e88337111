"""Recall of the nearest documents is 1 under any filter and for any number of documents."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.vectors.vector_matrix import Coverage, VectorMatrix
from kbx_tui.index.vectors.vector_segment import VectorSegment
from tests.vectors import NO_PROFILES, stored_vectors

DIMENSION, NEAREST = 32, 10


def random_vectors(documents: int) -> VectorMatrix:
    random = np.random.default_rng(documents)
    lengths = random.integers(1, 9, documents)
    chunks = random.standard_normal((int(lengths.sum()), DIMENSION)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    contexts, shares = np.zeros((documents, DIMENSION), np.float32), np.ones(documents, np.float32)
    rows = np.arange(documents)
    segment = VectorSegment.of(stored_vectors(chunks, starts, contexts, shares, rows), rows)
    return VectorMatrix((segment,), NO_PROFILES, Coverage(len(chunks), 0))


SIZES = {documents: random_vectors(documents) for documents in (1, 12, 700, 9000)}


@pytest.mark.parametrize("documents", SIZES)
@given(share=st.sampled_from([0.0, 0.001, 0.01, 0.11, 0.5, 1.0]), seed=st.integers(0, 99))
def test_nearest_documents_in_scope_equal_brute_force(
    documents: int, share: float, seed: int
) -> None:
    vectors, random = SIZES[documents], np.random.default_rng(seed)
    in_scope = random.random(documents) < share
    query = random.standard_normal(DIMENSION).astype(np.float32)
    (segment,) = vectors.segments
    expected = np.array(
        [
            max(float(np.dot(chunk, query)) for chunk in segment.chunks[start:end])
            if is_in_scope
            else -np.inf
            for (start, end), is_in_scope in zip(pairwise(segment.starts), in_scope, strict=True)
        ]
    )
    cosines = np.nan_to_num(vectors.best_cosine(query[None], in_scope)[0], nan=-np.inf)
    count = min(NEAREST, int(in_scope.sum()))
    assert set(np.argsort(-cosines)[:count]) == set(np.argsort(-expected)[:count])
    rows = np.flatnonzero(in_scope)[:50]
    np.testing.assert_array_equal(vectors.best_cosine_of(query, rows), cosines[rows])
