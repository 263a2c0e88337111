"""Parts of a document lend what they score to the parts beside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.continuations import AFTER, NONE, Parts, Reach
from kbx_tui.search.evidence.evidence import LinkedDocuments, Scores
from tests.unit.search.building import linked

SHARE = 0.75


def chain(size: int) -> Parts:
    """Every document goes on in the next."""
    rows = np.arange(size)
    after = np.where(rows + 1 < size, rows + 1, NONE)
    return Parts(rows, np.stack((rows - 1, after)))


def whole_base(parts: Parts, size: int) -> Reach:
    return Reach.of(parts, np.ones(size, np.bool_), np.arange(size))


def test_parts_know_the_ones_before_and_after_them() -> None:
    parts = Parts.of([(4, 2), (2, 7)])
    assert parts.rows.tolist() == [2, 4, 7]
    assert parts.beside.tolist() == [[4, NONE, 2], [7, 2, NONE]]
    assert not len(Parts.of([]).rows)


def test_a_part_is_lent_its_share_of_what_the_better_one_beside_it_has_more() -> None:
    reach = whole_base(chain(4), 4)
    scores, lenders = reach.lend(np.array([0.2, 0.6, 0.4, 0.8]), SHARE)
    np.testing.assert_allclose(scores, [0.5, 0.6, 0.7, 0.8])
    assert lenders.tolist() == [AFTER, NONE, AFTER, NONE]


def test_what_is_no_result_by_itself_is_lent_nothing() -> None:
    scores, lenders = whole_base(chain(2), 2).lend(np.array([0.0, 0.8]), SHARE)
    assert scores.tolist() == [0.0, 0.8]
    assert lenders.tolist() == [NONE, NONE]


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12), st.floats(0.0, 1.0))
def test_nothing_falls_and_nothing_passes_the_part_that_lent_to_it(
    own: list[float], share: float
) -> None:
    before: Scores = np.array(own)
    after, lenders = whole_base(chain(len(own)), len(own)).lend(before, share)
    assert (after >= before).all()
    for row in np.flatnonzero(lenders != NONE).tolist():
        by = row + (1 if lenders[row] == AFTER else -1)
        assert after[row] <= before[by] + 1e-12


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12),
    st.data(),
)
def test_a_score_does_not_depend_on_what_is_in_scope(own: list[float], data: st.DataObject) -> None:
    size, scores = len(own), np.array(own)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    rows = np.flatnonzero(flags)
    reach = Reach.of(chain(size), flags, rows)
    everything, _ = whole_base(chain(size), size).lend(scores, SHARE)
    found, _ = reach.lend(scores[reach.rows], SHARE)
    assert found.tolist() == everything[rows].tolist()
    for at in range(len(rows)):  # and a few alone need no others
        around = reach.around(np.array([at]))
        some = np.zeros(len(reach.rows))
        some[around] = scores[reach.rows][around]
        assert reach.lend(some, SHARE)[0][at] == everything[rows[at]]


def test_the_part_beside_one_of_a_person_is_hers_in_part() -> None:
    found = chain(4).lend_links(linked({1: 1.0}), SHARE)
    assert found.rows.tolist() == [0, 1, 2]
    assert found.strengths.tolist() == [0.75, 1.0, 0.75]
    assert found.lent is not None
    assert found.lent.tolist() == [True, False, True]
    assert found.reasons == (
        "attendee in the part after",
        "attendee",
        "attendee in the part before",
    )


def test_a_weaker_link_of_its_own_is_said_too() -> None:
    own = linked({0: 1.0, 1: 0.6, 7: 0.9})
    mixed = LinkedDocuments(own.rows, own.strengths, ("attendee", "mention", "title"))
    found = chain(2).lend_links(mixed, SHARE)
    np.testing.assert_allclose(found.strengths, [1.0, 0.9, 0.9])
    assert found.reasons == ("attendee", "mention, attendee in the part before", "title")


@pytest.mark.parametrize("share", [0.0, SHARE])
def test_without_parts_or_a_share_links_stay_as_they_are(share: float) -> None:
    parts = chain(3) if not share else chain(0)
    own = linked({1: 1.0})
    assert parts.lend_links(own, share) is own


def test_scores_in_scope_leave_out_the_parts_that_only_lend() -> None:
    some = Reach.of(chain(3), np.array([False, True, False]), np.array([1]))
    assert some.rows.tolist() == [0, 1, 2]
    assert some.scores_in_scope(np.array([0.1, 0.2, 0.3])).tolist() == [0.2]
    assert whole_base(chain(2), 2).scores_in_scope(np.array([0.1, 0.2])).tolist() == [0.1, 0.2]
