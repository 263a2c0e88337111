"""Parts of a longer document propagate scores to the parts adjacent to them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.evidence.scores import (
    AFTER,
    NONE,
    Continuations,
    LinkedDocuments,
    ScoredDocuments,
    Scores,
)
from tests.unit.search.building import linked

SHARE = 0.75


def chain(size: int) -> Continuations:
    """Return documents each of which continues the one before."""
    rows = np.arange(size)
    after = np.where(rows + 1 < size, rows + 1, NONE)
    return Continuations(rows, np.stack((rows - 1, after)))


def all_in_scope(continuations: Continuations, size: int) -> ScoredDocuments:
    return ScoredDocuments.of(continuations, np.ones(size, np.bool_), np.arange(size))


def test_continuations_hold_the_parts_before_and_after() -> None:
    continuations = Continuations.of([(4, 2), (2, 7)])
    assert continuations.rows.tolist() == [2, 4, 7]
    assert continuations.adjacent.tolist() == [[4, NONE, 2], [7, 2, NONE]]
    assert not len(Continuations.of([]).rows)


def test_a_part_gains_a_share_of_its_distance_to_the_better_adjacent_part() -> None:
    documents = all_in_scope(chain(4), 4)
    scores, sides = documents.propagate(np.array([0.2, 0.6, 0.4, 0.8]), SHARE)
    np.testing.assert_allclose(scores, [0.5, 0.6, 0.7, 0.8])
    assert sides.tolist() == [AFTER, NONE, AFTER, NONE]

    scores, sides = all_in_scope(chain(2), 2).propagate(np.array([0.0, 0.8]), SHARE)
    assert scores.tolist() == [0.0, 0.8]
    assert sides.tolist() == [NONE, NONE]


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12), st.floats(0.0, 1.0))
def test_propagation_lowers_no_score_and_raises_none_above_the_adjacent_part(
    own: list[float], share: float
) -> None:
    before: Scores = np.array(own)
    after, sides = all_in_scope(chain(len(own)), len(own)).propagate(before, share)
    assert (after >= before).all()
    for row in np.flatnonzero(sides != NONE).tolist():
        adjacent = row + (1 if sides[row] == AFTER else -1)
        assert after[row] <= before[adjacent] + 1e-12


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12),
    st.data(),
)
def test_scores_do_not_depend_on_the_scope(own: list[float], data: st.DataObject) -> None:
    size, scores = len(own), np.array(own)
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    rows = np.flatnonzero(flags)
    documents = ScoredDocuments.of(chain(size), flags, rows)
    unfiltered, _ = all_in_scope(chain(size), size).propagate(scores, SHARE)
    filtered, _ = documents.propagate(scores[documents.rows], SHARE)
    assert filtered.tolist() == unfiltered[rows].tolist()
    for index in range(len(rows)):  # a single row needs only the positions for it
        positions = documents.positions_for(np.array([index]))
        partial = np.zeros(len(documents.rows))
        partial[positions] = scores[documents.rows][positions]
        assert documents.propagate(partial, SHARE)[0][index] == unfiltered[rows[index]]


def test_links_propagate_to_adjacent_parts() -> None:
    propagated = chain(4).propagate_links(linked({1: 1.0}), SHARE)
    assert propagated.rows.tolist() == [0, 1, 2]
    assert propagated.strengths.tolist() == [0.75, 1.0, 0.75]
    assert propagated.propagated is not None
    assert propagated.propagated.tolist() == [True, False, True]
    assert propagated.reasons == (
        "attendee in the part after",
        "attendee",
        "attendee in the part before",
    )


def test_reason_of_a_propagated_link_follows_that_of_a_weaker_own_link() -> None:
    own = linked({0: 1.0, 1: 0.6, 7: 0.9})
    mixed = LinkedDocuments(own.rows, own.strengths, ("attendee", "mention", "title"))
    propagated = chain(2).propagate_links(mixed, SHARE)
    np.testing.assert_allclose(propagated.strengths, [1.0, 0.9, 0.9])
    assert propagated.reasons == ("attendee", "mention, attendee in the part before", "title")


@pytest.mark.parametrize("share", [0.0, SHARE])
def test_links_are_unchanged_without_continuations_or_share(share: float) -> None:
    continuations = chain(3) if not share else chain(0)
    own = linked({1: 1.0})
    assert continuations.propagate_links(own, share) is own
