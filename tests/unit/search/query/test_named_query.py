"""The query of pass 2, and the entity whose name is the whole query."""

from __future__ import annotations

import pytest

from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_matching import NameMatcher
from kbx_tui.search.query.named_query import NamedQuery

ENTITIES = (
    Entity("person:ada-stone", "Ada Stone", "person", "memory/people/ada-stone.md"),
    Entity("person:ben-vale", "Ben Vale", "person", "memory/people/ben-vale.md", aliases=("BV",)),
    Entity("team:harbour", "Harbour Crew", "team", "memory/teams/harbour.md"),
    Entity("project:ferry", "Night Ferry", "project", "memory/projects/ferry.md"),
    Entity("person:will-hunt", "Will Hunt", "person", "memory/people/will-hunt.md"),
    Entity("person:sam-low", "Sam Low", "person", "memory/people/sam-low.md"),
    Entity("person:sam-dry", "Sam Dry", "person", "memory/people/sam-dry.md"),
)
NAMES = NameMatcher.of(ENTITIES)


def named(query: str) -> NamedQuery:
    return NamedQuery.of(query, NAMES.find(query), ENTITIES, {"boats", "harbour"}.__contains__)


@pytest.mark.parametrize(
    ("query", "document_query"),
    [
        ("what did Ada Stone say about the tide?", "what did say about the tide?"),
        ("Harbour Crew's plan for the tide", "plan for the tide"),
        ("the tide at Night Ferry", "the tide at Night Ferry"),  # projects stay
        ("what did Ada Stone say?", "what did Ada Stone say?"),  # no topic would be left
        ("the  tide ", "the  tide "),
        ("", ""),
    ],
)
def test_names_of_people_and_teams_are_removed(query: str, document_query: str) -> None:
    assert named(query).document_query == document_query


def test_equal_variants_are_listed_once() -> None:
    assert named("the tide").variants == ["the tide"]
    assert named("Ada Stone on the tide").variants == ["Ada Stone on the tide", "on the tide"]


def test_people_and_teams_do_not_count_as_named_things() -> None:
    assert named("Ada Stone on Night Ferry").things
    assert not named("Ada Stone on the tide").things


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("who is Ada Stone?", "Ada Stone"),
        ("What's INC-17: the leak?", "INC-17: the leak"),
        ("tell me about", "tell me about"),
        ("the tide", "tide"),
        ("", ""),
    ],
)
def test_subject_is_the_query_without_its_phrasing(query: str, subject: str) -> None:
    assert named(query).subject == subject


@pytest.mark.parametrize(
    ("query", "entities"),
    [
        ("Ada", [0]),
        ("ada stone", [0]),
        ("who is Ada Stone?", [0]),
        ("Who's Ada?", [0]),
        ("tell me about BV", [1]),
        ("what is Night Ferry", [3]),
        ("Harbour Crew team", [2]),
        ("Will", [4]),
        ("who is will?", [4]),
        ("who is Sam?", [5, 6]),
        ("who is the Harbour Crew team?", [2]),
        ("the Harbour Crew", [2]),
        ("team Harbour Crew", [2]),
        ("what is the night ferry?", [3]),
        ("“Ada Stone”,", [0]),
        ("Adda Stone", [0]),  # a misspelled name
        ("team of Harbour Crew", []),
        ("about will", []),
        ("what did Ada say?", []),
        ("Ada Stone and Ben Vale", []),
        ("Ada Stone tide", []),
        ("Ada Stone team", []),
        ("who is on duty", []),
        ("", []),
    ],
)
def test_entities_whose_name_is_the_whole_query(query: str, entities: list[int]) -> None:
    assert list(named(query).asked_for) == entities


@pytest.mark.parametrize(
    ("query", "names_only"),
    [
        ("Ada Stone", True),
        ("what did Ada Stone say?", True),
        ("what did Ada Stone present?", True),  # of everything she did
        ("what did Ada Stone and Ben Vale present?", True),
        ("what has Ada Stone decided?", True),
        ("what has Ada Stone painted?", True),
        ("everything about Ada Stone", True),
        ("meetings with Ada Stone", True),
        ("boats of Ada Stone", True),  # most documents hold the word
        ("boats of Ada Stone at night", False),
        ("what did Ada Stone paint at the harbour", True),
        ("what did Ada Stone paint at night", False),
        ("what did Ada Stone paint at night in the harbour", False),
        ("what did Ada Stone say about the tide", False),
        ("what did Ada Stone present in May", False),
        ("why did Ada Stone resign", False),
        ("what did Ada Stone say about Night Ferry", False),
        ("what did they present", False),
    ],
)
def test_query_that_names_people_and_asks_nothing_else_is_names_only(
    query: str, names_only: bool
) -> None:
    assert named(query).names_only == names_only


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("what did Ada Stone say about the tide", "what did say about the tide"),
        ("Ada Stone on Night Ferry and the tide", "on and the tide"),
        ("what did Ada Stone say about Night Ferry", ""),
        ("Night Ferry", ""),
    ],
)
def test_words_asked_are_what_the_names_leave(query: str, asked: str) -> None:
    assert named(query).words_asked == asked
