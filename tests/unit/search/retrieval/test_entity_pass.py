"""Pass 1 finds people by their role."""

from __future__ import annotations

import pytest

from kbx_tui.knowledge.records import Entity
from kbx_tui.search.request import Tuning
from kbx_tui.search.retrieval.entity_pass import ASKED_ROLE, PART_OF_ROLE, WHOLE_ROLE, EntityPass
from tests.unit.search.snapshots import snapshot_of

BJORN = Entity("person:bjorn", "Björn Ek", "person", "people/bjorn.md", role="Beekeeper")
TESSA = Entity("person:tessa", "Tessa Moor", "person", "people/tessa.md", role="Head Gardener")
SNAPSHOT = snapshot_of((), (BJORN, TESSA), titles=())


@pytest.mark.parametrize(
    ("query", "score"),
    [
        ("who is the beekeeper?", ASKED_ROLE),
        ("Who are our beekeepers", ASKED_ROLE),
        ("who's our beekeeper", ASKED_ROLE),
        ("beekeeper", PART_OF_ROLE),
        ("who is beekeeping", PART_OF_ROLE),
        ("who beekeeper", PART_OF_ROLE),
        ("who fed the bees of the beekeeper", PART_OF_ROLE),
        ("the head gardener on hedges", WHOLE_ROLE),
        ("who is the head gardener", ASKED_ROLE),
        ("who is the gardener", PART_OF_ROLE / 2),
    ],
)
def test_role_scores_by_how_much_of_it_the_query_contains(query: str, score: float) -> None:
    (candidate,) = EntityPass(SNAPSHOT).find(query, [], [], None)
    assert candidate.score == pytest.approx(score)


def test_role_opens_the_second_pass_only_if_it_is_asked_for() -> None:
    assert WHOLE_ROLE < Tuning().entity_threshold < ASKED_ROLE
