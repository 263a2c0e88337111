"""Records are stored as rows of the tables and read back unchanged."""

from dataclasses import replace

import pyarrow as pa
import pytest

from kbx_tui.index import tables
from kbx_tui.index.build.stages import document_row, embedded_text
from kbx_tui.index.tables import table_schema
from kbx_tui.knowledge.records import Attendee, Document, Entity, Fact, Problem

DOCUMENT = Document(
    path="notes/a.md",
    id="note:notes/a.md",
    title="A",
    date="2025-01-02",
    kind="note",
    subtype="",
    tags=("x", "y"),
    attendees=(Attendee("Dana", "dana@example.com"), Attendee("Łu")),
    references=(),
    aliases=("Alpha",),
    links=("B",),
    property_links=("C",),
    frontmatter={"aliases": ["Alpha"], "role": "lead"},
    body="Text\n",
    body_line=4,
    content_hash="ab12",
    size=40,
    problems=(Problem("notes/a.md", "a reason", 3), Problem("notes/a.md", "another", skipped=True)),
)
ENTITY = Entity("person:dana", "Dana", "person", "people/dana.md", aliases=("D",), emails=())
FACT = Fact(
    7, "person:dana", "fact", "Owns it", "2025-01-02", "people/dana.md", 9, "active", False, ("s",)
)


def test_a_document_is_read_back_unchanged() -> None:
    table = pa.Table.from_pylist([document_row(DOCUMENT)], schema=table_schema("documents"))
    assert tables.document_from_row(table.to_pylist()[0]) == DOCUMENT


def test_an_entity_is_read_back_unchanged() -> None:
    table = pa.Table.from_pylist(
        [tables.entity_row(ENTITY, [FACT])], schema=table_schema("entities")
    )
    assert tables.entity_from_row(table.to_pylist()[0]) == ENTITY


def test_a_fact_is_read_back_unchanged() -> None:
    table = pa.Table.from_pylist([tables.fact_row(FACT)], schema=table_schema("facts"))
    assert tables.fact_from_row(table.to_pylist()[0]) == FACT


def test_the_searched_text_holds_title_names_tags_and_body() -> None:
    text = tables.searched_text(document_row(replace(DOCUMENT, body="# A\n\nText\n")))
    assert text.split("\n") == ["A", "Dana", "Łu", "Alpha", "x", "y", "lead", "# A", "", "Text", ""]


@pytest.mark.parametrize("body", ["# A\n\nText\n", "Text\n", "## Other\n\nText\n"])
def test_every_title_occurs_twice_in_the_searched_text(body: str) -> None:
    text = tables.searched_text(document_row(replace(DOCUMENT, body=body)))
    assert text.replace("#", "").split().count("A") == 2


@pytest.mark.parametrize(
    ("ordinal", "text", "embedded"),
    [
        (0, "Slips of paper.", "# Index cards\n\nSlips of paper."),
        (0, "# Index  *cards*\n\nSlips.", "# Index  *cards*\n\nSlips."),
        (0, "## Paper\n\nSlips.", "# Index cards\n\n## Paper\n\nSlips."),
        (1, "Slips of paper.", "Slips of paper."),
    ],
    ids=["no-heading", "heading", "other-heading", "second-chunk"],
)
def test_the_first_chunk_is_embedded_with_a_title_that_no_heading_states(
    ordinal: int, text: str, embedded: str
) -> None:
    assert embedded_text("Index cards", ordinal, text) == embedded
