"""The query of pass 2, and the entity whose name is the whole query."""

import re

import pytest

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_matching import NameMatcher
from kbx_tui.search.query.query_terms import AMBIGUOUS, HINT, NamedQuery, NameMatch
from tests.unit.search.query.people import person

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
    return NamedQuery.of(query, NAMES.find(query), ENTITIES)


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
        ("Adda Stone", [0]),  # a misspelt name
        ("what does Ada want?", [0]),  # their own page holds what they want
        ("what does Ada do here?", [0]),
        ("what do the Harbour Crew work on", [2]),
        ("what is Ada Stone responsible for?", [0]),
        ("what's Ada in charge of", [0]),
        ("what is Ada in charge of at night", []),
        ("what does Ada do at low tide", []),
        ("what does Ada want from the tide?", []),
        ("what did Ada want?", []),  # a meeting may hold it
        ("where is Ada", [0]),
        ("is Ada on leave?", [0]),
        ("where is Ada on fees", []),
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
        ("what did Ada Stone paint at night", False),
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


WRITTEN = (
    person("Jean-Yves Duclos"),
    person("Jean Yip"),
    person("Seamus O'Regan"),
    person("Janet Finch-Saunders"),
    person("Kim Follow-up"),
    person("Hefin David"),
    person("David Rees"),
    person("Justin Trudeau"),
    person("Andrew Scheer"),
    person("Don Davies"),
    person("Seungmin An"),
    person("Kevin Gibbons", "KG"),
    person("Daniel Ehrenberg", "DE"),
    person("Andrew Paprocki", "API"),
    person("J. P. Strong III"),
    person("G. Radin"),
    person("James Snell", "jasnell"),
    person("Rich Trott", "rich", "trott"),
    Entity("team:consensys", "Consensys", "team", "memory/teams/consensys.md"),
    Entity("team:platform", "Platform", "team", "memory/teams/platform.md"),
    Entity("project:migration", "Migration", "project", "memory/projects/migration.md"),
)
VOTES = {
    "de": NameVotes(0.0, 20.0),
    "api": NameVotes(0.0, 16.0),
    "trudeau": NameVotes(2.0, 1.0),
    "scheer": NameVotes(10.0, 0.0),
    "duclos": NameVotes(9.0, 0.0),
    "david": NameVotes(28.0, 0.0),
    "strong": NameVotes(3.0, 0.0),
    "jasnell": NameVotes(0.0, 40.0),
    "rich": NameVotes(1.0, 40.0),
}
TEXTS = {
    "scherer": 1, "consensus": 900, "consensys": 4, "grading": 5,
    "duclos": 9, "scheer": 10, "bacon": 3, "budgets": 4, "distance": 30, "scheer distance": 3,
    "parliament": 8, "scheer parliament": 1, "scheer gibbons": 4, "yves duclos": 8,
    "scheer approve": 5,
}  # fmt: skip


def texts_with(word: str, following: str = "") -> int:
    return TEXTS.get(f"{word} {following}".strip(), 0)


WRITTEN_NAMES = NameMatcher.of(WRITTEN, VOTES, texts_with=texts_with)


def found(query: str) -> dict[str, NameMatch]:
    return {WRITTEN[match.entity].name: match for match in WRITTEN_NAMES.find(query)}


def names_named(query: str) -> set[str]:
    return {name for name, match in found(query).items() if match.named}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What did Jean-Yves say about procurement?", "Jean-Yves Duclos"),
        ("procurement jean-yves", "Jean-Yves Duclos"),
        ("O'Regan's plan for the energy sector", "Seamus O'Regan"),
        ("o’regan oil sands", "Seamus O'Regan"),
        ("finch-saunders looked-after children", "Janet Finch-Saunders"),
        ("Mr. David on fees", "Hefin David"),
        ("DE on decorators", "Daniel Ehrenberg"),
        ("DE's opinion of decorators", "Daniel Ehrenberg"),
        ("why did kg object to decorators", "Kevin Gibbons"),
        ("kg's view of decorators", "Kevin Gibbons"),
        ("decorators according to kg", "Kevin Gibbons"),
        ("strong matrices", "J. P. Strong III"),
        ("consensis on decorators", "Consensys"),
        ("jasnell http2", "James Snell"),
        ("what did ehrenburg say about decorators", "Daniel Ehrenberg"),
        ("decorators: Ehrenburg", "Daniel Ehrenberg"),
        ("what did platforms say about rollbacks", "Platform"),
        ("Scheer Bacon budgets", "Andrew Scheer"),  # documents hold Bacon, nobody is called so
        ("scheer parliament", "Andrew Scheer"),
    ],
)
def test_names_are_found_however_they_are_written(query: str, name: str) -> None:
    assert names_named(query) == {name}


RESEMBLING = """
what is the consensus on decorators | automatic grading of programs | i don't know if that is it |
what's an iterator | there’s an alternative | follow-up to the outage | what did the api change |
api's for decorators | what is kg | COKO III plays chess | Jean-Yves Tremblay said no |
platforms rollback | rich errors | ehrenburg decorators | what did scherer say about fees |
migraton rehearsal
"""


@pytest.mark.parametrize("query", re.split(r"\s+\|\s+", RESEMBLING.strip()))
def test_words_that_only_resemble_names_name_nobody(query: str) -> None:
    assert not names_named(query)


def test_first_name_of_one_and_surname_of_another_may_mean_both() -> None:
    matches = found("What did David say about fees?")

    assert {name: match.signal.kind for name, match in matches.items()} == {
        "David Rees": "first_name",
        "Hefin David": "surname",
    }
    assert {(m.signal.score, m.named) for m in matches.values()} == {(AMBIGUOUS, False)}


def test_doubtful_name_beside_a_certain_one_is_one() -> None:
    assert found("Trudeau deficit")["Justin Trudeau"].signal.score == HINT

    assert names_named("Trudeau and Scheer on the deficit") == {
        "Justin Trudeau",
        "Andrew Scheer",
    }
    assert names_named("kg, scheer on fees") == {"Kevin Gibbons", "Andrew Scheer"}


@pytest.mark.parametrize("query", ["Scheer distance", "what is the scheer distance of budgets"])
def test_name_in_a_term_of_the_base_is_a_hint(query: str) -> None:
    assert found(query)["Andrew Scheer"].signal.score == HINT


@pytest.mark.parametrize("query", ["Scheer Whitlock budgets", "Scheer Duclos budgets"])
def test_capitalised_word_that_may_be_a_surname_makes_another_name(query: str) -> None:
    assert "Andrew Scheer" not in found(query)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("scheer gibbons on budgets", "Andrew Scheer"),  # side by side in lists of attendees
        ("yves duclos budgets", "Jean-Yves Duclos"),
        ("did scheer approve budgets", "Andrew Scheer"),
    ],
)
def test_name_beside_a_name_or_before_its_verb_is_in_no_term(query: str, name: str) -> None:
    assert found(query)[name].named


@pytest.mark.parametrize(
    ("query", "asks", "of"),
    [
        ("what has Ada Stone been up to", True, "Ada Stone"),
        ("What's new with the Night Ferry?", True, "Night Ferry"),
        ("Ada Stone recent work", True, "Ada Stone"),
        ("latest on the tide", True, ""),
        ("what is Ada Stone doing about the tide", True, ""),
        ("what is the new Night Ferry", False, ""),
        ("what did Ada Stone say recently", True, ""),
        ("last meeting with Ada Stone", True, ""),
        ("who is new in the Harbour Crew", False, ""),
        ("Ada Stone on the new tide", False, ""),
    ],
)
def test_a_question_may_ask_for_nothing_but_what_is_new(query: str, asks: bool, of: str) -> None:
    found = named(query)
    assert found.asks_for_news == asks
    assert [ENTITIES[index].name for index in found.news_of] == [of] * bool(of)


def test_how_news_are_asked_for_is_not_searched_for() -> None:
    assert named("what has Ada Stone been working on").document_query == "Ada Stone"
