"""Changes are listed with what they do to the other results, the smallest first."""

from __future__ import annotations

from hypothesis import given

from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from kbx_tui.search.why_not import change_effects, why_not
from tests.unit.search.comparing.test_why_not import some_case


@given(some_case())
def test_effects_are_those_of_the_changes_and_grow(case: tuple[Evidence, Tuning, int, int]) -> None:
    found, tuning, row, limit = case
    answer = why_not(rank(found, tuning), row, limit)
    effects = change_effects(answer)
    assert {effect.change.dimension for effect in effects} == {
        change.dimension for change in answer.changes
    }
    sizes = [effect.size for effect in effects]
    assert sizes == sorted(sizes)
    for effect in effects:
        assert answer.path in [change.path for change in effect.comparison.gained]
