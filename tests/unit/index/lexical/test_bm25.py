"""BM25 is the formula of the book, whatever part of the texts comes from where."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.lexical.bm25 import Part, Term, WordIndex
from kbx_tui.index.lexical.postings import make_postings
from kbx_tui.index.lexical.terms import terms_in

some_texts = st.lists(
    st.lists(st.sampled_from(["team", "plan", "migrate", "the", "owns"]), max_size=8).map(" ".join),
    max_size=8,
)


def index_of(*parts: list[tuple[int, str]], size: int) -> WordIndex:
    """An index of several parts; each text stands with its row, -1 for one that is gone."""
    return WordIndex(
        [
            Part(make_postings(("", text) for _, text in part), np.array([r for r, _ in part], int))
            for part in parts
        ],
        size,
    )


def by_the_book(texts: list[str], query: dict[str, float]) -> list[float]:
    """BM25, one number at a time."""
    documents = [terms_in(text) for text in texts]
    mean = sum(map(len, documents)) / len(documents) if documents else 0.0
    scores = []
    for document in documents:
        score = 0.0
        for term, times in query.items():
            holding = sum(term in other for other in documents)
            idf = log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            count = document.count(term)
            if count:
                norm = 1 - 0.75 + 0.75 * len(document) / mean
                score += times * idf * count * 2.2 / (count + 1.2 * norm)
        scores.append(score)
    return scores


def test_one_text_in_two() -> None:
    (scores,) = index_of([(0, "team plan"), (1, "migrate")], size=2).bm25([{"team": 1.0}])
    norm = 0.25 + 0.75 * 2 / 1.5
    assert scores.tolist() == [pytest.approx(log(1 + 1.5 / 1.5) * 2.2 / (1 + 1.2 * norm)), 0.0]


@given(some_texts, st.dictionaries(st.sampled_from(["team", "plan", "none"]), st.floats(0.5, 3.0)))
def test_scores_are_those_of_the_formula(texts: list[str], query: dict[str, float]) -> None:
    index = index_of(list(enumerate(texts)), size=len(texts))
    for scores in index.bm25([query, query]):
        np.testing.assert_allclose(scores, by_the_book(texts, query))


@given(some_texts, st.data())
def test_it_does_not_matter_which_texts_are_newer_or_what_is_gone(
    texts: list[str], data: st.DataObject
) -> None:
    rows = list(enumerate(texts))
    newer = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    kept = [row for row, is_new in zip(rows, newer, strict=True) if not is_new]
    added = [row for row, is_new in zip(rows, newer, strict=True) if is_new]
    gone = [(-1, text) for text in data.draw(some_texts)]
    whole = index_of(rows, size=len(rows))
    parts = index_of([*gone, *reversed(kept)], added, size=len(rows))
    query: dict[Term, float] = {"team": 1.0, "plan": 2.0, ("team", "plan"): 0.5}
    np.testing.assert_allclose(parts.bm25([query])[0], whole.bm25([query])[0])


def test_a_pair_is_found_where_its_words_stand_side_by_side() -> None:
    texts = ["team plan", "plan team", "team the plan", "team", "plan", "a team plan, team plan"]
    index = index_of(list(enumerate(texts)), size=len(texts))
    (scores,) = index.bm25([{("team", "plan"): 1.0}])
    assert np.flatnonzero(scores).tolist() == [0, 5]
    assert scores[5] > scores[0]


def test_statistics_are_those_of_typical_texts() -> None:
    texts = ["team plan", "team migrate now", *["team"] * 6]
    typical = np.array([True, True, *[False] * 6])
    part = Part(make_postings(("", text) for text in texts), np.arange(len(texts)))
    (found,) = WordIndex([part], len(texts), typical=typical).bm25([{"team": 1.0}])
    np.testing.assert_allclose(found[:2], by_the_book(texts[:2], {"team": 1.0}))
    assert (found[2:] > 0).all()
    none = np.zeros(len(texts), np.bool_)
    (every,) = WordIndex([part], len(texts), typical=none).bm25([{"team": 1.0}])
    np.testing.assert_allclose(every, by_the_book(texts, {"team": 1.0}))


def test_nothing_is_found_in_nothing() -> None:
    assert index_of(size=0).bm25([{"team": 1.0}])[0].tolist() == []
    assert index_of([(0, "")], size=1).bm25([{"team": 1.0}, {}])[1].tolist() == [0.0]
