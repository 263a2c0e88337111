import time
from typing import Any

import pytest

from kbx_tui.knowledge.fields import (
    attendees_of,
    document_id,
    is_entity_kind,
    kind_of,
    names_of,
    references_of,
    tags_of,
    unique_ids,
)
from kbx_tui.knowledge.records import Attendee
from tests.unit.knowledge.building import page

MARIA, TOM = Attendee("Maria Novak", "maria@example.com"), Attendee("Tom Reed")


@pytest.mark.parametrize(
    "value",
    [
        [
            {"name": "Maria Novak", "email": "maria@example.com"},
            {"name": "Tom Reed", "email": None},
        ],
        ["Maria Novak <maria@example.com>", "Tom Reed"],
        ["[[Maria Novak]] (maria@example.com)", [["Tom Reed"]]],
        "Maria Novak <maria@example.com>, Tom Reed",
        "Maria Novak <maria@example.com>; Tom Reed\n",
        '"Maria Novak" <maria@example.com> and Tom Reed',
        "- Maria Novak (maria@example.com)\n- Tom Reed\n",
        [
            MARIA.name,
            {"name": MARIA.name, "email": MARIA.email},
            "Tom  Reed",
            "tom reed",
            "?",
            7,
            {},
        ],
    ],
    ids=[
        "mappings",
        "addresses",
        "wikilinks",
        "commas",
        "semicolons",
        "and",
        "lines",
        "twice-and-junk",
    ],
)
def test_attendees_are_read_from_every_supported_form(value: Any) -> None:
    assert attendees_of({"attendees": value}) == (MARIA, TOM)


def test_authors_are_attendees_in_file_order() -> None:
    front = {"Authors": "Tom Reed", "title": "x", "attendees": [{"email": "maria@example.com"}]}
    assert attendees_of(front) == (TOM, Attendee("maria@example.com", "maria@example.com"))


@pytest.mark.parametrize(
    "junk", [None, 5, True, "", "---", [None, 3.5, [], {}], {"x": 1}, "x" * 300]
)
def test_invalid_attendees_are_ignored(junk: Any) -> None:
    assert attendees_of({"attendees": junk}) == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a", 2026, 1.5, True, None, "#b", {"x": 1}], ("a", "2026", "1.5", "true", "b")),
        ("alpha, beta gamma", ("alpha", "beta gamma")),
        ("#alpha #beta", ("alpha", "beta")),
        (2026, ("2026",)),
        (None, ()),
        (["a", "a", " a "], ("a",)),
        ("[[deep work]] #[[slow food]] c", ("deep work", "slow food", "c")),
    ],
    ids=["numbers", "commas", "spaces", "number", "none", "repeated", "links"],
)
def test_tags_are_distinct_texts(value: Any, expected: tuple[str, ...]) -> None:
    assert tags_of({"tags": value}) == expected
    assert tags_of({"Taxonomies": {"tags": value, "authors": ["x"]}}) == expected
    assert tags_of({"tags": "own", "taxonomies": {"tags": value}}) == ("own",)


def test_a_long_line_of_tags_is_read_in_little_time() -> None:
    started = time.process_time()
    assert tags_of({"tags": "ab " * 50_000}) == ("ab",)
    assert time.process_time() - started < 5


def test_references_are_reference_fields_and_wikilinks_at_any_depth() -> None:
    front = {
        "team": "[[Platform]]",
        "Reports_To": "Maria Novak",
        "projects": ["[[Helix|the big one]]", "Lagoon"],
        "company": "Acme, Inc.",
        "people": "Tom Reed, Ana Sol",
        "lead": [["Unquoted"]],
        "owner": {"name": "Ole", "email": "o@x.org"},
        "attendees": ["[[Nobody]]"],
        "calendar_event": {"organiser": "Kim Lee", "title": "see [[Kickoff#part]]"},
        "summary": "with [[Deep Link]] inside",
        "contact": "o@x.org",
        "status": "Active",
    }
    assert references_of(front) == (
        "Platform", "Maria Novak", "Helix", "Lagoon", "Acme, Inc.", "Tom Reed", "Ana Sol",
        "Unquoted", "Ole", "Kim Lee", "Kickoff", "Deep Link",
    )  # fmt: skip


def test_text_that_may_be_one_name_is_also_returned_whole() -> None:
    assert names_of("Trust, Safety and Policy") == (
        "Trust, Safety and Policy",
        "Trust",
        "Safety and Policy",
    )


@pytest.mark.parametrize(
    ("path", "declared_type", "expected"),
    [
        ("memory/meetings/2026/03/17/a.md", "transcript", ("meeting", "transcript")),
        ("memory/meetings/people/a.md", "person", ("meeting", "person")),
        ("meetings/a.md", None, ("meeting", "")),
        ("memory/people/a.md", "company", ("person", "")),
        ("People/a.md", None, ("person", "")),
        ("memory/projects/helix/spec.md", None, ("note", "")),
        ("memory/projects/helix/lead.md", "person", ("person", "")),
        ("memory/projects/helix/notes/a.md", None, ("note", "")),
        ("memory/teams/a.md", None, ("team", "")),
        ("memory/notes/deep/a.md", "memo", ("note", "")),
        ("memory/context/company.md", None, ("context", "")),
        ("memory/glossary.md", None, ("glossary", "")),
        ("memory/glossary/a.md", None, ("glossary", "")),
        ("memory/a.md", "Design Doc", ("design-doc", "")),
        ("memory/a.md", ["lab", "x"], ("lab", "")),
        ("memory/a.md", "notes", ("note", "")),
        ("a.md", None, ("note", "")),
        ("a.md", "!!!", ("note", "")),
    ],
)
def test_kind_comes_from_folder_then_type_then_defaults_to_note(
    path: str, declared_type: object, expected: tuple[str, str]
) -> None:
    assert kind_of(path, {} if declared_type is None else {"type": declared_type}) == expected


def test_entity_kinds_are_core_types_and_configured_ones() -> None:
    kinds = ("person", "lab", "company", "organization", "note")
    assert [kind for kind in kinds if is_entity_kind(kind)] == list(kinds[:-1])
    assert is_entity_kind("team", frozenset({"device"}))
    assert is_entity_kind("device", frozenset({"device"}))
    assert not is_entity_kind("lab", frozenset({"device"}))


def test_document_id_is_explicit_or_entity_slug_or_path() -> None:
    path = "memory/people/jcb.md"
    assert document_id(path, "person", "Jérôme C.", "my id", entity=True) == "my id"
    assert document_id(path, "person", "Jérôme C.", "", entity=True) == "person:jerome-c"
    assert document_id(path, "person", "?!", "", entity=True) == "person:people/jcb"
    assert document_id("memory/notes/a.md", "note", "A", "", entity=False) == "note:notes/a"


def test_path_ids_avoid_ids_from_frontmatter() -> None:
    documents = [
        page("# Alex Kim\n", "memory/people/x.md"),
        page("---\ntype: person\n---\n# Alex Kim\n", "memory/old/x.md"),
        page("---\nid: person:people/x\n---\n# Other\n", "memory/people/y.md"),
        page("---\nid: person:memory/people/x.md\n---\n", "memory/notes/z.md"),
    ]
    ids = unique_ids(documents)
    assert len(set(ids.values())) == 4
    assert ids["memory/people/y.md"] == "person:people/x"
