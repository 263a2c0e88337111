"""What a query is searched for, and whom alone it asks for."""

from __future__ import annotations

import pytest

from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_index import NameIndex
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
INDEX = NameIndex(ENTITIES)


def named(query: str) -> NamedQuery:
    return NamedQuery.of(query, INDEX.find(query), ENTITIES)


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("what did Ada Stone say about the tide?", "what did say about the tide?"),
        ("Harbour Crew's plan for the tide", "plan for the tide"),
        ("the tide at Night Ferry", "the tide at Night Ferry"),  # a project is what is asked about
        ("what did Ada Stone say?", "what did Ada Stone say?"),  # nothing would be left
        ("the  tide ", "the  tide "),
        ("", ""),
    ],
)
def test_names_of_people_and_teams_are_taken_out(query: str, left: str) -> None:
    assert named(query).document_query == left


def test_wordings_are_told_once() -> None:
    assert named("the tide").wordings == ["the tide"]
    assert named("Ada Stone on the tide").wordings == ["Ada Stone on the tide", "on the tide"]
    assert named("Ada Stone on Night Ferry").names_left == ["Night Ferry"]


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
def test_a_query_has_a_subject(query: str, subject: str) -> None:
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
        ("Adda Stone", []),  # may be another
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
def test_a_query_may_ask_for_one_and_nothing_else(query: str, entities: list[int]) -> None:
    assert list(named(query).asked_for) == entities
