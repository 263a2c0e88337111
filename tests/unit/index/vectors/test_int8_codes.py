"""Vectors as codes: what they say is within the bound, and who uses it finds what is nearest."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kbx_tui.index.vectors.int8_codes import AT_ONCE, QuantizedVectors, nearest, quantize

DIMENSION = 48

Matrix = NDArray[np.float32]


def some_vectors(count: int, seed: int, *, peaked: bool = False) -> Matrix:
    """Vectors of length up to 1; a peaked one has nearly all of it in one number."""
    random = np.random.default_rng(seed)
    made = random.standard_normal((count, DIMENSION)).astype(np.float32)
    if peaked:
        made[:, 3] *= 500
    made *= random.random((count, 1), np.float32)
    made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1.0)
    return made


@given(seed=st.integers(0, 999), peaked=st.booleans())
def test_no_product_is_further_away_than_the_bound(seed: int, peaked: bool) -> None:
    vectors, query = some_vectors(80, seed, peaked=peaked), some_vectors(1, seed + 1)[0]
    about, slack = quantize(vectors).products(query)
    assert np.abs(about - vectors.astype(np.float64) @ query).max() <= slack


@pytest.mark.parametrize(("dimension", "highest"), [(384, 63), (768, 63), (3072, 16)])
def test_the_bound_holds_where_rounding_takes_the_same_from_all_numbers(
    dimension: int, highest: int
) -> None:
    vector = np.full(dimension, highest - 0.499, np.float64)
    vector[0] = 127
    unit = (vector / np.linalg.norm(vector)).astype(np.float32)
    about, slack = quantize(unit[None]).products(-unit)
    assert abs(about[0] - unit.astype(np.float64) @ -unit) <= slack


def test_a_number_that_is_none_leaves_nothing_out() -> None:
    vectors, query = some_vectors(50, 4), some_vectors(1, 5)[0]
    best = int((vectors @ query).argmax())
    vectors[(best + 1) % 50, 7] = np.nan
    made = quantize(vectors)
    assert made.products(query)[1] == np.inf
    assert best in nearest(vectors, made, query, 2)


def test_only_those_let_in_are_nearest() -> None:
    vectors, query = some_vectors(300, 6), some_vectors(1, 7)[0]
    within = np.arange(300) % 3 == 0
    found = nearest(vectors, quantize(vectors), query, 5, within)
    assert within[found].all()
    exact = np.sort(vectors[within] @ query)[-5:]
    np.testing.assert_allclose(np.sort(vectors[found] @ query), exact, atol=1e-6)


def test_the_bound_of_unit_vectors_is_small() -> None:
    vectors = some_vectors(500, 3)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert quantize(vectors).products(vectors[0])[1] < 0.02


@given(seed=st.integers(0, 999), count=st.integers(1, 12), peaked=st.booleans())
def test_the_nearest_are_those_of_comparing_all(seed: int, count: int, peaked: bool) -> None:
    vectors, query = some_vectors(300, seed, peaked=peaked), some_vectors(1, seed + 1)[0]
    found = nearest(vectors, quantize(vectors), query, count)
    exact = np.sort(vectors @ query)[::-1]
    np.testing.assert_allclose(np.sort(vectors[found] @ query)[::-1], exact[:count], atol=1e-6)
    assert len(set(found.tolist())) == count


def test_where_all_are_wanted_all_are_nearest() -> None:
    vectors = some_vectors(5, 1)
    assert nearest(vectors, quantize(vectors), vectors[0], 9).tolist() == [0, 1, 2, 3, 4]


def test_a_vector_of_zeros_is_like_nothing() -> None:
    vectors = np.zeros((3, DIMENSION), np.float32)
    about, slack = quantize(vectors).products(some_vectors(1, 1)[0])
    assert about.tolist() == [0.0, 0.0, 0.0]
    assert slack < 0.02


def test_no_vectors_have_no_products() -> None:
    none = quantize(np.zeros((0, DIMENSION), np.float32))
    assert none.products(some_vectors(1, 1)[0])[0].tolist() == []


@pytest.mark.parametrize("count", [1, AT_ONCE, AT_ONCE + 1])
def test_each_vector_has_its_own_scale_however_many_there_are(count: int) -> None:
    vectors = some_vectors(count, 5)
    whole, alone = quantize(vectors), quantize(vectors[-1:])
    np.testing.assert_array_equal(whole.codes[-1:], alone.codes)
    assert (whole.scales[-1], whole.errors[-1]) == (alone.scales[0], alone.errors[0])


def test_codes_are_read_where_they_are_mapped_read_only() -> None:
    made = quantize(some_vectors(20, 2))
    mapped = mmap.mmap(-1, made.codes.nbytes)
    mapped.write(made.codes.tobytes())
    codes = np.frombuffer(bytes(mapped), np.int8).reshape(made.codes.shape)
    assert not codes.flags.writeable
    read = QuantizedVectors(codes, made.scales, made.errors)
    query = some_vectors(1, 9)[0]
    np.testing.assert_array_equal(read.products(query)[0], made.products(query)[0])
    np.testing.assert_array_equal(read.part(5, 9).products(query)[0], made.products(query)[0][5:9])
