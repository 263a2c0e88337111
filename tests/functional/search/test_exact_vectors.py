"""Under any filter the nearest are the nearest: recall is 1, in bases of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.vectors.vector_matrix import Vectors, quantized_in_context

DIMENSION, NEAREST = 32, 10


def generated(documents: int) -> Vectors:
    random = np.random.default_rng(documents)
    lengths = random.integers(1, 9, documents)
    chunks = random.standard_normal((int(lengths.sum()), DIMENSION)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    contexts, shares = np.zeros((documents, DIMENSION), np.float32), np.ones(documents, np.float32)
    return Vectors(
        chunks=chunks,
        lines=np.ones(len(chunks), np.int32),
        document_rows=np.arange(documents),
        starts=starts,
        contexts=contexts,
        chunk_shares=shares,
        quantized=quantized_in_context(chunks, starts, contexts, shares),
        entities=chunks[:0],
        share=1.0,
    )


SIZES = {documents: generated(documents) for documents in (1, 12, 700, 9000)}


@pytest.mark.parametrize("documents", SIZES)
@given(share=st.sampled_from([0.0, 0.001, 0.01, 0.11, 0.5, 1.0]), seed=st.integers(0, 99))
def test_the_nearest_documents_in_scope_are_found(documents: int, share: float, seed: int) -> None:
    vectors, random = SIZES[documents], np.random.default_rng(seed)
    in_scope = random.random(documents) < share
    query = random.standard_normal(DIMENSION).astype(np.float32)
    ends = [*vectors.starts[1:], len(vectors.chunks)]
    brute = np.array(
        [
            max(float(np.dot(chunk, query)) for chunk in vectors.chunks[start:end])
            if wanted
            else -np.inf
            for start, end, wanted in zip(vectors.starts, ends, in_scope, strict=True)
        ]
    )
    found = np.nan_to_num(vectors.best_cosine(query[None], in_scope)[0], nan=-np.inf)
    many = min(NEAREST, int(in_scope.sum()))
    assert set(np.argsort(-found)[:many]) == set(np.argsort(-brute)[:many])
    few = np.flatnonzero(in_scope)[:50]
    np.testing.assert_array_equal(vectors.best_cosine_of(query, few), found[few])
