"""The profiles nearest to a query, of entities that were added, removed and changed."""

from __future__ import annotations

import numpy as np

from kbx_tui.index.vectors.int8_codes import quantize
from kbx_tui.index.vectors.load_vectors import rows_of_profiles
from kbx_tui.index.vectors.vector_matrix import ProfileVectors


def test_the_nearest_profiles_are_those_of_a_full_comparison() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((500, 16), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query, newer, codes = vectors[7], vectors[:1], quantize(vectors)
    entities, cosines = ProfileVectors.of(vectors, codes).nearest(query, 20)
    assert set(entities) == set(np.argsort(-(vectors @ query))[:20])
    np.testing.assert_allclose(cosines, vectors[entities] @ query, rtol=1e-6)
    sources = np.append(np.arange(499, 0, -1), 7)  # entity 500 has the same profile as entity 492
    changed = ProfileVectors(vectors, codes, sources, newer, np.array([501]))
    entities, cosines = changed.nearest(query, 1)
    assert entities.tolist() == [492, 499, 501]
    np.testing.assert_allclose(cosines, [1.0, 1.0, newer[0] @ query], rtol=1e-6)


def test_profiles_are_found_among_stored_ones_by_hash() -> None:
    stored = np.array([b"a", b"b", b"c", b"", b"d"])
    profiles = np.array([b"b", b"new", b"d", b"d"])
    assert rows_of_profiles(profiles, stored).tolist() == [1, -1, 4, 4]
