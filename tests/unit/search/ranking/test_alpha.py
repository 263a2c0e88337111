"""Alpha is said to be idle only where it is, and to change the order where it does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import ComponentScores, Evidence
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.ranking.alpha import alpha_note, next_changes
from kbx_tui.search.ranking.rank import Ranking, hotness_share, rank
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning

unit = st.floats(0.0, 1.0)


@given(some_evidence(), some_tuning(), st.lists(unit, min_size=1, max_size=4))
def test_alpha_is_said_to_have_no_effect_only_when_it_has_none(
    found: Evidence, tuning: Tuning, alphas: list[float]
) -> None:
    tuning = replace(tuning, hotness_weight=0.0)
    if alpha_note(rank(found, tuning), 200):
        orders = [rank(found, replace(tuning, alpha=alpha)).order.tolist() for alpha in alphas]
        assert all(order == orders[0] for order in orders)


@given(some_evidence(), some_tuning(), st.integers(1, 14))
def test_there_is_a_note_exactly_where_no_alpha_changes_the_order(
    found: Evidence, tuning: Tuning, limit: int
) -> None:
    ranking = rank(found, tuning)
    assert bool(alpha_note(ranking, limit)) == (next_changes(ranking, limit) == (None, None))


def test_a_note_says_that_equal_links_leave_alpha_without_effect() -> None:
    found = evidence(
        components([3.0, 2.0], [0.5, 0.4]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0, 1: 1.0})],
    )
    note = alpha_note(rank(found, Tuning()), 200)
    assert note == "alpha has no effect: all results are linked equally"


def test_a_note_says_that_a_flat_search_knows_no_alpha() -> None:
    assert "flat" in alpha_note(rank(evidence(components([3.0], [0.5])), Tuning()), 200)


def test_there_is_no_note_when_alpha_can_swap_results() -> None:
    found = evidence(
        components([9.0, 1.0], [0.9, 0.1]),
        entities=[(entity(1, 1.0, named=True), {0: 0.5, 1: 1.0})],
    )
    assert alpha_note(rank(found, Tuning()), 200) == ""


def test_a_flat_search_has_no_changes() -> None:
    assert next_changes(rank(evidence(components([3.0], [0.5])), Tuning()), 10) == (None, None)


def lines(
    relevance: list[float], parent: list[float], *, dates: list[str] | None = None,
    exact: dict[int, str] | None = None, hotness: list[float] | None = None,
) -> Evidence:  # fmt: skip
    """Evidence whose documents have just these two scores."""
    zeros, scores = np.zeros(len(relevance)), np.array(relevance, dtype=float)
    nobody = np.full(len(scores), -1, np.int8)
    typed = ComponentScores("q", zeros, scores, zeros, zeros, scores, scores, nobody, 1.0)
    links = {row: strength for row, strength in enumerate(parent) if strength}
    named = [(entity(0, 1.0, named=True), links)]
    return evidence(typed, entities=named, exact=exact, dates=dates or (), hotness=hotness or ())


def approx(*alphas: float | None) -> Any:
    return tuple(None if alpha is None else pytest.approx(alpha) for alpha in alphas)


def test_two_documents_change_places_where_their_lines_cross() -> None:
    found = lines([0.25, 0.75], [1.0, 0.5])  # equal where .25 a + 1 - a = .75 a + .5 (1 - a)
    assert next_changes(rank(found, Tuning(alpha=0.25)), 10) == approx(None, 0.5)
    assert next_changes(rank(found, Tuning(alpha=0.75)), 10) == approx(0.5, None)


def test_only_the_order_of_the_first_counts() -> None:
    found = lines([1.0, 0.25, 0.75], [1.0, 0.5, 0.25])
    assert next_changes(rank(found, Tuning(alpha=0.1)), 1) == (None, None)
    assert next_changes(rank(found, Tuning(alpha=0.1)), 2) == approx(None, 1 / 3)


def test_a_document_that_is_linked_to_nobody_is_no_result_at_alpha_zero() -> None:
    found = lines([0.25, 0.75], [1.0, 0.0])
    assert next_changes(rank(found, Tuning(alpha=0.25)), 10)[0] == 0.0
    assert next_changes(rank(found, Tuning(alpha=0.0)), 10)[1] == 0.0  # it comes in at once


def exact_order(ranking: Ranking, alpha: Fraction, limit: int) -> list[int]:
    """Return the best rows without any rounding, as slowly as it is plain."""
    found, h = ranking.evidence, Fraction(hotness_share(ranking.evidence, ranking.tuning))
    scores: dict[int, Fraction] = {}
    for row in range(len(found)):
        document, parent = ranking.doc_relevance[row], ranking.parent_entity_score[row]
        blended = alpha * Fraction(document) + (1 - alpha) * Fraction(parent)
        score = (1 - h) * blended + h * Fraction(found.hotness[row])
        linked = any(row in found.links[index].rows for index in ranking.kept)
        if row in found.exact:
            scores[row] = Fraction(1)
        elif score > 0 and (linked or ranking.tuning.gate == "soft"):
            scores[row] = score
    by_date = sorted(scores, key=lambda row: found.dates[row], reverse=True)
    return sorted(
        by_date, key=lambda row: (-scores[row], row not in found.exact, -ranking.doc_relevance[row])
    )[:limit]


def exact_changes(ranking: Ranking, limit: int) -> tuple[Fraction | None, Fraction | None]:
    """Return what `next_changes` should, from the order at and between all crossings of lines."""
    here, places = Fraction(ranking.tuning.alpha), {Fraction(0), Fraction(1)}
    slopes = [
        (Fraction(parent), Fraction(document) - Fraction(parent))
        for document, parent in zip(ranking.doc_relevance, ranking.parent_entity_score, strict=True)
    ]
    h = Fraction(hotness_share(ranking.evidence, ranking.tuning))
    heat = [h / (1 - h) * Fraction(one) for one in ranking.evidence.hotness]
    for one, other in combinations(range(len(slopes)), 2):
        slope = slopes[one][1] - slopes[other][1]
        if slope:
            start = slopes[one][0] + heat[one] - slopes[other][0] - heat[other]
            places.add(-start / slope)
    places = {place for place in places if 0 <= place <= 1}
    present = exact_order(ranking, here, limit)

    def first(side: list[Fraction]) -> Fraction | None:
        before = here
        for place in side:
            if exact_order(ranking, (before + place) / 2, limit) != present:
                return before
            if exact_order(ranking, place, limit) != present:
                return place
            before = place
        return None

    below = sorted((place for place in places if place < here), reverse=True)
    return first(below), first(sorted(place for place in places if place > here))


eighths = st.integers(0, 8).map(lambda number: number / 8)


@settings(max_examples=300)
@given(st.data())
def test_the_nearest_changes_are_those_found_by_ranking_everywhere(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 7))
    column = st.lists(eighths, min_size=size, max_size=size)
    found = lines(
        data.draw(column), data.draw(column), hotness=data.draw(st.none() | column),
        dates=data.draw(st.none() | st.lists(st.sampled_from(["", "2026-01-02"]), min_size=size,
                                             max_size=size)),
        exact=data.draw(st.sampled_from([{}, {0: "title"}])),
    )  # fmt: skip
    tuning = Tuning(
        alpha=data.draw(eighths),
        hotness_weight=data.draw(st.sampled_from([0.0, 0.5])),
        gate=data.draw(st.sampled_from(["soft", "hard"])),
    )
    ranking, limit = rank(found, tuning), data.draw(st.integers(1, 8))
    if ranking.search_mode == "flat":
        return
    for told, expected in zip(
        next_changes(ranking, limit), exact_changes(ranking, limit), strict=True
    ):
        assert (told is None) == (expected is None)
        assert told is None or expected is None or abs(told - float(expected)) < 1e-12
