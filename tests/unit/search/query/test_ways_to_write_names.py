"""Names that are written in other ways than in full: doubled, shared, abbreviated, misspelt."""

from __future__ import annotations

import pytest

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_matching import NameMatcher
from kbx_tui.search.query.named_query import AMBIGUOUS, HINT, NameMatch
from tests.unit.search.query.people import person

ENTITIES = (
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


NAMES = NameMatcher.of(ENTITIES, VOTES, texts_with=texts_with)


def found(query: str) -> dict[str, NameMatch]:
    return {ENTITIES[match.entity].name: match for match in NAMES.find(query)}


def named(query: str) -> set[str]:
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
    assert named(query) == {name}


@pytest.mark.parametrize(
    "query",
    [
        "what is the consensus on decorators",
        "automatic grading of programs",
        "i don't know if that is it",
        "what's an iterator",
        "there’s an alternative",
        "follow-up to the outage",
        "what did the api change",
        "api's for decorators",
        "what is kg",
        "COKO III plays chess",
        "Jean-Yves Tremblay said no",
        "platforms rollback",
        "rich errors",
        "ehrenburg decorators",
        "what did scherer say about fees",
        "migraton rehearsal",
    ],
)
def test_words_that_only_resemble_names_name_nobody(query: str) -> None:
    assert not named(query)


def test_first_name_of_one_and_surname_of_another_may_mean_both() -> None:
    matches = found("What did David say about fees?")

    assert {name: match.signal.kind for name, match in matches.items()} == {
        "David Rees": "first_name",
        "Hefin David": "surname",
    }
    assert {(m.signal.score, m.named) for m in matches.values()} == {(AMBIGUOUS, False)}


def test_doubtful_name_beside_a_certain_one_is_one() -> None:
    assert found("Trudeau deficit")["Justin Trudeau"].signal.score == HINT

    assert named("Trudeau and Scheer on the deficit") == {"Justin Trudeau", "Andrew Scheer"}
    assert named("kg, scheer on fees") == {"Kevin Gibbons", "Andrew Scheer"}


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
