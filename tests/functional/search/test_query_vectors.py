"""A query is embedded once, at the side; a failure is told and not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kbx_tui.embedding.local import open_embedder
from kbx_tui.errors import EmbeddingError
from kbx_tui.search.query.query_vectors import KEPT, QueryVectors


def test_a_vector_is_that_of_the_model_whatever_else_is_asked() -> None:
    embedder = open_embedder()
    vectors = QueryVectors(lambda: embedder)
    for text in ("ferry timetable", "ferry"):
        vectors.begin(text)
    np.testing.assert_array_equal(vectors.vector("ferry"), embedder.embed_query("ferry"))
    assert vectors.known("harbour") is None
    assert vectors.known("ferry timetable") is not None


class Failing:
    """Stands for a model that fails once."""

    def __init__(self) -> None:
        self.asked = 0

    def embed_query(self, text: str) -> Any:
        self.asked += 1
        if self.asked == 1:
            raise EmbeddingError("the model cannot run")
        return np.ones(3, np.float32)


def test_after_a_failure_the_next_search_tries_anew() -> None:
    failing: Any = Failing()
    vectors = QueryVectors(lambda: failing)
    with pytest.raises(EmbeddingError, match="cannot run"):
        vectors.vector("ferry")
    assert vectors.known("ferry") is None
    assert vectors.vector("ferry").tolist() == [1.0, 1.0, 1.0]
    assert vectors.vector("ferry") is vectors.vector("ferry")
    assert failing.asked == 2


def test_the_latest_are_kept() -> None:
    failing: Any = Failing()
    failing.asked = 1
    vectors = QueryVectors(lambda: failing)
    for number in range(KEPT + 1):
        vectors.vector(str(number))
    assert vectors.known("0") is None
    assert vectors.known(str(KEPT)) is not None
