"""Why a document of the demo is not in the top, and what brings it there in a real search."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound
from kbx_tui.search.ranking.explain import compare, explain_pair
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.why_not import Dimension

QUERY = "what did Alice decide about rollbacks"


@pytest.fixture(scope="module")
def kb(demo_kb_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo_kb_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "dimensions"),
    [
        (QUERY, {"path", "pinned", "since"}),
        ("rollback rehearsal in March 2026", {"path", "since", "until", "dates"}),
        ("what did Alice do last week", {"path", "since"}),
        ("notes since 2026-02", {"path", "until"}),
    ],
)
def test_changes_bring_the_document_into_the_top_of_a_search(
    kb: KnowledgeBase, query: str, dimensions: set[Dimension]
) -> None:
    request = SearchRequest(query, limit=5, today=date(2026, 3, 20))
    ranking = kb.rank(kb.retrieve(request))
    found = set()
    for row in ranking.order[5::4].tolist():
        path = ranking.evidence.paths[row]
        for change in kb.why_not(request, path, 5).changes:
            results = kb.search(change.applied_to(request)).results
            assert [result.path for result in results].index(path) + 1 == change.rank
            found.add(change.dimension)
    assert dimensions <= found


def test_widening_the_filter_is_proposed_for_what_a_filter_leaves_out(kb: KnowledgeBase) -> None:
    best = kb.search(QUERY).results[0].path
    answer = kb.why_not(QUERY, best, doc_types=("person",), since="2026")
    assert (answer.stage, answer.rank) == ("filtered", None)
    assert {change.dimension for change in answer.changes} <= {"doc_types", "since"}
    answer = kb.why_not(QUERY, best, doc_types=("person",))
    assert [change.text for change in answer.changes] == ["also the type meeting"]
    assert answer.changes[0].value == ("person", "meeting")


def test_a_filter_is_widened_no_further_than_the_document_needs(kb: KnowledgeBase) -> None:
    result = kb.search("rollback plan").results[0]
    day, next_month = result.date, "2026-12"
    for request, dimension, value, text in (
        (SearchRequest("rollback plan", since=next_month), "since", day, f"from {day}"),
        (SearchRequest("rollback plan", until="2020"), "until", day, f"to {day}"),
        (SearchRequest("rollback plan", path="memory/people"), "path", "memory/",
         "in all of memory/"),
    ):  # fmt: skip
        (found,) = kb.why_not(request, result.path).changes
        assert (found.dimension, found.value, found.text) == (dimension, value, text)
        after = kb.search(found.applied_to(request))
        assert after.results[found.rank - 1].path == result.path


def test_muting_is_named_as_the_reason(kb: KnowledgeBase) -> None:
    path = kb.search("rollback plan").results[0].path
    answer = kb.why_not(SearchRequest("rollback plan", muted_documents=[path]), path)
    assert answer.standing.startswith("it is muted, so no search shows it")


def test_dropping_a_filter_typed_in_the_query_is_proposed(kb: KnowledgeBase) -> None:
    best = kb.search(QUERY).results[0].path
    request = SearchRequest(f"type:person {QUERY} from:2020")
    (change,) = kb.why_not(request, best).changes
    assert (change.dimension, change.text) == ("query", "without type:person")
    assert change.applied_to(request).query == f"{QUERY} from:2020"


def test_a_document_that_only_its_meaning_finds_is_found_without_fast(kb: KnowledgeBase) -> None:
    found = kb.search(QUERY).results
    by_words = {result.path for result in kb.search(QUERY, fast=True).results}
    missing = next(result.path for result in found if result.path not in by_words)
    changes = kb.why_not(QUERY, missing, fast=True).changes
    assert "fast" in {change.dimension for change in changes}


def test_a_document_that_does_not_exist_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(NotFound, match=r"the index holds no document 'memory/nothing\.md'"):
        kb.why_not(QUERY, "memory/nothing.md")


def test_two_settings_and_two_results_are_compared(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve(QUERY)
    two_pass, flat = kb.rank(evidence), kb.rank(evidence, kb.tuning(hierarchy=False))
    comparison = compare(two_pass, flat)
    assert comparison.lost
    assert comparison.gained
    first, second = two_pass.best(2).tolist()
    pair = explain_pair(two_pass, second, first)
    assert pair.text("A", "B").startswith("A beats B by .")
