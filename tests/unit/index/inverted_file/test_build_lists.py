"""An inverted file finds the nearest chunks of unusual vectors, too."""

from pathlib import Path

import numpy as np
import pytest

from kbx_tui.index.arrays import Matrix
from kbx_tui.index.ownership import claim
from kbx_tui.index.store import Store
from kbx_tui.index.vectors.vector_lists import LISTS, VectorLists, write_lists
from tests.vectors import stored_vectors


def lists_of(vectors: Matrix, folder: Path) -> VectorLists:
    """Return the lists of documents with one chunk each."""
    count = len(vectors)
    stored = stored_vectors(
        vectors,
        np.arange(count + 1),
        np.zeros_like(vectors),
        np.ones(count, np.float32),
        np.arange(count),
    )
    claim(folder)
    store = Store(str(folder))
    with LISTS.writer(store) as writer:
        write_lists(writer, stored)
    lists = LISTS.map(store)
    assert lists is not None
    return lists


@pytest.mark.parametrize("count", [1, 2, 400])
def test_equal_vectors_are_found_whatever_the_query(count: int, tmp_path: Path) -> None:
    direction = np.array([0.6, 0.0, 0.8], np.float32)
    lists = lists_of(np.tile(direction, (count, 1)), tmp_path)
    assert (len(lists.starts), int(lists.starts[-1]), float(lists.recall[0])) == (2, count, 1.0)
    query = np.array([-0.28, 0.96, 0.0], np.float32)
    assert len(lists.best_documents(query, None, 5, 1.0)) == min(count, 5)


def test_no_list_is_empty(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    some = random.normal(size=(4, 8)).astype(np.float32)
    some /= np.linalg.norm(some, axis=1, keepdims=True)
    vectors = some[random.integers(0, 4, 900)]
    lists = lists_of(vectors, tmp_path)
    assert np.diff(lists.starts).min() > 0
    for direction in some:
        best = lists.best_documents(direction, None, 50, 1.0)
        np.testing.assert_array_equal(vectors[best], np.tile(direction, (50, 1)))
