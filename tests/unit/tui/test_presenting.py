"""From a ranking to the screen."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence import Evidence
from kbx_tui.search.ranking import rank
from kbx_tui.search.response import Snippet
from kbx_tui.search.tuning import Tuning
from kbx_tui.tui.presenting import alpha_note, present, present_snippet
from tests.unit.search.building import components, entity, evidence, some_evidence, some_tuning

unit = st.floats(0.0, 1.0)


@given(some_evidence(), some_tuning(), st.lists(unit, min_size=1, max_size=4))
def test_alpha_is_said_to_have_no_effect_only_when_it_has_none(
    found: Evidence, tuning: Tuning, alphas: list[float]
) -> None:
    tuning = replace(tuning, hotness_weight=0.0)
    if alpha_note(rank(found, tuning)):
        orders = [rank(found, replace(tuning, alpha=alpha)).order.tolist() for alpha in alphas]
        assert all(order == orders[0] for order in orders)


def test_a_note_says_that_equal_links_leave_alpha_without_effect() -> None:
    found = evidence(
        components([3.0, 2.0], [0.5, 0.4]),
        entities=[(entity(1, 1.0, named=True), {0: 1.0, 1: 1.0})],
    )
    note = alpha_note(rank(found, Tuning()))
    assert note == "alpha has no effect: all results are linked equally"


def test_a_note_says_that_a_flat_search_knows_no_alpha() -> None:
    assert "flat" in alpha_note(rank(evidence(components([3.0], [0.5])), Tuning()))


def test_there_is_no_note_when_alpha_can_swap_results() -> None:
    found = evidence(
        components([9.0, 1.0], [0.9, 0.1]),
        entities=[(entity(1, 1.0, named=True), {0: 0.5, 1: 1.0})],
    )
    assert alpha_note(rank(found, Tuning())) == ""


@given(some_evidence(), some_tuning())
def test_parts_of_a_row_sum_to_its_score_unless_it_is_exact(
    found: Evidence, tuning: Tuning
) -> None:
    ranking = rank(found, tuning)
    for row in present(ranking).results:
        hot = tuning.hotness_weight * float(found.hotness[row.row])
        if not row.exact:
            assert abs(row.document_part + row.entity_part + hot - row.score) < 1e-9


def test_spans_of_a_snippet_move_with_what_is_taken_out() -> None:
    shown = present_snippet(
        Snippet(
            "a \x1b[31mred\x1b[0m migration\x07!", ((15, 24),), "h\x1b[1m", 3, 4, (("x\x07", 2),)
        )
    )
    ((start, end),) = shown.matches
    assert shown.text[start:end] == "migration"
    assert "\x1b" not in shown.text + shown.heading
