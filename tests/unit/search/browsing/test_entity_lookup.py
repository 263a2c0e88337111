"""Part of a name finds its entity while the user types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.name_lookup import EntityNames
from tests.unit.knowledge.building import person, project, team

ENTITIES = [
    person("Alice Chen", "Ace"),
    person("Alan Turing"),
    person("Bob Okafor"),
    person("Chen Alibaba"),
    person("Jérôme Côté"),
    project("Migration", "Project Ace", "cut over"),
    team("Platform"),
    team("Platform Operations"),
    person("東 京子"),
]
DOCUMENTS = {"person:bob-okafor": 9, "team:platform": 5, "person:alan-turing": 2}
NAMES = EntityNames(ENTITIES, DOCUMENTS)


def found(text: str, limit: int = 20) -> list[str]:
    return [entity.name for entity in NAMES.find(text, limit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("al", ["Alan Turing", "Alice Chen", "Chen Alibaba"]),
        ("alice chen", ["Alice Chen"]),
        ("chen al", ["Chen Alibaba", "Alice Chen"]),
        ("che", ["Chen Alibaba", "Alice Chen"]),
        ("ace", ["Alice Chen", "Migration"]),
        ("platform", ["Platform", "Platform Operations"]),
        ("ops", []),
        ("ration", ["Migration", "Platform Operations"]),
        ("jerome", ["Jérôme Côté"]),
        ("cote j", ["Jérôme Côté"]),
        ("CUT-OVER", ["Migration"]),
        ("person:bob-okafor", ["Bob Okafor"]),
        ("京", ["東 京子"]),
        ("Alise Chen", ["Alice Chen"]),
        ("okafur", ["Bob Okafor"]),
        ("zzzz", []),
        ("?", []),
    ],
)
def test_best_match_comes_first(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize("text", ["", "  "])
def test_without_text_entities_are_sorted_by_documents_then_name(text: str) -> None:
    assert found(text, 5) == ["Bob Okafor", "Platform", "Alan Turing", "Alice Chen", "Chen Alibaba"]


def test_similar_spelling_matches_only_if_nothing_else_does() -> None:
    assert found("alan") == ["Alan Turing"]


@given(st.sampled_from(ENTITIES), st.data())
def test_every_prefix_of_a_name_finds_its_entity(entity, data) -> None:  # type: ignore[no-untyped-def]
    text = entity.name[: data.draw(st.integers(1, len(entity.name)))]
    assert entity.name in found(text)


@given(st.text(max_size=12), st.integers(1, 4))
def test_any_text_respects_the_limit(text: str, limit: int) -> None:
    names = found(text, limit)
    assert len(names) <= limit
    assert len(set(names)) == len(names)
