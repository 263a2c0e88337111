"""An entity card lists facts, open items and documents, newest first."""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.knowledge.records import Fact, FactKind
from kbx_tui.search.browse import (
    BaseContents,
    EntityDocument,
    make_card,
    titles_about,
    topic_words_of,
)
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


def test_a_base_is_summed_up_by_its_most_frequent_types() -> None:
    kinds = {"note": 41, "person": 4, "meeting": 1, "company": 2, "glossary": 1}
    assert BaseContents(kinds, {"a": 1, "b": 2}, ()).summary == (
        "41 notes, 4 people, 1 meeting, 2 companies, 1 other document, 2 tags"
    )
    assert BaseContents({}, {}, ()).summary == ""


def test_queries_made_from_the_demo_find_something(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        contents = kb.contents()
        assert sum(contents.kinds.values()) == kb.status().documents
        assert len(contents.queries) == 3
        assert contents.queries[0].startswith("what did ")
        for query in contents.queries:
            assert kb.search(query, limit=1, fast=True).results


TITLES = ["Rye bread", "Bread oven", "Weekly list", "List of books", "Tide tables", "Ada Byron"]
OCCURRENCES = {"bread": (3, 9), "list": (5, 6), "tide": (2, 4), "tables": (2, 2), "byron": (2, 9)}


def topics(number: int = 3, names: tuple[str, ...] = ("Ada Byron",)) -> list[str]:
    return topic_words_of(TITLES, lambda word: OCCURRENCES.get(word, (1, 1)), names, number)


def test_topics_are_words_used_often_in_few_documents_but_no_names_or_requests() -> None:
    assert topics() == ["bread", "tide", "tables"]
    assert topics(1) == ["bread"]
    assert "byron" not in topics(9)
    assert "list" not in topics(9)  # `list` asks for something
    assert topics(1, names=()) == ["byron"]
    assert topic_words_of([], lambda word: (0, 0), (), 3) == []


@pytest.mark.parametrize(
    ("word", "asked"),
    [("bread", "Rye bread"), ("tide", "Tide tables"), ("oven", "oven"), ("gone", "gone")],
)
def test_a_topic_is_asked_for_by_its_shortest_title(word: str, asked: str) -> None:
    assert titles_about([word], [*TITLES[:1], "How to build an oven of clay", *TITLES[2:]]) == [
        asked
    ]
