"""What is new with someone or something: its page, then the newest, however the question is put."""

from collections.abc import Iterator

import pytest

from kbx_tui import KnowledgeBase
from tests.functional.vaults import index_vault

QUESTIONS = (
    "what has {} been working on",
    "what is {} up to?",
    "what's new with {}",
    "anything new from {}?",
    "latest on {}",
    "recent updates from {}",
)
DAYS = ("2026-05-04", "2026-01-12", "2026-03-20", "2025-11-30")
FILES = {
    "people/ada-lund.md": "# Ada Lund\n\nKeeps bees.\n",
    "people/ben-vale.md": "# Ben Vale\n\nMends nets.\n",
    "projects/new-weir.md": "---\nlead: Ada Lund\n---\n# New Weir\n\nBuilt of stone.\n",
    "notes/nothing.md": "# Working hours\n\nWorking on what is new, up to date, the latest.\n",
} | {
    f"meetings/{day}.md": f"---\ntitle: Site visit\ndate: {day}\nattendees: [Ada Lund, Ben Vale]"
    "\n---\n[[New Weir]]: stones were counted, one by one.\n"
    for day in DAYS
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(index_vault(tmp_path_factory.mktemp("weir"), FILES)) as base:
        base.index()
        yield base


@pytest.mark.parametrize(
    ("name", "page"),
    [("Ada Lund", "people/ada-lund.md"), ("Ben", "people/ben-vale.md")],
)
def test_news_of_someone_are_their_page_and_then_the_newest_meeting(
    kb: KnowledgeBase, name: str, page: str
) -> None:
    orders = {
        tuple(result.path for result in kb.search(question.format(name)).results)
        for question in QUESTIONS
    }
    (order,) = orders
    assert order[0] == page
    meetings = [path for path in order if path.startswith("meetings/")]
    assert meetings == [f"meetings/{day}.md" for day in sorted(DAYS, reverse=True)]
    assert "notes/nothing.md" not in order


def test_news_and_state_of_a_project_are_its_page_and_then_the_newest(kb: KnowledgeBase) -> None:
    for question in QUESTIONS:
        first, *others = kb.search(question.format("the New Weir")).results
        assert first.path == "projects/new-weir.md"
        dates = [result.date for result in others if result.path.startswith("meetings/")]
        assert dates == sorted(DAYS, reverse=True)

    for question in ("is the new weir finished?", "How is the New Weir going?"):
        first, *others = kb.search(question).results
        assert first.path == "projects/new-weir.md"
        dates = [result.date for result in others if result.path.startswith("meetings/")]
        assert dates == sorted(DAYS, reverse=True)


def test_the_newest_alone_is_a_list_by_date_of_what_the_query_calls_for(kb: KnowledgeBase) -> None:
    for query in ("last meeting", "newest meetings?", "most recent minutes"):
        results = kb.search(query).results
        assert [result.date for result in results] == sorted(DAYS, reverse=True), query
    for query in ("last meeting with Ben", "latest meeting with Ada Lund"):
        results = [each for each in kb.search(query).results if each.date]
        assert [result.date for result in results] == sorted(DAYS, reverse=True), query


def test_a_date_beside_a_name_asks_for_documents_and_leaves_the_name(kb: KnowledgeBase) -> None:
    for query in ("Ada Lund in March", "Ada Lund on the twentieth of march"):
        assert kb.search(query).results[0].path == "meetings/2026-03-20.md", query

    assert kb.search("2026-03-20.md").results[0].path == "meetings/2026-03-20.md"

    for query in ("new weir in march", "new weir in march 2026", "the New Weir last year"):
        response = kb.search(query)
        found = {entity.name: entity.score for entity in response.meta.pass1_entities}
        assert (response.meta.search_mode, found["New Weir"]) == ("two_pass", 1.0)


def test_the_reason_says_that_newer_documents_stand_a_little_higher(kb: KnowledgeBase) -> None:
    response = kb.search("what is Ada up to", explain=True)
    of_first, *others = [result.explain for result in response.results]
    assert of_first is not None and of_first["exact"] == "own page"
    reasons = [each["lowered_reason"] for each in others if each and each["lowered_reason"]]
    assert reasons and all(
        "asked for what is new, newer a little higher: ×" in each for each in reasons
    )


def test_a_misspelt_word_beside_a_name_is_corrected_at_its_end_too(kb: KnowledgeBase) -> None:
    for query in ("Ada Lund coutned", "Ada Lund countde", "counetd"):
        response = kb.search(query)
        assert any("searched for counted" in note for note in response.meta.notes)
        assert response.results[0].path.startswith("meetings/")


def test_a_filter_of_another_program_is_named_and_not_searched_for(kb: KnowledgeBase) -> None:
    response = kb.search("who:ada stones")
    assert response.results == kb.search("stones").results
    assert any(
        "who:ada is not a filter" in note and "@ada or said:@ada" in note
        for note in response.meta.notes
    )
    assert not kb.search("who:ada after:2026-03").results
