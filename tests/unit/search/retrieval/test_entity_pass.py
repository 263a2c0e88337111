"""Pass 1 finds people by their role."""

import numpy as np
import pytest

from kbx_tui.index.snapshot import LINK_KINDS, EntityLinks
from kbx_tui.knowledge.records import Entity, LinkKind
from kbx_tui.search.request import Tuning
from kbx_tui.search.retrieval.entity_pass import (
    ASKED_ROLE,
    PART_OF_ROLE,
    EntityPass,
    about_person,
    linked_documents,
)
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
        ("the head gardener on hedges", PART_OF_ROLE),
        ("who is the head gardener", ASKED_ROLE),
        ("who is the gardener", PART_OF_ROLE / 2),
    ],
)
def test_role_scores_by_how_much_of_it_the_query_contains(query: str, score: float) -> None:
    (candidate,) = EntityPass(SNAPSHOT).find(query, [], [], None)
    assert candidate.score == pytest.approx(score)


def test_role_opens_the_second_pass_only_if_it_is_asked_for() -> None:
    assert PART_OF_ROLE < Tuning().entity_threshold < ASKED_ROLE


Link = tuple[int, LinkKind, int]


def links(*links: Link) -> EntityLinks:
    return EntityLinks(
        np.array([row for row, _, _ in links]),
        np.array([LINK_KINDS.index(kind) for _, kind, _ in links], np.uint8),
        np.array([count for _, _, count in links], np.int32),
    )


def test_explicit_links_have_strength_1_and_others_grow_with_mentions_and_members() -> None:
    linked = linked_documents(links((0, "attendee", 1), (1, "title", 1), (2, "own_page", 1)))
    assert linked.strengths.tolist() == [1.0, 1.0, 1.0]

    linked = linked_documents(
        links(
            (0, "mention", 1),
            (1, "mention", 4),
            (2, "member", 1),
            (3, "member", 3),
            (4, "title", 1),
        )
    )
    mention, mentions, member, members, title = linked.strengths
    assert mention < mentions < member < members < title == 1.0
    assert linked.reasons[1:4] == ("4 mentions", "member", "3 members")


def test_links_of_a_person_who_is_only_mentioned_are_relative_to_the_strongest() -> None:
    some: Link = (0, "mention", 1)
    more: Link = (1, "mention", 4)
    absolute = linked_documents(links(some, more, (2, "title", 1))).strengths
    pages = np.array([2, 3], np.int32)
    of_person = links(some, more, (2, "own_page", 1), (3, "mention", 9))
    linked = linked_documents(of_person, pages, is_person=True)
    expected = [absolute[0] / absolute[1], 1.0, 1.0, 0.5]
    assert linked.strengths.tolist() == pytest.approx(expected)
    of_team = linked_documents(of_person, pages)
    assert of_team.strengths[:2].tolist() == pytest.approx(absolute[:2].tolist())


def test_page_of_another_entity_counts_less_if_only_its_frontmatter_names_the_entity() -> None:
    linked = linked_documents(
        links(
            (0, "frontmatter", 1),
            (1, "frontmatter", 1),
            (1, "mention", 1),
            (2, "mention", 9),
            (3, "own_page", 1),
            (4, "frontmatter", 1),
        ),
        np.arange(4),
    )
    in_frontmatter, in_text, often, own, note = linked.strengths
    assert 0.0 < in_frontmatter < in_text == often < own == note == 1.0


def test_document_concerns_an_attendee_more_if_listed_early_among_few() -> None:
    linked = linked_documents(
        links((0, "attendee", 1), (1, "attendee", 1), (2, "attendee", 1), (3, "mention", 50))
    )
    about = about_person(linked, [(1, 1), (1, 9), (5, 9), (0, 4)])
    alone, leading, among, mentioned = about.strengths
    assert alone == 1.0
    assert alone > leading > among > mentioned
    assert about.reasons == ("attendee 1 of 1", "attendee 1 of 9", "attendee 5 of 9", "50 mentions")
    assert about.rows.tolist() == linked.rows.tolist()
