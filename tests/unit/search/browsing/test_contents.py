"""What a base holds in words, and the queries made from it."""

from __future__ import annotations

from pathlib import Path

from kbx_tui import KnowledgeBase
from kbx_tui.search.browse import BaseContents


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
