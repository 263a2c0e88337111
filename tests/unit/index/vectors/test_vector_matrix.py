"""What is compared does not depend on what else is in scope."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.vectors.vector_matrix import BLOCK, Vectors, in_context, quantized_in_context

DOCUMENTS, CHUNKS, DIMENSION = 700, 2 * BLOCK + 100, 8


def some_vectors() -> Vectors:
    """Vectors of three blocks; every seventh document has none."""
    random = np.random.default_rng(1)
    rows = np.array([row for row in range(DOCUMENTS) if row % 7])
    starts = np.sort(random.choice(np.arange(1, CHUNKS), len(rows) - 1, replace=False))
    chunks = random.standard_normal((CHUNKS, DIMENSION)).astype(np.float32)
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    starts = np.concatenate(([0], starts))
    contexts, shares = 0.3 * chunks[: len(rows)], np.full(len(rows), 0.7, np.float32)
    return Vectors(
        chunks=chunks,
        lines=np.ones(CHUNKS, np.int32),
        document_rows=rows,
        starts=starts,
        contexts=contexts,
        chunk_shares=shares,
        quantized=quantized_in_context(chunks, starts, contexts, shares),
        entities=chunks[:0],
        share=1.0,
    )


VECTORS = some_vectors()
QUERIES = VECTORS.chunks[:2]
ALL = VECTORS.best_cosine(QUERIES, np.ones(DOCUMENTS, np.bool_))


def test_each_document_gets_its_best_chunk() -> None:
    for at, row in enumerate(VECTORS.document_rows):
        end = VECTORS.starts[at + 1] if at + 1 < len(VECTORS.starts) else CHUNKS
        best = 0.7 * (VECTORS.chunks[VECTORS.starts[at] : end] @ QUERIES[1]).max()
        best += VECTORS.contexts[at] @ QUERIES[1]
        np.testing.assert_allclose(ALL[1, row], best, rtol=1e-5, atol=1e-6)
    assert np.isnan(ALL[:, ::7]).all()


@given(st.sets(st.integers(0, DOCUMENTS - 1), max_size=5), st.booleans())
def test_a_cosine_is_the_same_to_the_last_bit_under_any_scope(rows: set[int], rest: bool) -> None:
    in_scope = np.full(DOCUMENTS, rest)
    in_scope[list(rows)] = not rest
    found = VECTORS.best_cosine(QUERIES, in_scope)
    np.testing.assert_array_equal(found[:, in_scope], ALL[:, in_scope])
    assert np.isnan(found[:, ~in_scope]).all()


@given(st.integers(0, 50))
def test_what_codes_say_is_within_its_bound(seed: int) -> None:
    random = np.random.default_rng(seed)
    query = random.standard_normal(DIMENSION).astype(np.float32)
    query *= random.random(dtype=np.float32) / np.linalg.norm(query)
    rows = np.sort(random.choice(DOCUMENTS, 300, replace=False))
    about = VECTORS.about_cosine(query, rows)
    exact = VECTORS.best_cosine(query[None], np.ones(DOCUMENTS, np.bool_))[0, rows]
    np.testing.assert_array_equal(np.isnan(about.cosine), np.isnan(exact))
    assert np.nanmax(np.abs(about.cosine - exact)) <= about.slack <= 0.02
    few = np.sort(random.choice(len(rows), 40, replace=False))
    np.testing.assert_array_equal(VECTORS.best_cosine_of(query, rows[few], about), exact[few])


def test_few_chunks_are_read_where_codes_tell_the_best() -> None:
    about = VECTORS.about_cosine(QUERIES[0], VECTORS.document_rows)
    sizes = np.diff(VECTORS.starts, append=CHUNKS)
    hopeful = about.may_be_best(np.arange(CHUNKS), VECTORS.starts, sizes)
    each = np.add.reduceat(hopeful, VECTORS.starts, dtype=np.int64)
    assert each.min() == 1
    assert each.sum() < 2 * len(each) < CHUNKS


def unit_rows(count: int) -> np.typing.NDArray[np.float32]:
    found = np.random.default_rng(7).standard_normal((count, DIMENSION)).astype(np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


@pytest.mark.parametrize("has_title", [True, False])
def test_a_chunk_is_weighed_with_its_document_and_title(has_title: bool) -> None:
    chunks, query = unit_rows(3), unit_rows(4)[3]
    title = unit_rows(5)[4:] if has_title else np.zeros((1, DIMENSION), np.float32)
    whole = chunks.sum(axis=0) / np.linalg.norm(chunks.sum(axis=0))
    expected = 0.7 * (chunks @ query) + 0.1 * whole @ query + 0.2 * title[0] @ query
    contexts, shares = in_context(chunks, np.array([0]), title)
    made = shares[0] * (chunks @ query) + contexts[0] @ query
    np.testing.assert_allclose(made, expected / (1.0 if has_title else 0.8), rtol=1e-4, atol=1e-6)


def test_no_chunks_have_no_context() -> None:
    contexts, shares = in_context(unit_rows(0), np.zeros(0, np.int64), unit_rows(0))
    assert (len(contexts), len(shares)) == (0, 0)


def test_a_whole_document_points_where_its_chunks_do() -> None:
    rows = VECTORS.document_rows[[0, 5, 300, -1]]
    for row, whole in zip(rows, VECTORS.wholes(rows), strict=True):
        at = int(np.searchsorted(VECTORS.document_rows, row))
        end = VECTORS.starts[at + 1] if at + 1 < len(VECTORS.starts) else CHUNKS
        mean = VECTORS.chunks[VECTORS.starts[at] : end].mean(axis=0)
        np.testing.assert_allclose(whole, mean / np.linalg.norm(mean), rtol=1e-4, atol=1e-5)
