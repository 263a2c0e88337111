"""Names that the base has taught open the second pass of the demo, in capitals or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.functional.vaults import write_vault

ALICE = "memory/people/alice-chen.md"


@pytest.mark.parametrize(
    ("query", "entity"),
    [
        ("achen rollbacks", "person:alice-chen"),
        ("Dvořák rollbacks", "person:marek-dvorak"),
        ("Okafor rehearsal", "person:bob-okafor"),
        ("Castellane complaints", "person:ruth-castellane"),
        ("Grace migration rehearsal", "person:grace-tully"),
    ],
)
def test_name_opens_the_second_pass_as_typed_and_in_small_letters(
    demo_kb_path: Path, query: str, entity: str
) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        for text in (query, query.lower()):
            meta = kb.search(text).meta
            assert meta.search_mode == "two_pass"
            assert entity in [found.id for found in meta.pass1_entities if found.score >= 0.5]


def test_topic_opens_no_second_pass_in_either_case(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        for text in ("How Do Rollbacks Work", "how do rollbacks work"):
            assert kb.search(text).meta.search_mode == "flat"


def test_misspelled_full_name_asks_for_the_page(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        for text in ("Alcie Chen", "alcie chen"):
            first = kb.search(text).results[0]
            assert (first.path, first.score) == (ALICE, 1.0)


def test_project_that_no_document_is_linked_to_is_a_topic_beside_the_name_of_a_person(
    tmp_path: Path,
) -> None:
    files = {
        f"memory/{kind}/{name.lower().replace(' ', '-')}.md": f"---\nname: {name}\n---\n# {name}\n"
        for kind, name in [("people", "Ada Stone"), ("projects", "Random")]
    }
    for number, who in enumerate(("Ada Stone", "Ben Vale", "Eva Moss")):
        text = "A random number, and another random number." if number else "How random it is."
        files[f"memory/notes/{number}.md"] = f"# Draw {number}\n\n{text} By {who}.\n"
    with KnowledgeBase(write_vault(tmp_path / "base", files)) as kb:
        kb.index()
        response = kb.search("Ada Stone's work on random", explain=True, doc_types=("note",))
        assert response.results[0].path == "memory/notes/0.md"
        assert [entity["name"] for entity in (response.results[0].explain or {})["entities"]] == [
            "Ada Stone"
        ]
        assert kb.search("random", limit=1).results[0].path == "memory/projects/random.md"
        meta = kb.search("status of Random").meta  # the name of nobody else is in the query
        assert [(entity.name, entity.score) for entity in meta.pass1_entities] == [("Random", 1.0)]
