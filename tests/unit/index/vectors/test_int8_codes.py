"""Int8 codes: approximate products stay within the error bound, the nearest vectors are exact."""

import mmap
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kbx_tui.index.vectors import stored_vectors
from kbx_tui.index.vectors.stored_vectors import BLOCK, QuantizedVectors, nearest, quantize

DIMENSION = 48

Matrix = NDArray[np.float32]


@pytest.fixture(autouse=True, scope="module")
def few_vectors_are_compared_by_their_codes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_vectors, "COMPARED_EXACTLY", 0)
        yield


def random_vectors(count: int, seed: int, *, peaked: bool = False) -> Matrix:
    """Return vectors of length up to 1; a peaked one is nearly parallel to one axis."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((count, DIMENSION)).astype(np.float32)
    if peaked:
        vectors[:, 3] *= 500
    vectors *= random.random((count, 1), np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1.0)
    return vectors


@given(seed=st.integers(0, 999), peaked=st.booleans())
def test_no_product_exceeds_the_error_bound(seed: int, peaked: bool) -> None:
    vectors, query = random_vectors(80, seed, peaked=peaked), random_vectors(1, seed + 1)[0]
    approximate, error_bound = quantize(vectors).products(query)
    assert np.abs(approximate - vectors.astype(np.float64) @ query).max() <= error_bound


@pytest.mark.parametrize(("dimension", "highest"), [(384, 63), (768, 63), (3072, 16)])
def test_the_error_bound_holds_when_all_rounding_errors_have_one_sign(
    dimension: int, highest: int
) -> None:
    vector = np.full(dimension, highest - 0.499, np.float64)
    vector[0] = 127
    unit = (vector / np.linalg.norm(vector)).astype(np.float32)
    approximate, error_bound = quantize(unit[None]).products(-unit)
    assert abs(approximate[0] - unit.astype(np.float64) @ -unit) <= error_bound


def test_nan_makes_the_error_bound_infinite_and_excludes_no_vector() -> None:
    vectors, query = random_vectors(50, 4), random_vectors(1, 5)[0]
    best = int((vectors @ query).argmax())
    vectors[(best + 1) % 50, 7] = np.nan
    quantized = quantize(vectors)
    assert quantized.products(query)[1] == np.inf
    assert best in nearest(vectors, quantized, query, 2)


def test_nearest_considers_only_flagged_rows_and_all_if_there_are_few() -> None:
    vectors, query = random_vectors(300, 6), random_vectors(1, 7)[0]
    within = np.arange(300) % 3 == 0
    rows = nearest(vectors, quantize(vectors), query, 5, within)
    assert within[rows].all()
    exact = np.sort(vectors[within] @ query)[-5:]
    np.testing.assert_allclose(np.sort(vectors[rows] @ query), exact, atol=1e-6)

    vectors = random_vectors(5, 1)
    assert nearest(vectors, quantize(vectors), vectors[0], 9).tolist() == [0, 1, 2, 3, 4]


def test_the_error_bound_is_small_for_unit_and_zero_vectors() -> None:
    vectors = random_vectors(500, 3)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert quantize(vectors).products(vectors[0])[1] < 0.02

    vectors = np.zeros((3, DIMENSION), np.float32)
    approximate, error_bound = quantize(vectors).products(random_vectors(1, 1)[0])
    assert approximate.tolist() == [0.0, 0.0, 0.0]
    assert error_bound < 0.02
    assert quantize(vectors[:0]).products(vectors[0])[0].tolist() == []


@given(seed=st.integers(0, 999), count=st.integers(1, 12), peaked=st.booleans())
def test_nearest_equals_an_exact_search(seed: int, count: int, peaked: bool) -> None:
    vectors, query = random_vectors(300, seed, peaked=peaked), random_vectors(1, seed + 1)[0]
    rows = nearest(vectors, quantize(vectors), query, count)
    exact = np.sort(vectors @ query)[::-1]
    np.testing.assert_allclose(np.sort(vectors[rows] @ query)[::-1], exact[:count], atol=1e-6)
    assert len(set(rows.tolist())) == count


def test_nearest_of_few_vectors_needs_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, query = random_vectors(60, 8), random_vectors(1, 9)[0]
    monkeypatch.setattr(stored_vectors, "COMPARED_EXACTLY", 60)
    within = np.arange(60) % 2 == 0
    rows = nearest(vectors, QuantizedVectors.empty(0, DIMENSION), query, 3, within)
    best = np.argsort(-np.where(within, vectors @ query, -np.inf))[:3]
    assert set(rows.tolist()) == set(best.tolist())


@pytest.mark.parametrize("count", [1, BLOCK, BLOCK + 1])
def test_codes_of_a_vector_do_not_depend_on_the_others(count: int) -> None:
    vectors = random_vectors(count, 5)
    together, alone = quantize(vectors), quantize(vectors[-1:])
    np.testing.assert_array_equal(together.codes[-1:], alone.codes)
    assert (together.scales[-1], together.errors[-1]) == (alone.scales[0], alone.errors[0])


def test_products_of_read_only_mapped_codes() -> None:
    quantized = quantize(random_vectors(20, 2))
    mapped = mmap.mmap(-1, quantized.codes.nbytes)
    mapped.write(quantized.codes.tobytes())
    codes = np.frombuffer(bytes(mapped), np.int8).reshape(quantized.codes.shape)
    assert not codes.flags.writeable
    read = QuantizedVectors(codes, quantized.scales, quantized.errors)
    query = random_vectors(1, 9)[0]
    expected = quantized.products(query)[0]
    np.testing.assert_array_equal(read.products(query)[0], expected)
    np.testing.assert_array_equal(read.part(slice(5, 9)).products(query)[0], expected[5:9])
