"""Facets of a ranking, completion of filters, and what is new in a saved query."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.query.filters import unfinished_filter, with_filter


def test_counts_are_those_of_the_results_after_narrowing(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        query = "migration rehearsal"
        ranking = kb.rank(kb.retrieve(query))
        facets = kb.documents.facets(ranking)
        assert facets.total == ranking.total_matched
        assert {value.key for value in facets.values} == {"type", "tag", "@", "in"}
        for value in facets.values:
            narrowed = with_filter(query, value.key, value.value)
            assert kb.search(narrowed).meta.total_matched == value.count
        everything = kb.documents.facets("")
        assert everything.total == len(kb.documents.paths())
        assert (
            kb.documents.facets("memory/meetings").total
            == kb.documents.count_scope("memory/meetings")[0]
        )
        folders = {value.value: value.count for value in everything.values if value.key == "in"}
        assert folders["memory/meetings"] == kb.documents.count_scope("memory/meetings")[0]
        assert "memory" not in folders  # all documents are in it
        dates = [ranking.evidence.dates[row] for row in ranking.order.tolist()]
        months = Counter(date[:7] for date in dates if date)
        assert dict(facets.months) == months
        names = [month for month, _ in facets.months]
        assert names == sorted(set(names))
        assert facets.undated == dates.count("")


@pytest.mark.parametrize(
    ("query", "first", "is_whole"),
    [
        ("x type:me", "meeting", False),
        ("x type:meeting", None, True),
        ("x type:note,MEE", None, False),
        ("x type:zz", None, True),
        ("tag:migr", "migration", False),
        ("in:mem", "memory/", False),
        ("in:memory/mee", "memory/meetings/", False),
        ("in:memory/", None, True),
        ("@ali", "alice-chen", False),
        ('@"Alice C', "Alice Chen", False),
        ("@alice", "alice-chen", True),
        ("from:2026-", "2026-04", False),
        ("from:", "2026", True),
        ("to:2026-03-1", "2026-03-17", False),
        ("to:2026-03-17", None, True),
        ("from:2026-03", None, True),
        ("from:Bob", None, True),
    ],
)
def test_filters_are_completed_from_the_base(
    demo_kb_path: Path, query: str, first: str | None, is_whole: bool
) -> None:
    unfinished = unfinished_filter(query)
    assert unfinished is not None
    with KnowledgeBase(demo_kb_path) as kb:
        found = kb.documents.complete_filter(unfinished)
    assert found.is_whole is is_whole
    if first is not None:
        assert found.values[0] == first
        assert unfinished.completed(first).startswith(query)


def test_saved_query_shows_what_is_new_since_it_was_opened(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        request = "rollback plan"
        kb.queries.save("rollbacks", request, {"alpha": 0.7})
        assert kb.queries.open("rollbacks", request).results == ()
        first = kb.search(request).results[0].path
        with (demo_copy / first).open("a", encoding="utf-8") as page:
            page.write("\nThe rollback plan has one more step.\n")
        new = demo_copy / "memory/notes/rollback-of-the-rollback.md"
        new.write_text("# Rollback plan of the rollback\n\nRollback plan.\n", encoding="utf-8")
        kb.index()
        news = kb.queries.open("rollbacks", request)
        assert {(one.path, one.is_new) for one in news.results} == {
            (first, False),
            ("memory/notes/rollback-of-the-rollback.md", True),
        }
        assert kb.queries.open("rollbacks", request).results == ()
        (saved,) = kb.queries.saved()
        assert (saved.query, saved.settings) == (request, {"alpha": 0.7})
