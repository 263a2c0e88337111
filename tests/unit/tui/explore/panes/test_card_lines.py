"""The lines of an entity card, at any width and for any text."""

from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.records import Fact
from kbx_tui.safe_text import safe_line
from kbx_tui.search.browse import EntityCard as Card
from kbx_tui.search.browse import EntityDocument
from kbx_tui.tui.drawing.lines import Line, width_of
from kbx_tui.tui.explore import entities
from tests.unit.tui.explore.panes.cards import a_document, a_fact, an_item

hostile = st.text(alphabet="ab [red]/港🛳\x1b\u202e\u200d\x07", max_size=60).map(safe_line)
dates = st.sampled_from(["", "2026-03-17", "2025-12-04", "long ago", "2026"])
statuses = st.sampled_from(["active", "superseded", "archived", "redacted"])
facts = st.builds(a_fact, hostile, dates, statuses, st.lists(hostile, max_size=3).map(tuple))
items = st.builds(an_item, hostile, dates, st.booleans())
documents = st.builds(a_document, st.just("a.md"), hostile, dates, hostile, hostile)
widths = st.integers(24, 100)

CARD = Card(
    id="person:alice-chen",
    name="Alice Chen",
    type="person",
    path="memory/people/alice-chen.md",
    role="Director of Engineering",
    team="Platform",
    aliases=("achen",),
    facts=(
        a_fact("Signs off the cut-over", "2026-03-17", "active", ("Migration go/no-go", "a", "b")),
        a_fact("Wants it before Christmas", "2025-12-04", "superseded", ("notes/2025/x.md",)),
    ),
    open_items=(an_item("write a template", "", True), an_item("call Bob", "2026-02-12", False)),
    documents=(
        a_document("m/a.md", "Go/no-go", "2026-03-17", "transcript", "attendee"),
        a_document("m/b.md", "Kick-off", "2025-11-13", "notes", "title, 4 mentions"),
        a_document("m/c.md", "Glossary", "", "", "1 mention"),
    ),
)


def texts(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in line).rstrip() for line in lines]


@given(hostile, hostile, st.lists(facts, max_size=4), st.lists(items, max_size=4), widths)
def test_every_line_fits_the_width(
    name: str, role: str, facts: list[Fact], items: list[Fact], width: int
) -> None:
    card = replace(CARD, name=name, role=role, aliases=(name,), facts=tuple(facts))
    lines = [
        *entities.head_lines(card, width),
        *chain.from_iterable(entities.fact_lines(facts, width)),
        *entities.item_lines(items, width),
        entities.page_line(role, width, cursor=True),
        entities.group_line("2026", 12, width),
    ]
    assert max(map(width_of, lines)) <= width


@given(documents, widths, st.booleans())
def test_every_line_of_a_document_fits(document: EntityDocument, width: int, cursor: bool) -> None:
    for part in range(entities.document_height(width)):
        line = entities.document_line(document, part, width, cursor=cursor)
        assert width_of(line) <= width


@given(facts, widths)
def test_no_text_of_a_fact_is_lost(fact: Fact, width: int) -> None:
    (lines,) = entities.fact_lines([replace(fact, sources=(), date="")], width)
    shown = "".join(texts(lines))
    assert fact.text.replace(" ", "") in shown.replace(" ", "").replace("·", "")
    assert fact.status == "active" or fact.status in shown


def test_head_names_what_is_known_and_empty_sections_are_left_out() -> None:
    assert texts(entities.head_lines(CARD, 40)) == [
        "● Alice Chen                     person",
        "  Director of Engineering · Platform",
        "  also achen",
        "  2 facts · 1 open · 3 documents",
    ]

    assert not [*entities.fact_lines((), 40), *entities.item_lines((), 40)]
    bare = Card("person:x", "X", "", "", (), "", "", (), (), ())
    assert texts(entities.head_lines(bare, 40)) == ["● X", "  nothing is known about it yet"]


def test_superseded_facts_are_dim_and_say_so() -> None:
    lines = list(chain.from_iterable(entities.fact_lines(CARD.facts, 60)))
    assert texts(lines) == [
        "  2026-03-17  Signs off the cut-over",
        "              from Migration go/no-go, a, 1 more",
        "  2025-12-04  Wants it before Christmas",
        "              superseded · from x",
    ]
    assert [lines[row][-1].look for row in (0, 2)] == ["text", "dim"]


def test_facts_show_a_short_source_and_their_date_below_if_narrow() -> None:
    assert texts(*entities.fact_lines(CARD.facts[1:], 40)) == [
        "  · Wants it before Christmas",
        "    2025-12-04 · superseded · from x",
    ]

    assert entities.short_source("memory/notes/2026-01-21-outage.md") == "2026-01-21-outage"
    assert entities.short_source("Migration go/no-go") == "Migration go/no-go"


def test_open_items_come_before_done_ones_and_documents_by_year() -> None:
    assert texts(entities.item_lines(CARD.open_items, 40)) == [
        "",
        "  Open items  1",
        "  ☐ call Bob  2026-02-12",
        "  ☑ write a template",
    ]

    assert list(entities.groups(CARD.documents)) == [
        ("2026", 1),
        ("2025", 1),
        ("no date", 1),
    ]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (36, ["› 03-17  Go/no-go", "         transcript · attendee"]),
        (70, ["› 03-17  Go/no-go                      transcript · attendee"]),
    ],
)
def test_a_document_shows_date_title_kind_and_reason(width: int, shown: list[str]) -> None:
    document = replace(CARD.documents[0], date="2026-03-17/23")  # a week, by its first day
    parts = range(entities.document_height(width))
    lines = [entities.document_line(document, part, width, cursor=True) for part in parts]
    assert texts(lines) == shown
