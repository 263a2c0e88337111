"""Queries are embedded once, in the background; errors are raised and not cached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kbx_tui.embedding.local import open_embedder
from kbx_tui.errors import EmbeddingError
from kbx_tui.search.retrieval.retrieve import VECTORS_KEPT, QueryVectors


def test_vector_does_not_depend_on_other_queries() -> None:
    embedder = open_embedder()
    vectors = QueryVectors(lambda: embedder)
    for text in ("ferry timetable", "ferry"):
        vectors.begin(text)
    np.testing.assert_array_equal(vectors.vector("ferry"), embedder.embed_query("ferry"))
    assert vectors.known("harbour") is None
    assert vectors.known("ferry timetable") is not None


class Failing:
    """A model that fails once."""

    def __init__(self) -> None:
        self.calls = 0

    def embed_query(self, text: str) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise EmbeddingError("the model cannot run")
        return np.ones(3, np.float32)


def test_next_search_tries_again_after_an_error() -> None:
    failing: Any = Failing()
    vectors = QueryVectors(lambda: failing)
    with pytest.raises(EmbeddingError, match="cannot run"):
        vectors.vector("ferry")
    assert vectors.known("ferry") is None
    assert vectors.vector("ferry").tolist() == [1.0, 1.0, 1.0]
    assert vectors.vector("ferry") is vectors.vector("ferry")
    assert failing.calls == 2


def test_latest_vectors_are_cached() -> None:
    failing: Any = Failing()
    failing.calls = 1
    vectors = QueryVectors(lambda: failing)
    for number in range(VECTORS_KEPT + 1):
        vectors.vector(str(number))
    assert vectors.known("0") is None
    assert vectors.known(str(VECTORS_KEPT)) is not None
