"""The numbers of an explanation add up, exact and rounded."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kbx_tui.errors import OutOfRange
from kbx_tui.formatting import format_change, format_score, rounded_parts
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.reranking import RerankerScores
from kbx_tui.search.ranking.explain import explain, explain_pair, score_parts
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning

parts = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6)


@given(parts)
def test_rounded_parts_sum_to_the_rounded_total(numbers: list[float]) -> None:
    total = sum(numbers)
    shown = rounded_parts(total, numbers)
    assert f"{sum(shown):.2f}" == f"{total:.2f}"


@given(parts)
def test_rounded_parts_are_off_by_less_than_one_last_digit(numbers: list[float]) -> None:
    for number, shown in zip(numbers, rounded_parts(sum(numbers), numbers), strict=True):
        assert abs(number - shown) < 0.01 + 1e-8


def test_unlinked_entity_is_listed_with_share_0() -> None:
    found = evidence(
        components([5.0, 5.0], [0.0, 0.0]),
        entities=[
            (entity(0, 1.0, named=True), {0: 0.8}),
            (entity(1, 1.0, named=True), {1: 1.0}),
        ],
    )
    ranking = rank(found, Tuning())
    first = next(ranked for ranked in ranking.top(2) if ranked.row == 0)
    shares = explain(ranking, first).entities
    assert [(s.name, s.reason) for s in shares] == [
        ("Entity 0", "attendee"),
        ("Entity 1", "not linked"),
    ]
    assert [s.share for s in shares] == [pytest.approx(0.4), 0.0]


def test_only_the_best_entity_has_a_share_if_the_maximum_counts() -> None:
    found = evidence(
        components([5.0], [0.0]),
        entities=[(entity(0, 0.9), {0: 1.0}), (entity(1, 0.8), {0: 1.0})],
    )
    ranking = rank(found, Tuning())
    why = explain(ranking, ranking.top(1)[0])
    assert [s.share for s in why.entities] == [pytest.approx(0.9), 0.0]


def test_pinned_entity_is_explained_with_score_1() -> None:
    found = evidence(
        components([5.0], [0.0]),
        entities=[(entity(0, 1.0, named=True), {0: 1.0}), (entity(1, 0.2), {0: 0.5})],
    )
    ranking = rank(found, Tuning(pinned=frozenset({"person:e1"})))
    why = explain(ranking, ranking.top(1)[0])
    assert [(s.score, s.share) for s in why.entities] == [(1.0, 0.5), (1.0, 0.25)]
    assert sum(s.share for s in why.entities) == ranking.parent_entity_score[0]


def test_document_without_a_vector_has_no_cosine() -> None:
    found = evidence(components([5.0], [float("nan")]))
    ranking = rank(found, Tuning())
    assert explain(ranking, ranking.top(1)[0]).cosine is None


@given(some_evidence(), some_tuning(), st.floats(0.0, 1.0))
def test_parts_sum_to_the_score(found: Evidence, tuning: Tuning, probability: float) -> None:
    found = replace(found, reranker=RerankerScores("model", {0: probability, 2: 0.5}))
    ranking = rank(found, tuning)
    for row in ranking.order.tolist():
        parts = score_parts(ranking, row)
        assert sum(parts.values()) == pytest.approx(float(ranking.final[row]), abs=1e-9)


@given(some_evidence(), some_tuning(), st.data())
def test_differences_sum_as_they_are_shown(
    found: Evidence, tuning: Tuning, data: st.DataObject
) -> None:
    ranking = rank(found, tuning)
    order = ranking.order.tolist()
    assume(len(order) > 1)
    first, second = data.draw(st.lists(st.sampled_from(order), min_size=2, max_size=2, unique=True))
    pair = explain_pair(ranking, first, second)
    assert order.index(pair.ahead.row) < order.index(pair.behind.row)
    assert pair.difference >= 0.0
    thousandths = [round(float(format_change(part.shown)) * 1000) for part in pair.parts]
    assert sum(thousandths) == round(float(format_score(pair.difference, 3)) * 1000)
    assert bool(pair.tie_rule) == (pair.difference == 0.0)


def test_the_sentence_names_the_parts_that_differ() -> None:
    found = evidence(
        components([9.0, 9.5], [0.5, 0.5]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0, 1: 0.5})],
    )
    pair = explain_pair(rank(found, Tuning()), 1, 0)
    assert pair.text("Rollback", "Cut-over") == (
        "Rollback beats Cut-over by .246: entity +.250, words -.004"
    )


def test_a_tie_and_a_document_without_a_score_are_explained_in_words() -> None:
    found = evidence(components([9.0, 9.0], [0.5, 0.5]), dates=["2026-01-02", "2026-03-04"])
    pair = explain_pair(rank(found, Tuning()), 0, 1)
    assert pair.text("A", "B") == "A ties with B and comes first by its date"

    found = evidence(components([9.0, 0.0], [0.5, 0.0]))
    with pytest.raises(OutOfRange, match="is not a result"):
        explain_pair(rank(found, Tuning()), 0, 1)
