"""Alpha is said to be idle only where it is."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.alpha import alpha_note
from kbx_tui.search.evidence import Evidence
from kbx_tui.search.ranking import rank
from kbx_tui.search.tuning import Tuning
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
