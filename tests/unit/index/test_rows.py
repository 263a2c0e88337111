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
    speakers=("Dana",),
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


def test_documents_entities_and_facts_are_read_back_unchanged() -> None:
    table = pa.Table.from_pylist([document_row(DOCUMENT)], schema=table_schema("documents"))
    assert tables.document_from_row(table.to_pylist()[0]) == DOCUMENT
    table = pa.Table.from_pylist(
        [tables.entity_row(ENTITY, [FACT])], schema=table_schema("entities")
    )
    assert tables.entity_from_row(table.to_pylist()[0]) == ENTITY
    table = pa.Table.from_pylist([tables.fact_row(FACT)], schema=table_schema("facts"))
    assert tables.fact_from_row(table.to_pylist()[0]) == FACT


def test_the_searched_text_holds_title_names_tags_and_body() -> None:
    text = tables.searched_text(document_row(replace(DOCUMENT, body="# A\n\nText\n")))
    assert text.split("\n") == ["A", "Dana", "Łu", "Alpha", "x", "y", "lead", "# A", "", "Text", ""]


@pytest.mark.parametrize(
    ("path", "title", "searched"),
    [
        ("adr/ADR-0031.md", "Use queues", ["ADR-0031"]),
        ("Lindqvist2019-sea.md", "Cold water", ["Lindqvist2019-sea", "lindqvist", "2019"]),
        ("RollbackPlan.md", "Going back", ["RollbackPlan", "rollback", "plan"]),
        ("vanEyck1434.md", "A wedding", ["vanEyck1434", "vaneyck", "1434", "van", "eyck"]),
        ("sea ice.md", "Ice of the north", ["sea ice"]),
        ("だぢづ.md", "kana", ["だぢづ"]),
        ("harbour/index.md", "Who we are", ["harbour"]),
        ("2025-06-04-sea-ice.md", "Sea ice", []),
        ("2025-06-04 talk.md", "Sea ice", ["talk"]),
        ("index.md", "index", []),
        ("sea-ice.md", "Ice, sea and snow", []),
    ],
)
def test_of_the_name_of_a_file_what_the_title_lacks_is_searched(
    path: str, title: str, searched: list[str]
) -> None:
    plain = replace(DOCUMENT, attendees=(), aliases=(), references=(), tags=(), frontmatter={})
    row = document_row(replace(plain, path=path, title=title, body=""))
    assert [text.strip() for text in tables.searched_text(row).split("\n")] == [
        title, *searched, title, "",
    ]  # fmt: skip


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


def test_characters_written_as_entities_are_searched_and_words_keep_their_places() -> None:
    body = "Der M&auml;rz &amp; ein gr&uuml;&szlig;er Tee&nbsp;x\n\nb?a=1&copy=2; c\n"
    text = tables.searched_text(document_row(replace(DOCUMENT, body=body)))
    assert len(text) - text.index("Der") == len(body)
    assert "März" in text and "grüßer" in text and "&copy=2" in text
    for word in ("ein", "Tee", "c\n"):
        assert text.index(word, text.index("Der")) - text.index("Der") == body.index(word)
