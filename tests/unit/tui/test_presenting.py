"""From a ranking to the screen."""

from __future__ import annotations

from hypothesis import given

from kbx_tui.search.evidence import Evidence
from kbx_tui.search.ranking import rank
from kbx_tui.search.response import Snippet
from kbx_tui.search.tuning import Tuning
from kbx_tui.tui.presenting import present, present_snippet
from tests.unit.search.building import some_evidence, some_tuning


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
