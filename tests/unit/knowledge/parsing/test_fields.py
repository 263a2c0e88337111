from typing import Any

import pytest

from kbx_tui.knowledge.fields import attendees_of, names_of, references_of, tags_of
from kbx_tui.knowledge.records import Attendee

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
    ],
    ids=["numbers", "commas", "spaces", "number", "none", "repeated"],
)
def test_tags_are_distinct_texts(value: Any, expected: tuple[str, ...]) -> None:
    assert tags_of({"tags": value}) == expected


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
