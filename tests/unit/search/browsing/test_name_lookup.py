"""Part of a title or path finds its document while the user types."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.search.name_lookup import DocumentNames, EntityNames
from tests.unit.knowledge.building import person, project, team
from tests.unit.search.snapshots import snapshot_of

DOCUMENTS = {
    "memory/meetings/2026/03/10/platform-sync.md": ("Platform sync", "2026-03-10"),
    "memory/notes/2026-01-30-rollback-plan.md": ("Rollback plan", "2026-01-30"),
    "memory/notes/100%_done.md": ("100% [done]", "2026-02-01"),
    "memory/notes/first-week.md": ("Onboarding", ""),
    "memory/people/o'neil.md": ("O'Neil", ""),
    "memory/projects/rollback.md": ("Rollback", "2025-12-01"),
}


def snapshot() -> Snapshot:
    paths = tuple(sorted(DOCUMENTS))
    return snapshot_of(
        paths,
        titles=tuple(DOCUMENTS[path][0] for path in paths),
        dates=tuple(DOCUMENTS[path][1] for path in paths),
    )


NAMES = DocumentNames(snapshot())


def found(text: str, limit: int = 20) -> list[str]:
    return [document.title for document in NAMES.find(text, limit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rollback", ["Rollback", "Rollback plan"]),
        ("roll pl", ["Rollback plan"]),
        ("sync plat", ["Platform sync"]),
        ("first week", ["Onboarding"]),
        ("memory/people/o'neil.md", ["O'Neil"]),
        ("100%_", ["100% [done]"]),
        ("rolback plan", ["Rollback plan"]),
        ("zzzz", []),
        ("%", []),
    ],
)
def test_best_match_comes_first(text: str, expected: list[str]) -> None:
    assert found(text) == expected


def test_without_text_the_newest_come_first_and_undated_ones_last() -> None:
    assert found(" ") == [
        "Platform sync", "100% [done]", "Rollback plan", "Rollback", "Onboarding", "O'Neil",
    ]  # fmt: skip


@given(st.text(max_size=40), st.integers(1, 4))
def test_any_text_gives_distinct_documents_up_to_the_limit(text: str, limit: int) -> None:
    paths = [document.path for document in NAMES.find(text, limit)]
    assert len(paths) == len(set(paths)) <= limit
    assert set(paths) <= DOCUMENTS.keys()


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
NUMBERS_OF_DOCUMENTS = {"person:bob-okafor": 9, "team:platform": 5, "person:alan-turing": 2}
ENTITY_NAMES = EntityNames(ENTITIES, NUMBERS_OF_DOCUMENTS)


def found_entities(text: str, limit: int = 20) -> list[str]:
    return [entity.name for entity in ENTITY_NAMES.find(text, limit)]


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
def test_best_matching_entity_comes_first(text: str, expected: list[str]) -> None:
    assert found_entities(text) == expected


@pytest.mark.parametrize("text", ["", "  "])
def test_without_text_entities_are_sorted_by_documents_then_name(text: str) -> None:
    assert found_entities(text, 5) == [
        "Bob Okafor",
        "Platform",
        "Alan Turing",
        "Alice Chen",
        "Chen Alibaba",
    ]


def test_similar_spelling_matches_only_if_nothing_else_does() -> None:
    assert found_entities("alan") == ["Alan Turing"]


@given(st.sampled_from(ENTITIES), st.data())
def test_every_prefix_of_a_name_finds_its_entity(entity, data) -> None:  # type: ignore[no-untyped-def]
    text = entity.name[: data.draw(st.integers(1, len(entity.name)))]
    assert entity.name in found_entities(text)


@given(st.text(max_size=12), st.integers(1, 4))
def test_any_text_respects_the_limit(text: str, limit: int) -> None:
    names = found_entities(text, limit)
    assert len(names) <= limit
    assert len(set(names)) == len(names)
