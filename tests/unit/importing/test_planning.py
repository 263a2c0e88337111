"""What an import would write, where several documents are about the same people or paths."""

from __future__ import annotations

from kbx_tui.importing.attendee_matching import AttendeeMatcher
from kbx_tui.importing.import_planning import ImportPlanner
from kbx_tui.importing.imported_document import Imported, ImportedDocument
from kbx_tui.importing.readers.open_knowledge_format import ADDED, without_added_type
from kbx_tui.knowledge.records import Attendee


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


def test_only_the_line_that_an_export_added_is_taken_out() -> None:
    line = f"type: note {ADDED}\n"
    own_type = f"---\ntype: note\n---\n# Exports\n\n{line}".encode()
    assert without_added_type(own_type) == own_type
    added = f"---\n{line}tags: [a]\n---\n{line}".encode()
    assert without_added_type(added) == f"---\ntags: [a]\n---\n{line}".encode()
