"""An entity card lists facts, open items and documents, newest first."""

from __future__ import annotations

from kbx_tui.knowledge.records import Fact, FactKind
from kbx_tui.search.browse import EntityDocument, make_card
from tests.unit.knowledge.building import person, team


def fact(
    text: str, date: str = "", line: int = 1, kind: FactKind = "fact", done: bool = False
) -> Fact:
    return Fact(line, "person:a", kind, text, date, "memory/people/a.md", line, "active", done, ())


def document(path: str, date: str) -> EntityDocument:
    return EntityDocument(path, path, date, "note", "mention", 0.6)


def test_facts_and_documents_are_newest_first_undated_last() -> None:
    card = make_card(
        person("A"),
        members=[],
        facts=[
            fact("undated", line=1), fact("old", "2025-01-01", 2),
            fact("new, above", "2026-01-01", 3), fact("new, below", "2026-01-01", 4),
        ],
        documents=[document("a", ""), document("b", "2025-01-01"), document("c", "2026-01-01")],
    )  # fmt: skip
    assert [fact.text for fact in card.facts] == ["new, above", "new, below", "old", "undated"]
    assert [document.path for document in card.documents] == ["c", "b", "a"]


def test_open_items_precede_done_ones() -> None:
    items = [
        fact("done", "2026-03-01", 1, "open_item", done=True),
        fact("first", "", 2, "open_item"),
        fact("second", "", 3, "open_item"),
        fact("dated", "2026-02-01", 4, "open_item"),
    ]
    card = make_card(person("A"), [], items, [])
    assert [item.text for item in card.open_items] == ["dated", "first", "second", "done"]
    assert card.facts == ()


def test_members_of_a_team_are_sorted_by_name() -> None:
    card = make_card(team("Platform"), [person("Bob"), person("Alice")], [], [])
    assert [(member.name, member.id) for member in card.members] == [
        ("Alice", "person:alice"), ("Bob", "person:bob"),
    ]  # fmt: skip
