"""The alphas at which the order changes, and the note when there are none."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import ComponentScores
from kbx_tui.search.ranking.alpha import ScoreLines, alpha_note, next_changes, swap_points
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import Tuning
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning

unit = st.floats(0.0, 1.0)


@given(some_evidence(), some_tuning(), st.lists(unit, min_size=1, max_size=4))
def test_note_appears_only_if_alpha_has_no_effect(
    found: Evidence, tuning: Tuning, alphas: list[float]
) -> None:
    tuning = replace(tuning, hotness_weight=0.0)
    if alpha_note(rank(found, tuning), 200):
        orders = [rank(found, replace(tuning, alpha=alpha)).order.tolist() for alpha in alphas]
        assert all(order == orders[0] for order in orders)


@given(some_evidence(), some_tuning(), st.integers(1, 14))
def test_note_appears_if_and_only_if_there_are_no_changes(
    found: Evidence, tuning: Tuning, limit: int
) -> None:
    ranking = rank(found, tuning)
    assert bool(alpha_note(ranking, limit)) == (next_changes(ranking, limit) == (None, None))


@pytest.mark.parametrize(
    ("alpha", "side", "end"), [(1e-205, 0, 0.0), (math.nextafter(1.0, 0.0), 1, 1.0)]
)
def test_a_change_at_an_end_of_the_scale_is_found_right_beside_it(
    alpha: float, side: int, end: float
) -> None:
    found = evidence(
        components([0.0, 0.0], [0.0, 0.9]),
        entities=[(entity(0, 1.0, named=True), {0: 1.0})],
    )
    tuning = Tuning(alpha=alpha, entity_threshold=0.0, scale_by_topic=False)
    assert next_changes(rank(found, tuning), 5)[side] == end


def test_note_says_that_links_are_equal_or_the_search_is_flat() -> None:
    found = evidence(
        components([3.0, 2.0], [0.5, 0.4]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0, 1: 1.0})],
    )
    note = alpha_note(rank(found, Tuning()), 200)
    assert note == "alpha has no effect: all results are linked equally"

    found = evidence(components([3.0], [0.5]))
    assert alpha_note(rank(found, Tuning()), 200) == "alpha has no effect on a flat search"
    fast = evidence(components([3.0], [float("nan")]), fast=True)
    assert alpha_note(rank(fast, Tuning()), 200) == "alpha has no effect on a fast search"

    found = evidence(
        components([9.0, 1.0], [0.9, 0.1]),
        entities=[(entity(1, 1.0, named=True), {0: 0.5, 1: 1.0})],
    )
    assert alpha_note(rank(found, Tuning()), 200) == ""

    assert next_changes(rank(evidence(components([3.0], [0.5])), Tuning()), 10) == (None, None)


def lines(
    relevance: list[float], parent: list[float], *, dates: list[str] | None = None,
    known_items: dict[int, str] | None = None, frecency: list[float] | None = None,
) -> Evidence:  # fmt: skip
    """Return Evidence whose documents have these two scores and no others."""
    zeros, scores = np.zeros(len(relevance)), np.array(relevance, dtype=float)
    no_side = np.full(len(scores), -1, np.int8)
    typed = ComponentScores("q", zeros, scores, zeros, zeros, scores, scores, no_side, 1.0)
    links = {row: strength for row, strength in enumerate(parent) if strength}
    named = [(entity(0, 1.0, named=True), links)]
    return evidence(
        typed,
        entities=named,
        known_items=known_items,
        dates=dates or (),
        frecency=frecency or (),
    )


def approx(*alphas: float | None) -> Any:
    return tuple(None if alpha is None else pytest.approx(alpha) for alpha in alphas)


def test_documents_swap_where_their_scores_are_equal_within_the_limit() -> None:
    found = lines([0.25, 0.75], [1.0, 0.5])  # equal where .25 a + 1 - a = .75 a + .5 (1 - a)
    assert next_changes(rank(found, Tuning(alpha=0.25)), 10) == approx(None, 0.5)
    assert next_changes(rank(found, Tuning(alpha=0.75)), 10) == approx(0.5, None)

    found = lines([1.0, 0.25, 0.75], [1.0, 0.5, 0.25])
    assert next_changes(rank(found, Tuning(alpha=0.1)), 1) == (None, None)
    assert next_changes(rank(found, Tuning(alpha=0.1)), 2) == approx(None, 1 / 3)

    found = lines([0.25, 0.75], [1.0, 0.0])
    assert next_changes(rank(found, Tuning(alpha=0.25)), 10)[0] == 0.0
    assert (
        next_changes(rank(found, Tuning(alpha=0.0)), 10)[1] == 0.0
    )  # it becomes a result immediately


def exact_order(ranking: Ranking, alpha: Fraction, limit: int) -> list[int]:
    """Return the best rows, computed with fractions."""
    found, h = ranking.evidence, Fraction(ranking.frecency_weight)
    scores: dict[int, Fraction] = {}
    for row in range(len(found)):
        document, parent = ranking.doc_relevance[row], ranking.parent_entity_score[row]
        blended = alpha * Fraction(document) + (1 - alpha) * Fraction(parent)
        score = (1 - h) * blended + h * Fraction(found.frecency[row])
        linked = any(row in found.links[index].rows for index in ranking.kept)
        if row in found.known_items:
            scores[row] = Fraction(1)
        elif blended > 0 and (linked or ranking.tuning.gate == "soft"):
            scores[row] = score
    by_date = sorted(scores, key=lambda row: found.dates[row], reverse=True)
    return sorted(
        by_date,
        key=lambda row: (-scores[row], row not in found.known_items, -ranking.doc_relevance[row]),
    )[:limit]


def exact_changes(ranking: Ranking, limit: int) -> tuple[Fraction | None, Fraction | None]:
    """Return the expected result of `next_changes`, from the order at and between all crossings."""
    current, alphas = Fraction(ranking.tuning.alpha), {Fraction(0), Fraction(1)}
    slopes = [
        (Fraction(parent), Fraction(document) - Fraction(parent))
        for document, parent in zip(ranking.doc_relevance, ranking.parent_entity_score, strict=True)
    ]
    h = Fraction(ranking.frecency_weight)
    frecency = [h / (1 - h) * Fraction(score) for score in ranking.evidence.frecency]
    for first_row, second_row in combinations(range(len(slopes)), 2):
        slope = slopes[first_row][1] - slopes[second_row][1]
        if slope:
            start = (
                slopes[first_row][0]
                + frecency[first_row]
                - slopes[second_row][0]
                - frecency[second_row]
            )
            alphas.add(-start / slope)
    alphas = {alpha for alpha in alphas if 0 <= alpha <= 1}
    order = exact_order(ranking, current, limit)

    def first(side: list[Fraction]) -> Fraction | None:
        before = current
        for alpha in side:
            if exact_order(ranking, (before + alpha) / 2, limit) != order:
                return before
            if exact_order(ranking, alpha, limit) != order:
                return alpha
            before = alpha
        return None

    below = sorted((alpha for alpha in alphas if alpha < current), reverse=True)
    return first(below), first(sorted(alpha for alpha in alphas if alpha > current))


eighths = st.integers(0, 8).map(lambda number: number / 8)


@settings(max_examples=60)
@given(st.data())
def test_next_changes_equal_an_exhaustive_search(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 7))
    column = st.lists(eighths, min_size=size, max_size=size)
    found = lines(
        data.draw(column), data.draw(column), frecency=data.draw(st.none() | column),
        dates=data.draw(st.none() | st.lists(st.sampled_from(["", "2026-01-02"]), min_size=size,
                                             max_size=size)),
        known_items=data.draw(st.sampled_from([{}, {0: "title"}])),
    )  # fmt: skip
    tuning = Tuning(
        alpha=data.draw(eighths),
        hotness_weight=data.draw(st.sampled_from([0.0, 0.5])),
        gate=data.draw(st.sampled_from(["soft", "hard"])),
    )
    ranking, limit = rank(found, tuning), data.draw(st.integers(1, 8))
    if ranking.search_mode == "flat":
        return
    for change, expected in zip(
        next_changes(ranking, limit), exact_changes(ranking, limit), strict=True
    ):
        assert (change is None) == (expected is None)
        assert change is None or expected is None or abs(change - float(expected)) < 1e-12


thousandths = st.integers(0, 1024).map(lambda number: number / 1024)


def crossings_exactly(found: Evidence, ranking: Ranking) -> list[Fraction]:
    """Return every alpha within 0..1 at which two lines cross, and both ends."""
    h = Fraction(ranking.frecency_weight)
    ends = [
        tuple((1 - h) * Fraction(score) + h * Fraction(opened) for score in (parent, document))
        for parent, document, opened in zip(
            ranking.parent_entity_score, ranking.doc_relevance, found.frecency, strict=True
        )
    ]
    alphas = {Fraction(0), Fraction(1)}
    for one, other in combinations(ends, 2):
        leads = one[0] - other[0], one[1] - other[1]
        if leads[0] != leads[1]:
            alphas.add(leads[0] / (leads[0] - leads[1]))
    return sorted(alpha for alpha in alphas if 0 <= alpha <= 1)


def assert_points_are_where_the_order_changes(found: Evidence, tuning: Tuning, limit: int) -> None:
    ranking = rank(found, tuning)
    alphas = crossings_exactly(found, ranking)
    orders = [
        exact_order(ranking, (one + other) / 2, limit) for one, other in pairwise(alphas)
    ]  # between two crossings
    expected = [
        alpha
        for number, alpha in enumerate(alphas[1:-1], 1)
        if orders[number - 1] != orders[number]
    ]
    if orders[0] != exact_order(ranking, Fraction(0), limit):
        expected.insert(0, Fraction(0))
    if orders[-1] != exact_order(ranking, Fraction(1), limit):
        expected.append(Fraction(1))
    assert swap_points(ranking, limit) == pytest.approx([float(alpha) for alpha in expected])


@settings(max_examples=60)
@given(st.data(), st.sampled_from([eighths, thousandths]))
def test_order_changes_at_each_swap_point_and_nowhere_else(
    data: st.DataObject, scores: st.SearchStrategy[float]
) -> None:
    size = data.draw(st.integers(1, 7))
    column = st.lists(scores, min_size=size, max_size=size)
    found = lines(
        data.draw(column), data.draw(column), frecency=data.draw(st.none() | column),
        known_items=data.draw(st.sampled_from([{}, {0: "title"}])),
    )  # fmt: skip
    tuning = Tuning(
        alpha=data.draw(scores),
        hotness_weight=data.draw(st.sampled_from([0.0, 0.5])),
        gate=data.draw(st.sampled_from(["soft", "hard"])),
    )
    if rank(found, tuning).search_mode == "two_pass":
        assert_points_are_where_the_order_changes(found, tuning, data.draw(st.integers(1, 8)))


def test_swap_points_closer_than_half_a_hundredth_are_all_found() -> None:
    found = lines([0.25, 0.75, 0.742, 0.734], [1.0, 0.5, 0.5, 0.5])
    points = swap_points(rank(found, Tuning()), 10)
    # the first meets each other one where .5 (1 - a) = (relevance - .25) a
    crossings = [0.5 / (0.5 + relevance - 0.25) for relevance in (0.75, 0.742, 0.734)]
    assert points == pytest.approx([0.0, *crossings][1:])
    assert crossings[1] - crossings[0] < 0.005


@given(some_evidence(), some_tuning(), st.integers(1, 14))
def test_nothing_moves_between_two_swap_points(found: Evidence, tuning: Tuning, limit: int) -> None:
    points = swap_points(rank(found, tuning), limit)
    for before, after in pairwise((0.0, *points, 1.0)):
        if after - before > 1e-6:
            inside = [before + (after - before) * share for share in (0.01, 0.5, 0.99)]
            orders = [rank(found, replace(tuning, alpha=at)).best(limit).tolist() for at in inside]
            assert orders[0] == orders[1] == orders[2]


@given(some_evidence(), some_tuning(), unit)
def test_scores_on_the_lines_are_those_of_rank(
    found: Evidence, tuning: Tuning, alpha: float
) -> None:
    lines, ranking = ScoreLines.of(rank(found, tuning)), rank(found, replace(tuning, alpha=alpha))
    final = lines.final(np.array([alpha]))[0]
    is_result = ranking.included[lines.rows]
    assert ranking.included.sum() == is_result.sum()
    assert (final[is_result] == ranking.final[lines.rows][is_result]).all()
    assert (final[~is_result] < 0.0).all()


def test_few_of_many_documents_may_be_among_the_best() -> None:
    generator = np.random.default_rng(5)
    size = 4000
    linked = {row: float(generator.random()) for row in range(0, size, 3)}
    found = evidence(
        components((generator.random(size) * 30).tolist(), generator.random(size).tolist()),
        entities=[(entity(1, 1.0, named=True), linked)],
    )
    ranking = rank(found, Tuning())
    lines, alphas = ScoreLines.of(ranking, 10), np.linspace(0.0, 1.0, 101)
    assert len(lines) < 200
    assert (lines.best(alphas, 10) == ScoreLines.of(ranking).best(alphas, 10)).all()
    assert [len(ranking.best(limit)) for limit in (-1, 0, 1, size)] == [0, 0, 1, size]
