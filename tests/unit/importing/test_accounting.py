"""An import accounts for every line: it is read, kept as text, or named as left out."""

import json
import re
from itertools import product
from string import ascii_lowercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.importing.import_formats import read_documents
from kbx_tui.importing.import_planning import page_bytes, page_stem
from kbx_tui.importing.imported_document import Format, ImportedDocument, SourceFile

FILES: dict[Format, tuple[str, str]] = {
    "vtt": ("a.vtt", "WEBVTT\n\n1\n0:01.0 --> 0:02.0\n<v Rosa>_</v>\n\n0:02.0 --> 0:03.0\nA: _\n_"),
    "srt": ("a.srt", "1\n0:01,0 --> 0:02,0\nRosa: _\n_\n\n2\n0:02,0 --> 0:03,0\n[_]\n"),
    "otter": ("a.txt", "Talk _\nMar 17, 2026 9:00AM • 5 min\n\nRosa  0:00\n_ 9:15\n\nTim  0:12\n_"),
    "fathom": ("a.txt", "Talk _\nVIEW RECORDING - 5 min: https://_\n\n0:00 - Ann\n_\n0:09 - B\n _"),
    "notion": ("A.md", "# Trip _\n\nStatus: _\nOwner: _\nTags: _, _\n\n_\n\n- [_](_.md)\n"),
    "logseq": ("A.md", "title:: _\ntags:: _, [[_]]\n\n- TODO _\n\t- _\n\t  note:: _\n  id:: 1\n"),
    "ics": ("a.ics", "BEGIN:VCALENDAR\nX-WR-CALDESC:_\nBEGIN:VEVENT\nSUMMARY:_\nLOCATION:_\n"
            "DESCRIPTION:_\n _\nCONTACT:_\nEND:VEVENT\nEND:VCALENDAR\n"),
    "vcard": ("a.vcf", "BEGIN:VCARD\nFN:_\nN:_;_;;;\nORG:_;_\nNOTE:_\n _\nX-SITE:_\nEND:VCARD"),
}  # fmt: skip
"""A file of each format, with a word of its own for each `_`."""

EXPORTS = {
    "fathom": {
        "items": [
            {
                "recording_id": 7,
                "title": "The _",
                "meeting_title": "The _",
                "url": "https://fathom.video/7",
                "created_at": "2026-03-17T09:00:00Z",
                "transcript_language": "en",
                "calendar_invitees_domains_type": "one_or_more_external",
                "calendar_invitees": [{"name": "Ann _", "email": "ann@a.example"}],
                "recorded_by": {"name": "Tim _", "team": "The _"},
                "transcript": [{"speaker": {"display_name": "Ann _"}, "text": "We _"}],
                "default_summary": {"template_name": "The _", "markdown_formatted": "- we _"},
                "action_items": [{"description": "Do _", "assignee": {"name": "Tim _"}}],
                "crm_matches": {
                    "contacts": [{"name": "Bo _", "record_url": "https://a.example/_"}],
                    "companies": [{"name": "Dock"}],
                    "deals": [{"name": "The _", "amount": 7}],
                },
            }
        ]
    },
    "granola": {
        "notes": [
            {
                "id": "not_1",
                "title": "The _",
                "created_at": "2026-03-17T09:00:00Z",
                "owner": {"name": "Ann _", "email": "ann@a.example"},
                "attendees": [{"name": "Bo _", "email": "bo@a.example"}],
                "calendar_event": {"event_title": "The _", "organiser": "tim@a.example"},
                "folder_membership": [{"id": "fol_1", "object": "folder", "name": "The _"}],
                "summary_text": "We _",
                "summary_markdown": "## We _",
                "notes": {"type": "doc", "content": [{"type": "paragraph", "content": [
                    {"type": "text", "text": "Sail _"}]}]},
                "transcript": [{"source": "microphone", "text": "We _"}],
                "chapters": [{"title": "The _", "timestamp": "2026-03-17T09:05:00Z"}],
            }
        ]
    },
    "chatgpt": [
        {
            "id": "c1",
            "title": "The _",
            "create_time": 1773738000,
            "gizmo_id": None,
            "memory_scope": "global_enabled",
            "about": {"user": "I _"},
            "mapping": {"a": {"message": {"author": {"role": "user"}, "content": {
                "content_type": "text", "parts": ["How _"]}}}},
        }
    ],
    "claude": [
        {
            "uuid": "c2",
            "name": "The _",
            "summary": "We _",
            "created_at": "2026-03-17T09:00:00Z",
            "project": {"name": "The _"},
            "chat_messages": [{"sender": "human", "text": "How _", "content": []}],
        }
    ],
}  # fmt: skip
"""Exports in JSON with all of their fields, and a word of its own for each `_`."""
LEFT_OUT = {
    "fathom": "1 crm_matches.companies.name, 1 crm_matches.contacts.name, 1 crm_matches.deals.name,"
    " 1 default_summary.template_name, 1 meeting_title, 1 recorded_by.team",
    "granola": "1 calendar_event.event_title, 1 chapters.title, 1 folder_membership.name,"
    " 1 summary_text",
    "chatgpt": "1 about.user",
    "claude": "1 project.name",
}

ODD_LINES = (
    "",
    "---",
    "{}",
    "0:05 - {}",
    "{}: {}",
    "- {}",
    "# {}",
    "<b {}",
    "NOTE:{}",
    "7",
    "a{}é",
)
edits = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 99), st.integers(0, 99)), max_size=5)
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"])
line_ends = st.sampled_from(["\n", "\r\n", "\r"])


def edited(lines: list[str], edit: tuple[int, int, int]) -> list[str]:
    """Return lines of which one is doubled, dropped, stripped, moved, or has another one above."""
    kind, first, second = edit
    at = first % len(lines)
    before, line, after = lines[:at], lines[at], lines[at + 1 :]
    if line.startswith(("BEGIN", "END", "WEBVTT")):
        return lines
    match kind:
        case 0:
            return [*before, line, line, *after]
        case 1:
            return [*before, *after]
        case 2:
            return [*before, line.strip(), *after]
        case 3 if after and not after[0].startswith(("BEGIN", "END")):
            return [*before, after[0], line, *after[1:]]
        case _:
            return [*before, ODD_LINES[second % len(ODD_LINES)].replace("{}", "_"), line, *after]


@pytest.mark.parametrize("form", FILES)
@given(edits, encodings, line_ends)
@settings(max_examples=60)
def test_no_line_of_a_changed_file_vanishes(
    form: Format, changes: list[tuple[int, int, int]], encoding: str, line_end: str
) -> None:
    name, text = FILES[form]
    lines = text.split("\n")
    for change in changes:
        lines = edited(lines, change)
    words = map("".join, product(("qz",), ascii_lowercase, ascii_lowercase))
    lines = [re.sub("_", lambda _: next(words), line) for line in lines]
    data = line_end.join(lines).encode(encoding)
    try:
        found = read_documents([SourceFile(name, data, "2026-03-17")], form)
    except ConfigError:
        return  # the whole file is named
    pages = [each for each in found.documents if isinstance(each, ImportedDocument)]
    shown = [page_bytes(page).decode() + page_stem(page) + page.import_id for page in pages]
    shown += [problem.reason for problem in found.problems]
    written, kept = (set(re.findall("qz..", "\n".join(each).lower())) for each in (lines, shown))
    assert not pages or written <= kept


@pytest.mark.parametrize("form", EXPORTS)
def test_fields_of_json_that_are_in_no_page_are_named(form: Format) -> None:
    words = map("".join, product(("qz",), ascii_lowercase, ascii_lowercase))
    data = re.sub(r"(?<= )_", lambda _: next(words), json.dumps(EXPORTS[form])).encode()
    found = read_documents([SourceFile("a.json", data, "2026-03-17")])
    assert [problem.reason for problem in found.problems] == [f"fields left out: {LEFT_OUT[form]}"]


def test_fields_that_a_page_has_with_their_tags_are_not_named() -> None:
    turns = [{"speaker": {"display_name": "Ann"}, "text": "<em>more</em> tea"}]
    meeting = {"recording_id": 7, "title": "plan & <b>goals</b>", "transcript": turns}
    found = read_documents([SourceFile("a.json", json.dumps([meeting]).encode(), "2026-03-17")])
    (page,) = found.documents
    assert isinstance(page, ImportedDocument)
    assert page.title == meeting["title"]
    assert "<em>more</em> tea" in page.body
    assert found.problems == ()
