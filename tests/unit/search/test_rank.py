"""Laws of ranking, and when a ranking is flat."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.explain import compare, explain
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Parent, Tuning
from kbx_tui.search.why_not import narrowed
from tests.unit.search.building import (
    components,
    entity,
    evidence,
    only_pinned,
    some_evidence,
    some_tuning,
    unit,
)

TWO_DOCUMENTS = components([5.0, 15.0], [0.5, 0.5])


@given(some_evidence(), some_tuning())
def test_scores_are_within_0_and_1_and_results_in_descending_order(
    found: Evidence, tuning: Tuning
) -> None:
    ranking = rank(found, tuning)
    assert np.all((ranking.final >= 0.0) & (ranking.final <= 1.0 + 1e-12))
    top = ranking.top(len(found) + 1)
    scores = [ranked.score for ranked in top]
    assert scores == sorted(scores, reverse=True)
    assert len({ranked.row for ranked in top}) == len(top) == int(ranking.included.sum())
    for limit in (1, 2, 5):
        assert [ranked.row for ranked in ranking.top(limit)] == list(ranking.order[:limit])
    ranks = [ranked.rank for ranked in top if ranked.known_item]
    assert ranks == list(range(1, len(found.known_items) + 1))  # known items come first
    assert (ranking.search_mode == "flat") == (ranking.kept == ())
    assert (ranking.search_mode_reason == "entities") == (ranking.search_mode == "two_pass")


@given(some_evidence(), some_tuning())
def test_ranking_is_deterministic_and_leaves_evidence_unchanged(
    found: Evidence, tuning: Tuning
) -> None:
    before = found.as_typed.doc_relevance.copy(), found.as_searched.doc_relevance.copy()
    first, second = rank(found, tuning), rank(found, tuning)
    np.testing.assert_array_equal(first.final, second.final)
    np.testing.assert_array_equal(first.order, second.order)
    np.testing.assert_array_equal(before[0], found.as_typed.doc_relevance)
    np.testing.assert_array_equal(before[1], found.as_searched.doc_relevance)


@given(some_evidence(), some_tuning())
def test_parts_of_a_result_sum_to_its_score(found: Evidence, tuning: Tuning) -> None:
    ranking = rank(found, tuning)
    for ranked in ranking.top(len(found)):
        why = explain(ranking, ranked)
        if not ranked.known_item:
            parts = ranked.document_part + ranked.entity_part + ranked.frecency_part
            assert parts == pytest.approx(ranked.score)
        document = why.lexical_part + why.vector_part + why.propagated + why.date_part
        assert document == pytest.approx(ranked.answered)
        assert why.propagated_from or why.propagated == 0.0
        if why.two_pass:
            shares = sum(share.share for share in why.entities)
            assert shares == pytest.approx(ranked.parent_entity_score)


@given(some_evidence(), some_tuning())
def test_hard_gate_keeps_only_linked_documents_and_known_items(
    found: Evidence, tuning: Tuning
) -> None:
    ranking = rank(found, replace(tuning, gate="hard"))
    if ranking.search_mode == "two_pass":
        linked = {int(row) for i in ranking.kept for row in found.links[i].rows}
        assert {ranked.row for ranked in ranking.top(len(found))} <= linked | set(found.known_items)


def test_alpha_weighs_document_against_entity() -> None:
    found = evidence(TWO_DOCUMENTS, entities=[(entity(0, 1.0, named=True), {0: 1.0})])
    assert [ranked.row for ranked in rank(found, Tuning(alpha=0.0)).top(2)] == [0]
    assert [ranked.row for ranked in rank(found, Tuning(alpha=0.5)).top(2)] == [0, 1]
    assert [ranked.row for ranked in rank(found, Tuning(alpha=1.0)).top(2)] == [1, 0]


def test_two_pass_uses_the_query_without_names_and_flat_the_typed_one() -> None:
    searched = components([0.0, 45.0], [0.0, 0.0], "stripped")
    found = evidence(TWO_DOCUMENTS, searched, [(entity(0, 1.0, named=True), {0: 1.0})])
    assert rank(found, Tuning()).doc_relevance[1] == pytest.approx(0.7 * 45 / (45 + 15))
    assert rank(found, Tuning(keep_names=True)).components is found.as_typed
    assert rank(found, Tuning(hierarchy=False)).components is found.as_typed


def test_coverage_prefers_documents_linked_to_all_named_entities() -> None:
    found = evidence(
        TWO_DOCUMENTS,
        entities=[
            (entity(0, 1.0, named=True), {0: 1.0, 1: 1.0}),
            (entity(1, 1.0, named=True), {1: 0.8}),
        ],
    )
    assert list(rank(found, Tuning()).parent_entity_score) == [0.5, pytest.approx(0.9)]
    assert list(rank(found, Tuning(parent="max")).parent_entity_score) == [1.0, 1.0]


def test_other_entities_count_only_if_none_is_named_outright() -> None:
    found = evidence(
        TWO_DOCUMENTS,
        entities=[(entity(0, 1.0, named=True), {0: 1.0}), (entity(1, 0.8), {1: 1.0})],
    )
    assert list(rank(found, Tuning()).parent_entity_score) == [1.0, 0.0]
    without = rank(found, Tuning(muted=frozenset({"person:e0"})))
    assert list(without.parent_entity_score) == [0.0, pytest.approx(0.8)]


@pytest.mark.parametrize(
    ("scores", "tuning", "reason"),
    [
        ([], Tuning(), "no_entities"),
        ([0.4], Tuning(), "below_threshold"),
        ([0.9, 0.89, 0.88, 0.87, 0.86], Tuning(), "too_broad"),
        ([0.9, 0.89, 0.88, 0.87], Tuning(), "entities"),
        ([1.0] * 5, Tuning(), "entities"),  # named, they are not too many
        ([0.9], Tuning(hierarchy=False), "disabled"),
        ([0.9], Tuning(muted=frozenset({"person:e0"})), "no_entities"),
    ],
)
def test_flat_ranking_says_why_it_is_flat(scores: list[float], tuning: Tuning, reason: str) -> None:
    found = [(entity(i, score, named=score == 1.0), {0: 1.0}) for i, score in enumerate(scores)]
    assert rank(evidence(TWO_DOCUMENTS, entities=found), tuning).search_mode_reason == reason


def test_a_ranking_is_flat_if_nothing_is_linked_or_the_evidence_fast() -> None:
    found = evidence(TWO_DOCUMENTS, entities=[(entity(0, 1.0, named=True), {})])
    assert rank(found, Tuning()).search_mode_reason == "nothing_linked"
    assert rank(evidence(TWO_DOCUMENTS, fast=True), Tuning()).search_mode_reason == "fast"


def test_equal_scores_are_ordered_by_newer_date_then_path() -> None:
    found = evidence(
        components([5.0] * 3, [0.0] * 3), dates=["2026-01-01", "2026-03-01", "2026-01-01"]
    )
    assert [ranked.row for ranked in rank(found, Tuning()).top(3)] == [1, 0, 2]


@pytest.mark.parametrize("field", ["alpha", "entity_threshold", "hotness_weight"])
@pytest.mark.parametrize("number", [-0.01, 1.01, float("nan")])
def test_knob_out_of_range_is_rejected_by_name(field: str, number: Any) -> None:
    with pytest.raises(OutOfRange, match=field):
        replace(Tuning(), **dict[str, Any]({field: number}))


@pytest.mark.parametrize("change", [{"gate": "open"}, {"parent": "mean"}, {"max_entities": 0}])
def test_unknown_choice_is_rejected(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        replace(Tuning(), **change)


WEAK = [(entity(number, 0.3), {number % 2: 0.5}) for number in range(6)]


def pinned(*numbers: int, **changes: Any) -> Tuning:
    ids = frozenset(f"person:e{number}" for number in numbers)
    return replace(Tuning(), pinned=ids, **changes)


def test_pinned_entity_is_kept_whatever_its_score_and_the_number_of_others() -> None:
    found = evidence(TWO_DOCUMENTS, entities=WEAK)
    assert rank(found, Tuning()).search_mode_reason == "below_threshold"
    assert rank(found, pinned(4)).kept == (4,)
    assert rank(found, replace(pinned(4), entity_threshold=0.2)).kept == (4, 0, 1, 2, 3)

    strong = [(entity(number, 0.9 - number / 100), {0: 1.0}) for number in range(4)]
    found = evidence(TWO_DOCUMENTS, entities=strong)
    assert rank(found, pinned(2, 3, max_entities=1)).kept == (2, 3)
    assert rank(found, pinned(3, max_entities=2)).kept == (3, 0)


def test_pinned_entity_counts_as_named_outright() -> None:
    weak = [(entity(0, 1.0, named=True), {0: 1.0}), (entity(1, 0.2), {1: 0.8})]
    named = [(entity(0, 1.0, named=True), {0: 1.0}), (entity(1, 1.0, named=True), {1: 0.8})]
    choices: tuple[Parent, ...] = ("coverage", "max")
    for parent in choices:
        by_hand = rank(evidence(TWO_DOCUMENTS, entities=weak), pinned(1, parent=parent))
        by_name = rank(evidence(TWO_DOCUMENTS, entities=named), Tuning(parent=parent))
        np.testing.assert_array_equal(by_hand.parent_entity_score, by_name.parent_entity_score)
        assert (by_hand.kept, by_hand.counted) == (by_name.kept, by_name.counted)
        assert by_hand.entity_score(1) == 1.0


def test_muting_wins_over_pinning_and_pinning_what_is_missing_changes_nothing() -> None:
    found = evidence(TWO_DOCUMENTS, entities=[(entity(0, 1.0, named=True), {0: 1.0})])
    tuning = pinned(0, muted=frozenset({"person:e0"}))
    assert rank(found, tuning).search_mode_reason == "no_entities"

    found = evidence(TWO_DOCUMENTS, entities=[(entity(0, 0.9), {0: 1.0})])
    assert rank(found, pinned(99)).final.tolist() == rank(found, Tuning()).final.tolist()


def test_entity_that_pass_1_did_not_find_counts_only_while_pinned() -> None:
    others = [(entity(number, 0.9 - number / 20), {0: 1.0}) for number in range(4)]
    found = evidence(TWO_DOCUMENTS, entities=[*others, (only_pinned(7), {1: 1.0})])
    assert rank(found, pinned(7)).kept == (4, 0, 1, 2, 3)
    for threshold in (0.0, 0.5):
        without = rank(found, Tuning(entity_threshold=threshold, max_entities=20))
        assert without.kept == (0, 1, 2, 3)


@given(some_evidence(), some_tuning(), unit)
def test_ranking_at_another_alpha_equals_ranking_again(
    found: Evidence, tuning: Tuning, alpha: float
) -> None:
    moved, again = rank(found, tuning).at(alpha), rank(found, replace(tuning, alpha=alpha))
    np.testing.assert_array_equal(moved.final, again.final)
    np.testing.assert_array_equal(moved.order, again.order)
    assert moved.tuning == again.tuning


def test_propagated_link_counts_only_if_the_document_is_relevant() -> None:
    found = evidence(
        components([5.0, 0.0, 0.0], [0.5, 0.0, 0.0]),
        entities=[(entity(0, 1.0, named=True), {0: 0.9, 1: 0.9, 2: 1.0})],
        propagated={0, 1},
    )
    ranking = rank(found, Tuning())
    assert ranking.parent_entity_score.tolist() == [0.9, 0.0, 1.0]
    assert ranking.order.tolist() == [0, 2]
    assert [explain(ranking, ranked).entities[0].link_strength for ranked in ranking.top(3)] == [
        0.9,
        1.0,
    ]


@given(some_evidence(), some_tuning(), some_tuning(), st.integers(1, 5))
def test_every_document_of_either_top_is_kept_lost_or_gained(
    found: Evidence, one: Tuning, other: Tuning, limit: int
) -> None:
    before, after = rank(found, one), rank(found, other)
    comparison = compare(before, after, limit)
    tops = [
        {found.paths[row] for row in ranking.best(limit).tolist()} for ranking in (before, after)
    ]
    assert {change.path for change in comparison.kept} == tops[0] & tops[1]
    assert {change.path for change in comparison.lost} == tops[0] - tops[1]
    assert {change.path for change in comparison.gained} == tops[1] - tops[0]
    for change in (*comparison.lost, *comparison.gained):
        assert change.reason
    assert all(change.distance for change in comparison.moved)


def test_reasons_name_the_part_that_changed_most() -> None:
    found = evidence(
        components([30.0, 3.0, 2.0], [0.9, 0.3, 0.3]),
        entities=[(entity(1, 1.0, named=True), {1: 1.0, 2: 0.9})],
    )
    by_document, by_entity = rank(found, Tuning(alpha=0.9)), rank(found, Tuning(alpha=0.1))
    comparison = compare(by_document, by_entity, 1)
    (lost,), (gained,) = comparison.lost, comparison.gained
    assert (lost.before, lost.after) == (1, 3)
    assert lost.reason.startswith("score .66 to .07: words -.")
    assert (gained.before, gained.after) == (2, 1)
    assert gained.reason.startswith("score .29 to .92: entity +.800")


def test_a_document_is_lost_by_the_hard_gate_a_filter_or_because_others_pass_it() -> None:
    found = evidence(
        components([30.0, 3.0], [0.9, 0.3]), entities=[(entity(1, 1.0, named=True), {1: 1.0})]
    )
    comparison = compare(rank(found, Tuning(alpha=0.9)), rank(found, Tuning(gate="hard")), 1)
    reason = "not linked to a kept entity, which the hard gate requires"
    assert [change.reason for change in comparison.lost] == [reason]

    found = evidence(components([9.0, 3.0], [0.9, 0.3]))
    before, after = rank(found, Tuning()), rank(narrowed(found, found.frecency > 1.0), Tuning())
    comparison = compare(before, after)
    assert [change.reason for change in comparison.lost] == ["left out by a filter"] * 2
    assert comparison.after == ()

    found = evidence(components([9.0, 9.5], [0.5, 0.5]), frecency=[1.0, 0.0])
    comparison = compare(rank(found, Tuning(hotness_weight=0.2)), rank(found, Tuning()), 1)
    assert comparison.lost[0].reason.startswith("score ")
    back = compare(rank(found, Tuning()), rank(found, Tuning(hotness_weight=0.2)), 1)
    assert back.lost[0].reason.startswith("score ")
