"""Notes say what could not be searched and why nothing was found, the same on every surface."""

from dataclasses import replace
from typing import Any

import pytest

from kbx_tui.api.session import outdated_notes
from kbx_tui.search.evidence.evidence import Evidence, Topic
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Filters, Tuning
from kbx_tui.search.results.answer import search_notes, vector_notes
from tests.unit.search.building import components, entity, evidence

TYPES = ["meeting", "note"]


def notes_on(
    found: Evidence, newer_files: int = 0, tuning: Tuning | None = None, **scope: Any
) -> str:
    given = ("doc_types", "since", "tags", "entities", "typed")
    filters = {name: scope.pop(name) for name in given if name in scope}
    found = replace(found, scope=replace(found.scope, filters=Filters(**filters), **scope))
    ranking = rank(found, tuning or Tuning())
    outdated = tuple(outdated_notes(newer_files, entities=False))
    return " / ".join(search_notes(ranking, TYPES, outdated))


def test_a_query_that_is_cut_is_noted() -> None:
    cut = "the query has 2,001 characters; only the first 2,000 count"
    assert cut in notes_on(replace(SOMETHING, query="x" * 2001))
    assert "characters" not in notes_on(replace(SOMETHING, query="x" * 2000))


@pytest.mark.parametrize(
    ("query", "is_asking"),
    [
        ("who knows about postgres", True),
        ("Who can help me with the ferry timetable?", True),
        ("who is our expert on rollbacks", True),
        ("experts on pricing", True),
        ("who knows Alice", False),
        ("who owns the rollback plan", False),
        ("what the expert knows about postgres", False),
    ],
)
def test_a_query_for_people_who_know_a_topic_has_a_note_on_experts(
    query: str, is_asking: bool
) -> None:
    assert ("`kbx experts` ranks people" in notes_on(replace(SOMETHING, query=query))) == is_asking


NOTHING = evidence(components([0.0, 0.0], [0.0, 0.0]))
SOMETHING = evidence(components([3.0, 0.0], [0.5, 0.0]))


@pytest.mark.parametrize(
    ("scope", "note"),
    [
        ({"path": "memory/nowhere"}, "there are no documents in memory/nowhere"),
        ({"doc_types": ("note",), "tags": ("a",)}, "no document matches type note and tag a;"),
        ({"doc_types": ("memo",)}, "no document has type memo; existing types: meeting, note"),
        (
            {"doc_types": ("note",), "path": "memory/meetings"},
            "no document matches path memory/meetings and type note;",
        ),
        ({"since": "2027", "entities": ("person:a",)}, "matches from 2027 and entity person:a;"),
    ],
    ids=["empty-folder", "filters", "no-such-type", "path-and-type", "date-and-entity"],
)
def test_filters_that_match_nothing_are_named(scope: dict[str, Any], note: str) -> None:
    assert note in notes_on(NOTHING, in_scope=0, **scope)


def test_types_that_do_not_exist_and_an_empty_index_are_named() -> None:
    said = notes_on(SOMETHING, doc_types=("note", "memo"))
    assert said == "no document has type memo; existing types: meeting, note"
    said = notes_on(SOMETHING, doc_types=("meating", "memo", "nota", "log"))
    assert said.split(" / ") == [
        "no document has type meating; did you mean meeting?",
        "no document has type nota; did you mean note?",
        "no document has type memo,log; existing types: meeting, note",
    ]
    said = notes_on(NOTHING, in_scope=0, total=0, doc_types=("memo",))
    assert said == "there are no documents to search; `kbx status` shows what is indexed"


def test_answers_with_nothing_to_say_have_no_notes() -> None:
    assert notes_on(SOMETHING) == ""
    assert notes_on(replace(UNANSWERED, as_searched=SOMETHING.as_typed)) == ""
    assert notes_on(replace(UNANSWERED, topic=None)) == ""


def test_nothing_found_says_where_and_what_to_try() -> None:
    below = evidence(components([0.0, 0.0, 0.0], [0.2, 0.1, 0.0]))
    said = notes_on(below, path="memory/notes")
    assert "nothing found in 3 documents (flat: no entity named)" in said
    assert "2 documents are too little similar to the query to be shown" in said
    assert "without the path" in said
    assert said.endswith("try fewer words, or the name of a person, project or team")
    assert "a search that is not fast" in notes_on(replace(NOTHING, fast=True))


def test_missing_vectors_are_counted_unless_a_fast_search_uses_none() -> None:
    said = notes_on(replace(SOMETHING, vector_share=0.9991, without_vector=1))
    assert said == "meaning 99 %: 1 text has no vector yet; `kbx index` adds it"
    assert list(vector_notes(0.5, 1200)) == [
        "meaning 50 %: 1,200 texts have no vector yet; `kbx index` adds them"
    ]
    assert notes_on(replace(SOMETHING, fast=True, vector_share=0.0)) == ""


def test_newer_files_are_counted() -> None:
    assert "2 files changed since the last run" in notes_on(SOMETHING, newer_files=2)
    assert list(outdated_notes(0, entities=False)) == []
    (note,) = outdated_notes(0, entities=True)
    assert "[entities] in kbx.toml" in note


def test_notes_cannot_control_the_terminal() -> None:
    said = notes_on(NOTHING, in_scope=0, path="\x1b[31mred")
    assert "\x1b" not in said


UNANSWERED = evidence(
    components([0.0, 0.0], [0.0, 0.0], "what did say about the zebra"),
    entities=[(entity(0, 1.0, named=True), {0: 1.0})],
    topic=Topic(0.2),
)


def test_results_that_are_only_linked_are_noted_with_topic_and_entity() -> None:
    linked = "these are linked to Entity 0"
    assert notes_on(UNANSWERED) == f"no document says anything about “zebra”; {linked}"
    assert notes_on(UNANSWERED, in_scope=1).startswith("no document in scope says anything")
    hard = notes_on(UNANSWERED, tuning=Tuning(gate="hard"))
    assert hard == f"no document linked to Entity 0 says anything about “zebra”; {linked}"


def test_the_few_results_that_answer_are_counted_where_others_are_only_linked() -> None:
    scores = components([0.0, 9.0, 9.0], [0.0, 0.5, 0.5], "zebra")
    few = evidence(
        scores, entities=[(entity(0, 1.0, named=True), {0: 1.0, 2: 1.0})], topic=Topic(0.2)
    )
    others = "the others are linked to Entity 0"
    assert notes_on(few) == f"only 2 documents match “zebra”; {others}"
    hard = notes_on(few, tuning=Tuning(gate="hard"))
    assert hard == f"only 1 document linked to Entity 0 matches “zebra”; {others}"


def test_a_topic_of_common_words_that_is_hardly_answered_is_noted() -> None:
    found = evidence(
        components([1.0, 0.0], [0.0, 0.0], "last time"),
        entities=[(entity(0, 1.0, named=True), {1: 1.0})],
        topic=Topic(0.2, is_common=True),
    )
    note = "no document says much about “last time”; first are those linked to Entity 0"
    assert notes_on(found) == note


def test_long_topic_is_cut_in_the_note() -> None:
    scores = components([0.0], [0.0], "zebra " * 100)
    long = evidence(scores, entities=[(entity(0, 1.0), {0: 1.0})], topic=Topic(0.2))
    assert "zebra ze …”; these" in notes_on(long)
