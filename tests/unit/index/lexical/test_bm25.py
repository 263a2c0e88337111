"""BM25 agrees with the published formula, whichever segment a text is in."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.arrays import Rows, Scores
from kbx_tui.index.lexical.bm25 import Bm25Index, PostingsSegment, Term
from kbx_tui.index.lexical.postings import make_postings, terms_in

some_texts = st.lists(
    st.lists(st.sampled_from(["team", "plan", "migrate", "the", "owns"]), max_size=8).map(" ".join),
    max_size=8,
)


def segment_of(texts: list[tuple[int, str]]) -> PostingsSegment:
    """Return a segment of texts, each given with its row, -1 for one that was deleted."""
    postings = make_postings(("", text) for _, text in texts)
    return PostingsSegment(postings, np.array([row for row, _ in texts], int))


def index_of(*segments: list[tuple[int, str]], size: int) -> Bm25Index:
    return Bm25Index(list(map(segment_of, segments)), size)


def bm25_by_formula(texts: list[str], query: dict[str, float]) -> list[float]:
    """Return BM25 of each text, computed one number at a time."""
    documents = [terms_in(text) for text in texts]
    mean = sum(map(len, documents)) / len(documents) if documents else 0.0
    scores = []
    for document in documents:
        score = 0.0
        for term, weight in query.items():
            holding = sum(term in other for other in documents)
            idf = log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            frequency = document.count(term)
            if frequency:
                norm = 1 - 0.75 + 0.75 * len(document) / mean
                score += weight * idf * frequency * 2.2 / (frequency + 1.2 * norm)
        scores.append(score)
    return scores


def test_the_score_of_one_matching_text_follows_the_formula() -> None:
    (scores,) = index_of([(0, "team plan"), (1, "migrate")], size=2).bm25([{"team": 1.0}])
    norm = 0.25 + 0.75 * 2 / 1.5
    assert scores.tolist() == [pytest.approx(log(1 + 1.5 / 1.5) * 2.2 / (1 + 1.2 * norm)), 0.0]


@given(some_texts, st.dictionaries(st.sampled_from(["team", "plan", "none"]), st.floats(0.5, 3.0)))
def test_scores_equal_the_formula(texts: list[str], query: dict[str, float]) -> None:
    index = index_of(list(enumerate(texts)), size=len(texts))
    for scores in index.bm25([query, query]):
        np.testing.assert_allclose(scores, bm25_by_formula(texts, query))


@given(some_texts, st.data())
def test_scores_do_not_depend_on_segments_or_deleted_texts(
    texts: list[str], data: st.DataObject
) -> None:
    rows = list(enumerate(texts))
    is_newer = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    older = [row for row, newer in zip(rows, is_newer, strict=True) if not newer]
    newer = [row for row, newer in zip(rows, is_newer, strict=True) if newer]
    deleted = [(-1, text) for text in data.draw(some_texts)]
    single = index_of(rows, size=len(rows))
    segmented = index_of([*deleted, *reversed(older)], newer, size=len(rows))
    query: dict[Term, float] = {"team": 1.0, "plan": 2.0, ("team", "plan"): 0.5}
    np.testing.assert_allclose(segmented.bm25([query])[0], single.bm25([query])[0])


def test_a_pair_matches_adjacent_terms_only() -> None:
    texts = ["team plan", "plan team", "team the plan", "team", "plan", "a team plan, team plan"]
    index = index_of(list(enumerate(texts)), size=len(texts))
    (scores,) = index.bm25([{("team", "plan"): 1.0}])
    assert np.flatnonzero(scores).tolist() == [0, 5]
    assert scores[5] > scores[0]


def test_flagged_rows_count_in_the_statistics_or_all_if_there_are_none() -> None:
    texts = ["team plan", "team migrate now", *["team"] * 6]
    in_statistics = np.array([True, True, *[False] * 6])
    segment = segment_of(list(enumerate(texts)))
    index = Bm25Index([segment], len(texts), in_statistics=in_statistics)
    (scores,) = index.bm25([{"team": 1.0}])
    np.testing.assert_allclose(scores[:2], bm25_by_formula(texts[:2], {"team": 1.0}))
    assert (scores[2:] > 0).all()

    texts = ["team plan", "team migrate now", "team"]
    segment, no_row = segment_of(list(enumerate(texts))), np.zeros(len(texts), np.bool_)
    (scores,) = Bm25Index([segment], len(texts), in_statistics=no_row).bm25([{"team": 1.0}])
    np.testing.assert_allclose(scores, bm25_by_formula(texts, {"team": 1.0}))


def test_empty_indexes_texts_and_queries_score_zero() -> None:
    assert index_of(size=0).bm25([{"team": 1.0}])[0].tolist() == []
    assert index_of([(0, "")], size=1).bm25([{"team": 1.0}, {}])[1].tolist() == [0.0]


def test_idf_is_that_of_the_formula_for_terms_that_a_text_holds() -> None:
    index = index_of([(0, "team plan"), (1, "team"), (2, "migrate")], size=3)
    expected = {"team": log(1 + 1.5 / 2.5), "plan": log(1 + 2.5 / 1.5)}
    assert index.idf_of_held(["team", "plan", "zebra"]) == pytest.approx(expected)
    assert index.idf("team") == pytest.approx(expected["team"])


def in_languages(*texts: tuple[str, str]) -> Bm25Index:
    """Return an index of texts, each given with its language."""
    postings = make_postings(texts, lambda language, _: language)
    return Bm25Index([PostingsSegment(postings, np.arange(len(texts)))], len(texts))


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["plans"], 2),
        (["schiffe"], 1),
        (["2026"], 3),
        (["team", "plan"], 2),
        (["plan", "2026"], 1),
        (["team", "schiff"], 0),
        (["storm"], 0),
    ],
)
def test_texts_with_words_are_counted_in_the_language_that_most_are_in(
    words: list[str], count: int
) -> None:
    index = in_languages(
        ("english", "team plans 2026"), ("english", "2026 team plan"), ("german", "Schiffe 2026")
    )
    assert index.texts_with(*words) == count


def test_texts_are_read_only_for_terms_in_a_language_of_theirs_and_for_frequent_words() -> None:
    index = in_languages(*[("english", "team plan"), ("german", "schiff")] * 15)
    looked_up = list[object]()

    class Recording(PostingsSegment):
        def lookup(self, term: Term) -> tuple[Rows, Scores]:
            looked_up.append(term)
            return super().lookup(term)

    segment = index._segments[0]
    index._segments = (Recording(segment.postings, segment.rows),)
    assert index.texts_with("team", "plan") == 15
    assert looked_up == [("team", "plan")]
