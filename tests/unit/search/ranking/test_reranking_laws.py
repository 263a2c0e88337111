"""Laws of reranking: what a reranker may change, whatever it says."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import Evidence, Topic
from kbx_tui.search.evidence.reranking import RERANKED, RerankerScores, answer_probability, reranked
from kbx_tui.search.ranking.alpha import alpha_note, next_changes
from kbx_tui.search.ranking.explain import explain
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import Tuning
from kbx_tui.tui.explore.presenting import present_why
from tests.unit.search.building import components, entity, evidence, some_tuning, unit

SIZE = 30
few_values = st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0])
"""So that many documents tie."""
probabilities = st.dictionaries(st.integers(0, SIZE - 1), few_values | unit)


@st.composite
def many_documents(draw: st.DrawFn) -> Evidence:
    """Draw evidence of more documents than are reranked, many of them with equal scores."""
    bm25 = draw(st.lists(st.sampled_from([0.0, 1.0, 5.0, 20.0]), min_size=SIZE, max_size=SIZE))
    cosines = draw(st.lists(few_values, min_size=SIZE, max_size=SIZE))
    links = st.dictionaries(st.integers(0, SIZE - 1), unit)
    return evidence(
        components(bm25, cosines),
        entities=[(entity(1, 1.0, named=True), draw(links)), (entity(2, 0.6), draw(links))],
        known_items=draw(st.sampled_from([{}, {0: "title"}, {25: "path"}])),
        frecency=draw(st.lists(few_values, min_size=SIZE, max_size=SIZE)),
        topic=Topic(draw(st.floats(0.05, 0.9)), draw(unit)),
    )


def scored(retrieved: Evidence, scores: Mapping[int, float]) -> Evidence:
    return replace(retrieved, reranker=RerankerScores("model", scores))


def order(ranking: Ranking) -> list[int]:
    return [int(row) for row in ranking.order]


@given(unit, unit, unit, unit)
def test_a_score_rises_with_the_plain_score_and_with_the_rerankers(
    score: float, other: float, probability: float, higher: float
) -> None:
    low, high = sorted([score, other])
    less, more = sorted([probability, higher])
    results = [
        float(reranked(np.array([s]), np.array([p]))[0])
        for s, p in [(low, less), (low, more), (high, less), (high, more)]
    ]
    assert results[0] <= min(results[1:3])
    assert max(results[1:3]) <= results[3]


@given(unit, unit)
def test_a_reranker_adds_at_most_half_of_what_is_missing_to_1(
    score: float, probability: float
) -> None:
    (result,) = reranked(np.array([score]), np.array([probability]))
    assert score <= result <= 1.0
    assert result - score == pytest.approx(0.5 * probability * (1.0 - score), abs=1e-12)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_higher_output_of_the_model_never_counts_less(logit: float, other: float) -> None:
    low, high = sorted([logit, other])
    assert 0.0 <= answer_probability(low) <= answer_probability(high) <= 1.0


@given(many_documents(), some_tuning(), probabilities)
def test_only_the_first_20_change_places(
    retrieved: Evidence, tuning: Tuning, scores: Mapping[int, float]
) -> None:
    plain, ranking = rank(retrieved, tuning), rank(scored(retrieved, scores), tuning)
    before, after = order(plain), order(ranking)
    assert set(after[:RERANKED]) == set(before[:RERANKED])
    assert after[RERANKED:] == before[RERANKED:]
    assert ranking.total_matched == plain.total_matched
    assert [int(row) for row in ranking.best(10)] == after[:10]


@given(many_documents(), some_tuning(), probabilities)
def test_no_score_falls_and_the_list_stays_sorted(
    retrieved: Evidence, tuning: Tuning, scores: Mapping[int, float]
) -> None:
    plain, ranking = rank(retrieved, tuning), rank(scored(retrieved, scores), tuning)
    assert (ranking.final >= plain.final).all()
    assert (ranking.final <= 1.0).all()
    finals = [ranking.final[row] for row in order(ranking)]
    assert finals == sorted(finals, reverse=True)


@given(many_documents(), some_tuning(), few_values | unit)
def test_equal_scores_of_the_reranker_keep_the_order(
    retrieved: Evidence, tuning: Tuning, probability: float
) -> None:
    scores = dict.fromkeys(range(SIZE), probability)
    assert order(rank(scored(retrieved, scores), tuning)) == order(rank(retrieved, tuning))


@given(many_documents(), some_tuning(), probabilities, st.integers(0, SIZE - 1), unit, unit)
def test_a_document_never_falls_when_its_score_of_the_reranker_rises(
    retrieved: Evidence,
    tuning: Tuning,
    scores: Mapping[int, float],
    row: int,
    probability: float,
    other: float,
) -> None:
    low, high = sorted([probability, other])
    before = order(rank(scored(retrieved, {**scores, row: low}), tuning))
    after = order(rank(scored(retrieved, {**scores, row: high}), tuning))
    if row in before:
        assert after.index(row) <= before.index(row)


@given(many_documents(), some_tuning(), probabilities)
def test_the_numbers_shown_add_up(
    retrieved: Evidence, tuning: Tuning, scores: Mapping[int, float]
) -> None:
    ranking = rank(scored(retrieved, scores), tuning)
    for ranked in ranking.top(5):
        why = present_why(ranking, explain(ranking, ranked))
        if why.reranking is not None:
            assert round(why.reranking.plain + why.reranking.added, 2) == why.score
            assert 0.0 <= why.reranking.added <= why.reranking.maximum + 0.01
            assert abs(why.score - ranked.score) <= 0.005 + 1e-9


@given(many_documents(), some_tuning())
def test_without_scores_nothing_changes(retrieved: Evidence, tuning: Tuning) -> None:
    plain = rank(retrieved, tuning)
    for changed in (
        scored(retrieved, {}),
        replace(retrieved, reranker=RerankerScores("m", {}, "x")),
    ):
        ranking = rank(changed, tuning)
        assert not ranking.is_reranked
        assert ranking.final is ranking.plain_final
        assert order(ranking) == order(plain)


@given(many_documents(), some_tuning())
def test_known_items_stay_first_and_are_not_scored(retrieved: Evidence, tuning: Tuning) -> None:
    ranking = rank(scored(retrieved, dict.fromkeys(range(SIZE), 1.0)), tuning)
    assert not set(retrieved.known_items) & set(ranking.rows_to_rerank)
    assert set(order(ranking)[: len(retrieved.known_items)]) == set(retrieved.known_items)


@given(many_documents(), some_tuning())
def test_nothing_is_reranked_where_a_query_asks_nothing_besides_names(
    retrieved: Evidence, tuning: Tuning
) -> None:
    ranking = rank(replace(retrieved, topic=None), tuning)
    assert list(ranking.rows_to_rerank) == []


def test_the_first_20_that_score_something_are_reranked() -> None:
    retrieved = evidence(components([3.0, 0.0], [0.5, 0.0]), topic=Topic(0.5))
    assert list(rank(retrieved, Tuning()).rows_to_rerank) == [0]

    bm25 = [float(number) for number in range(40, 10, -1)]
    retrieved = evidence(components(bm25, [0.5] * 30), topic=Topic(0.5))
    ranking = rank(scored(retrieved, {19: 1.0, 20: 1.0}), Tuning())
    assert dict(ranking.reranker_scores) == {19: 1.0}
    assert order(ranking)[0] == 19
    assert ranking.ranked(20, 21).reranker_score is None


def test_no_alpha_is_named_for_a_reranked_ranking() -> None:
    retrieved = evidence(
        components([3.0, 1.0], [0.5, 0.4]),
        entities=[(entity(1, 1.0, named=True), {1: 1.0})],
        topic=Topic(0.9),
    )
    assert next_changes(rank(retrieved, Tuning()), 10) != (None, None)
    ranking = rank(scored(retrieved, {0: 0.9}), Tuning())
    assert next_changes(ranking, 10) == (None, None)
    assert alpha_note(ranking, 10) == ""
