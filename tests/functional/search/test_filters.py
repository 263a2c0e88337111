"""Filters apply in every mode, combined, and change no score."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbx_tui import ConfigError, KnowledgeBase, NotFound
from tests.functional.vaults import write_vault

PERSON = "---\nname: {}\n---\n# {}\n"
PAGE = """---
title: Ferry {number}
date: '{date}'
tags: [{tag}]
attendees: [{attendee}]
---
# Ferry {number}

The ferry sails at noon.
"""
DATES, TAGS = ("2025-12-31", "2026-03-01", "2026-03-31"), ("ops", "Plan")
PEOPLE = {"Ada Stone": "person:ada-stone", "Ben Vale": "person:ben-vale"}
PAGES: dict[str, tuple[str, str, str, str]] = {
    f"memory/{folder}/p{number}.md": (folder, date, tag, attendee)
    for number, (folder, date, tag, attendee) in enumerate(
        itertools.product(("meetings", "notes"), DATES, TAGS, PEOPLE)
    )
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    files = {
        path: PAGE.format(number=number, date=date, tag=tag, attendee=attendee)
        for number, (path, (_, date, tag, attendee)) in enumerate(PAGES.items())
    }
    for name, entity in PEOPLE.items():
        files[f"memory/people/{entity.partition(':')[2]}.md"] = PERSON.format(name, name)
    base = KnowledgeBase(write_vault(tmp_path_factory.mktemp("base"), files))
    base.index()
    return base


CASES = list(
    itertools.product(
        (None, ["meeting"]),
        (None, "2026", "2026-03-02"),
        (None, "2025", "2026-03-01"),
        ([], ["plan"], ["#OPS", "plan"]),
        ([], ["person:ada-stone"]),
    )
)


@pytest.mark.parametrize("case", CASES[::4], ids=repr)
def test_combined_filters_return_all_documents_that_match(kb: KnowledgeBase, case: Any) -> None:
    kinds, since, until, tags, entities = case
    wanted = {tag.lower().strip("#") for tag in tags}
    expected = {
        path
        for path, (folder, date, tag, attendee) in PAGES.items()
        if (not kinds or folder == "meetings")
        and (not since or date >= since)
        and (not until or date[: len(until)] <= until)
        and (not wanted or tag.lower() in wanted)
        and (not entities or PEOPLE[attendee] in entities)
    }
    filters = {
        "doc_types": kinds, "since": since, "until": until, "tags": tags, "entities": entities,
    }  # fmt: skip
    filters["path"] = None if kinds else "memory/{meetings,notes}/"
    for options in ({"fast": True}, {"hierarchy": False}, {}):
        response = kb.search("the ferry at noon", limit=100, **filters, **options)
        assert {result.path for result in response.results} == expected
        assert response.meta.in_scope == len(expected)


def test_scores_do_not_depend_on_filters(kb: KnowledgeBase) -> None:
    query = "what did Ada Stone say about the ferry?"
    everywhere = {r.path: r.score for r in kb.search(query, limit=100).results}
    inside = kb.search(query, limit=100, since="2026", tags=["ops"], entities=["person:ada-stone"])
    assert inside.results
    assert {r.path: r.score for r in inside.results}.items() <= everywhere.items()


@pytest.mark.parametrize(
    "filters",
    [
        {"since": "2026"},
        {"tags": ["ops"]},
        {"path": "memory/notes"},
        {"entities": ["person:ben-vale"]},
        {"doc_types": ["note"]},
    ],
)
def test_relevance_is_bit_identical_under_any_filter(
    kb: KnowledgeBase, filters: dict[str, Any]
) -> None:
    for query in ("what did Ada Stone say about the ferry?", "ferry 7", "pull request 7"):
        everything, inside = kb.retrieve(query), kb.retrieve(query, **filters)
        assert 0 < len(inside) < len(everything)
        rows = [everything.paths.index(path) for path in inside.paths]
        for unfiltered, filtered in (
            (everything.as_typed, inside.as_typed),
            (everything.as_searched, inside.as_searched),
        ):
            np.testing.assert_array_equal(unfiltered.doc_relevance[rows], filtered.doc_relevance)


def test_document_type_is_case_insensitive(kb: KnowledgeBase) -> None:
    lower, capitalised = (kb.search("ferry", doc_types=[kind]) for kind in ("meeting", "Meeting"))
    assert lower.results == capitalised.results
    assert lower.results


def test_explain_shows_the_filters(kb: KnowledgeBase) -> None:
    explain = kb.search("ferry", since="2026-03", tags=["ops"], explain=True).meta.explain
    assert explain is not None
    assert explain["filters"]["from"] == "2026-03"
    assert explain["filters"]["tags"] == ["ops"]
    assert explain["lexical"] == {"in_scope": explain["lexical"]["in_scope"], "status": "complete"}
    assert 0 < explain["lexical"]["in_scope"] < explain["documents"]
    assert explain["vector"] == explain["lexical"]


@pytest.mark.parametrize(
    ("typed", "options"),
    [
        ("type:Meeting", {"doc_types": ["meeting"]}),
        ("from:2026-03 to:2026-03-02", {"since": "2026-03", "until": "2026-03-02"}),
        ("in:memory/notes", {"path": "memory/notes"}),
        ("in:/memory/{meetings,notes}/p1*", {"path": "memory/{meetings,notes}/p1*"}),
        ("tag:ops,plan @ada", {"tags": ["ops", "plan"], "entities": ["person:ada-stone"]}),
        ('@"ben vale"', {"entities": ["person:ben-vale"]}),
    ],
)
def test_filter_typed_in_the_query_is_the_same_as_one_given_beside_it(
    kb: KnowledgeBase, typed: str, options: dict[str, Any]
) -> None:
    found = kb.search(f"{typed} when does the ferry sail?", limit=100)
    given = kb.search("when does the ferry sail?", limit=100, **options)
    assert found.results == given.results
    assert 0 < found.meta.in_scope == given.meta.in_scope < len(PAGES)
    assert found.meta.searched == "when does the ferry sail?"
    assert " ".join(found.meta.typed_filters).startswith(typed[:3])


def test_typed_filters_narrow_and_never_widen_what_options_allow(kb: KnowledgeBase) -> None:
    both = kb.search("ferry tag:plan", limit=100, doc_types=["note"])
    assert {result.doc_type for result in both.results} == {"note"}
    assert 0 < both.meta.in_scope < len(PAGES) / 2
    neither = kb.search("ferry type:meeting", doc_types=["note"])
    assert (neither.results, neither.meta.in_scope) == ((), 0)
    assert "no document matches type note and type:meeting; omit" in neither.meta.notes[0]
    assert not kb.search("ferry tag:ops tag:plan").results
    assert kb.search("ferry tag:ops,plan").meta.in_scope == len(PAGES)


def test_query_of_filters_alone_lists_their_documents_newest_first(kb: KnowledgeBase) -> None:
    response = kb.search("@ada-stone type:note", limit=100, explain=True)
    dates = [result.date for result in response.results]
    assert dates == sorted(dates, reverse=True)
    assert len(dates) == response.meta.in_scope > 0
    assert response.results[0].explain is not None
    assert response.results[0].explain["exact"] == "filter"


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("ferry type:memo", "no document has type memo; existing types: meeting, note, person"),
        ("ferry @ada-stoen", "no entity is called ada-stoen; did you mean Ada Stone?"),
        ("ferry @zzzz", "no entity is called zzzz"),
        ("ferry in:memory/nowhere", "there are no documents in memory/nowhere; paths start"),
        ("ferry in:../..", "there are no documents in ../..; paths start"),
        ("ferry tag:none", "no document matches tag:none; omit or change one of them"),
    ],
)
def test_note_says_what_a_typed_filter_does_not_find(
    kb: KnowledgeBase, query: str, note: str
) -> None:
    meta = kb.search(query).meta
    assert meta.in_scope == 0
    assert [text for text in meta.notes if text.startswith(note)]
    assert len(meta.notes) == 1


def test_note_says_that_a_typed_filter_holds_no_date(kb: KnowledgeBase) -> None:
    response = kb.search("ferry from:Ada")
    assert response.results
    assert response.meta.notes[0].startswith("from:Ada holds no date such as 2026-03-17")


def test_name_of_a_hidden_page_is_not_known_to_typed_filters(kb: KnowledgeBase) -> None:
    hidden = ["memory/people/ada-stone.md"]
    for query in ("ferry @ada", "ferry @ada-stoen"):
        meta = kb.search(query, hidden=hidden).meta
        assert meta.in_scope == 0
        assert meta.notes == (f"no entity is called {query[7:]}",)


def test_unknown_entity_or_malformed_date_is_rejected(kb: KnowledgeBase) -> None:
    with pytest.raises(NotFound, match="person:nobody"):
        kb.search("ferry", entities=["person:nobody"])
    with pytest.raises(ConfigError, match="must be a date"):
        kb.search("ferry", since="soon")


def test_query_for_a_person_alone_prefers_documents_with_few_attendees(tmp_path: Path) -> None:
    files = {"memory/people/ada-stone.md": PERSON.format("Ada Stone", "Ada Stone")}
    for name, people in (("crowd", "Xi, Yo, Zed, Ada Stone"), ("alone", "Ada Stone")):
        files[f"memory/meetings/2026/03/01/{name}.md"] = PAGE.format(
            number=name, date="2026-03-01", tag="x", attendee=people
        )
    with KnowledgeBase(write_vault(tmp_path, files)) as base:
        base.index()
        response = base.search("What has Ada Stone been working on?", doc_types=["meeting"])
        assert [Path(result.path).stem for result in response.results] == ["alone", "crowd"]
        evidence = base.retrieve("What has Ada Stone been working on?")
        assert "attendee 4 of 4" in evidence.links[0].reasons


def test_note_names_all_entities_that_share_a_name(tmp_path: Path) -> None:
    files = {
        f"memory/people/{slug}.md": PERSON.format(name, name)
        for slug, name in (("ada-stone", "Ada Stone"), ("ada-vale", "Ada Vale"))
    }
    files["memory/notes/ferry.md"] = "# Ferry\n\nAda Stone and Ada Vale plan the ferry.\n"
    with KnowledgeBase(write_vault(tmp_path, files)) as base:
        base.index()
        meta = base.search("What did Ada say about the ferry?").meta
    assert [entity.score for entity in meta.pass1_entities[:2]] == [0.8, 0.8]
    assert meta.notes[0].startswith("Ada may be Ada ")
    assert meta.notes[0].endswith("their documents count equally")


def test_nonsense_query_has_no_results_and_counts_documents_below_the_floor(
    kb: KnowledgeBase,
) -> None:
    response = kb.search("qwzx vbnrt plkjh")
    assert not response.results
    assert 0 < response.meta.total_below_floor <= response.meta.in_scope
