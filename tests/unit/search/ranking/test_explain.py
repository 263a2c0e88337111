"""The numbers of an explanation add up, exact and rounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.formatting import rounded_parts
from kbx_tui.search.ranking.explain import explain
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence

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
    assert [(s.entity_score, s.share) for s in why.entities] == [(1.0, 0.5), (1.0, 0.25)]
    assert sum(s.share for s in why.entities) == ranking.parent_entity_score[0]


def test_document_without_a_vector_has_no_cosine() -> None:
    found = evidence(components([5.0], [float("nan")]))
    ranking = rank(found, Tuning())
    assert explain(ranking, ranking.top(1)[0]).cosine is None
