"""What an import would write, where several documents are about the same people or paths."""

import re
from pathlib import Path

import pytest
import yaml

from kbx_tui.importing.import_planning import (
    AttendeeMatcher,
    ImportPlanner,
    page_bytes,
    page_stem,
    page_suffix,
    stored_id,
)
from kbx_tui.importing.imported_document import Imported, ImportedDocument
from kbx_tui.importing.okf import ADDED, with_type, without_added_type, write_okf
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import attendees_of, text_of
from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.reading import USUAL, parse_document
from kbx_tui.knowledge.records import Attendee
from kbx_tui.knowledge.written_links import local_address


def meeting(number: int, *attendees: Attendee) -> ImportedDocument:
    return ImportedDocument(f"vtt:{number}", "meeting", f"Meeting {number}", attendees=attendees)


def test_a_person_listed_with_and_without_an_address_gets_one_page() -> None:
    imported = Imported(
        (
            meeting(1, Attendee("Zora Neale")),
            meeting(2, Attendee("Zora Neale", "zora@sea.example"), Attendee("Zora")),
        )
    )
    planner = ImportPlanner("memory/", [], [], lambda path: None, create_people=True)
    plan = planner.plan(imported, AttendeeMatcher([]))
    (page,) = [edit for edit in plan.edits if "/people/" in edit.path]
    assert page.path == "memory/people/zora-neale.md"
    assert b"email: zora@sea.example" in (page.after or b"")


ODD_PAGES = {
    "empty": b"",
    "no final line end": b"# a",
    "byte order mark": b"\xef\xbb\xbf---\ntags: [a]\n---\n# a\n",
    "crlf": b"---\r\ntags: [a]\r\n---\r\n# a\r\n",
    "cr": b"# a\rb\rc",
    "utf-16": "# \u00e9\n".encode("utf-16"),
    "utf-16 without a mark": "# \u00e9\n".encode("utf-16-le"),
    "latin-1": b"---\nname: \xe9\n---\nx\n",
    "empty frontmatter": b"---\n---\n# a\n",
    "a comment alone": b"---\n# comment\n---\n# a\n",
    "a blank after the marks": b"--- \ntags: [a]\n--- \n# a\n",
    "unclosed": b"---\ntags: [a]\n# a\n",
    "not a mapping": b"---\n- a\n---\n# a\n",
    "broken": b"---\ntags: [a\n---\n# a\n",
    "broken with a type": b"---\ntype: note\ntags: [a\n---\n# a\n",
    "a type without a value": b"---\ntype:\ntags: [a]\n---\n# a\n",
    "a type that is a list": b"---\ntype: [a]\n---\n# a\n",
    "a tab": b"---\n\ttags: a\n---\n# a\n",
}


@pytest.mark.parametrize("data", ODD_PAGES.values(), ids=ODD_PAGES)
def test_an_exported_page_states_its_type_and_comes_back_byte_for_byte(data: bytes) -> None:
    exported = with_type(parse_document("memory/notes/a.md", data), data)
    _, head, _ = re.split(r"^---[ \t]*$", decode(exported)[0], maxsplit=2, flags=re.MULTILINE)
    assert yaml.safe_load(head)["type"] == "note"
    assert without_added_type(exported) == data


def test_only_the_line_that_an_export_added_is_taken_out() -> None:
    line = f"type: note {ADDED}\n"
    own_type = f"---\ntype: note\n---\n# Exports\n\n{line}".encode()
    assert without_added_type(own_type) == own_type
    added = f"---\n{line}tags: [a]\n---\n{line}".encode()
    assert without_added_type(added) == f"---\ntags: [a]\n---\n{line}".encode()


@pytest.mark.parametrize(
    "document",
    [
        ImportedDocument("notion:1", "note", "Plan"),
        ImportedDocument("notion:1", "note", "Plan", date="2026-03-17"),
        ImportedDocument("granola:a\u2028b  c", "meeting", "Plan"),
        ImportedDocument("granola:\ud83d", "meeting", "\ud83d", fields={"tags": ["\ud83d"]}),
        meeting(1, Attendee("A\ud83d B", "a@b.example")),
    ],
)
def test_a_page_gives_back_the_id_by_which_it_is_known_to_be_imported(
    document: ImportedDocument,
) -> None:
    data = page_bytes(document)
    page = parse_document(f"memory/{page_stem(document)}.md", data)
    assert text_of(page.frontmatter["import_id"]) == stored_id(document)
    assert b"\nimport_id: " in data  # on a line of its own
    assert len(attendees_of(page.frontmatter)) == len(document.attendees)
    known = [stored_id(document)]
    planner = ImportPlanner("memory/", known, [], lambda path: None, create_people=False)
    assert planner.plan(Imported((document,)), AttendeeMatcher([])).present == 1


@pytest.mark.parametrize("title", ["word " * 100, "漢" * 300, "ﷺ" * 90])
@pytest.mark.parametrize("stem", ["", "from the title"])
def test_names_made_from_long_titles_are_taken_by_every_file_system(title: str, stem: str) -> None:
    document = ImportedDocument(
        "notion:1",
        "note",
        title,
        date="2026-03-17",
        subtype="transcript",
        folder=f"notion/{slug(title)}",
        stem=slug(title) if stem else "",
    )
    *folders, name = f"{page_stem(document)}{page_suffix(document)}".split("/")
    assert max(len(folder.encode()) for folder in folders) <= 255
    assert len(name.encode()) <= 255 - len("-12345..kbx-edit")


def test_the_index_of_an_export_leads_to_every_page(tmp_path: Path) -> None:
    names = ("C# (new).md", "50%.md", "what?.md", "a b.md", "é/[x].md", "日本.md")
    pages = [(f"memory/{name}", b"---\ntype: note\n---\n# [T](x)\n") for name in names]
    write_okf(tmp_path / "out", pages, frozenset(), USUAL, include_redacted=False)
    index = (tmp_path / "out" / "index.md").read_text(encoding="utf-8")
    links = [local_address(link) for link in re.findall(r"\]\((.*)\)", index)]
    assert sorted(page.removeprefix("./") for page, _ in links) == sorted(names)
