"""An inverted file finds the nearest chunks of unusual vectors, too."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from kbx_tui.index.array_file import ArrayWriter, map_unverified
from kbx_tui.index.vectors.build_lists import write_lists
from kbx_tui.index.vectors.int8_codes import Matrix, quantize
from kbx_tui.index.vectors.vector_lists import VectorLists
from kbx_tui.index.vectors.vector_segment import StoredVectors

NOTHING = np.zeros(0, np.float32)


def lists_of(vectors: Matrix, file: Path) -> VectorLists:
    """Return the lists of documents with one chunk each."""
    count, codes = len(vectors), quantize(vectors)
    stored = StoredVectors(
        versions=np.empty(0, np.bytes_),
        document_rows=np.arange(count),
        starts=np.arange(count),
        lines=np.ones(count, np.int32),
        chunks=vectors.reshape(-1),
        contexts=NOTHING,
        chunk_weights=NOTHING,
        codes=codes.codes.reshape(-1),
        code_scales=codes.scales,
        code_errors=codes.errors,
        profiles=np.empty(0, np.bytes_),
        entities=NOTHING,
    )
    names = {field.name: field.name for field in fields(VectorLists)}
    with file.open("w+b") as out:
        writer = ArrayWriter(out, "kbx lists 1", names)
        write_lists(writer, stored, vectors.shape[1])
        writer.finish()
    return VectorLists(**map_unverified(file, "kbx lists 1"))


@pytest.mark.parametrize("count", [1, 2, 400])
def test_equal_vectors_are_found_whatever_the_query(count: int, tmp_path: Path) -> None:
    direction = np.array([0.6, 0.0, 0.8], np.float32)
    lists = lists_of(np.tile(direction, (count, 1)), tmp_path / "lists.bin")
    assert (len(lists.starts), int(lists.starts[-1]), float(lists.recall[0])) == (2, count, 1.0)
    query = np.array([-0.28, 0.96, 0.0], np.float32)
    assert len(lists.best_documents(query, None, 5, 1.0)) == min(count, 5)


def test_no_list_is_empty(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    some = random.normal(size=(4, 8)).astype(np.float32)
    some /= np.linalg.norm(some, axis=1, keepdims=True)
    vectors = some[random.integers(0, 4, 900)]
    lists = lists_of(vectors, tmp_path / "lists.bin")
    assert np.diff(lists.starts).min() > 0
    for direction in some:
        best = lists.best_documents(direction, None, 50, 1.0)
        np.testing.assert_array_equal(vectors[best], np.tile(direction, (50, 1)))
