"""Two settings side by side: kept, lost and gained documents, each with its ranks and a reason."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.explain import compare
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from kbx_tui.search.why_not import narrowed
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning


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


def test_a_document_that_the_hard_gate_removes_is_lost_for_that_reason() -> None:
    found = evidence(
        components([30.0, 3.0], [0.9, 0.3]), entities=[(entity(1, 1.0, named=True), {1: 1.0})]
    )
    comparison = compare(rank(found, Tuning(alpha=0.9)), rank(found, Tuning(gate="hard")), 1)
    reason = "not linked to a kept entity, which the hard gate requires"
    assert [change.reason for change in comparison.lost] == [reason]


def test_a_document_left_out_by_a_filter_is_lost_for_that_reason() -> None:
    found = evidence(components([9.0, 3.0], [0.9, 0.3]))
    before, after = rank(found, Tuning()), rank(narrowed(found, found.frecency > 1.0), Tuning())
    comparison = compare(before, after)
    assert [change.reason for change in comparison.lost] == ["left out by a filter"] * 2
    assert comparison.after == ()


def test_documents_that_others_pass_are_lost_without_falling() -> None:
    found = evidence(components([9.0, 9.5], [0.5, 0.5]), frecency=[1.0, 0.0])
    comparison = compare(rank(found, Tuning(hotness_weight=0.2)), rank(found, Tuning()), 1)
    assert comparison.lost[0].reason.startswith("score ")
    back = compare(rank(found, Tuning()), rank(found, Tuning(hotness_weight=0.2)), 1)
    assert back.lost[0].reason.startswith("score ")
