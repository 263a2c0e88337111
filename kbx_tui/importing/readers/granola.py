"""Notes of Granola: the JSON of its API and of its local store, and markdown of exporters."""

from __future__ import annotations

import json
from typing import Any

from kbx_tui.importing.imported_document import ImportedDocument, SourceFile
from kbx_tui.importing.readers.reading_help import (
    Turn,
    date_in_name,
    local_date,
    objects_in,
    speech,
    text_in,
    text_of_file,
    title_in_name,
)
from kbx_tui.knowledge.parsing.fields import attendees_of, text_of
from kbx_tui.knowledge.parsing.frontmatter import read_frontmatter
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Attendee

_SOURCES = {"microphone": "Me", "system": "Others", "speaker": "Others"}
_ID_KEYS = ("granola_id", "granola-id", "doc_id")


def is_granola_json(data: object) -> bool:
    """Return whether JSON holds notes of Granola."""
    notes, _ = _notes(data)
    return bool(notes) and any(
        {"notes_markdown", "notes_plain", "summary_markdown", "summary_text"} & note.keys()
        for note in notes
    )


def is_granola_markdown(file: SourceFile) -> bool:
    """Return whether a page was written by an exporter, which names the note's id."""
    values = read_frontmatter(text_of_file(file)).values
    return any(text_of(values.get(key)) for key in _ID_KEYS)


def read_granola_markdown(file: SourceFile) -> list[ImportedDocument]:
    """Return the note of one page."""
    page = parse_document(file.path, file.data)
    note_id = next(filter(None, (text_of(page.frontmatter.get(key)) for key in _ID_KEYS)))
    date = page.date or local_date(text_of(page.frontmatter.get("created_at")))
    return [
        ImportedDocument(
            import_id=f"granola:{note_id}",
            kind="meeting",
            subtype="notes",
            title=page.title,
            date=date or local_date(text_of(page.frontmatter.get("created"))) or file.modified,
            attendees=attendees_of(page.frontmatter),
            body=page.body,
        )
    ]


def read_granola_json(file: SourceFile, data: object) -> list[ImportedDocument]:
    """Return the notes of JSON. Deleted ones and those without text are left out."""
    notes, transcripts = _notes(data)
    documents = []
    for note in notes:
        turns = _turns(note.get("transcript") or transcripts.get(str(note.get("id"))))
        text = text_in(note, "notes_markdown", "summary_markdown", "summary_text", "notes_plain")
        parts = [text + "\n" if text else "", speech(turns)]
        if note.get("deleted_at") or not any(parts):
            continue
        documents.append(
            ImportedDocument(
                import_id=f"granola:{note.get('id')}",
                kind="meeting",
                subtype="notes" if text else "transcript",
                title=text_in(note, "title") or title_in_name(file.stem),
                date=_date(note) or date_in_name(file.path) or file.modified,
                attendees=tuple(_attendees(note)),
                body="\n## Transcript\n\n".join(filter(None, parts)),
            )
        )
    return documents


def _notes(data: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the notes of JSON in any of its forms, and transcripts by id of note."""
    if isinstance(data, dict) and isinstance(data.get("cache"), str | dict):
        try:
            inner = data["cache"]
            data = json.loads(inner) if isinstance(inner, str) else inner
        except (ValueError, RecursionError):
            return [], {}
    if isinstance(data, dict) and isinstance(data.get("state"), dict):
        data = data["state"]
    transcripts: dict[str, Any] = {}
    if isinstance(data, dict):
        found = data.get("transcripts")
        transcripts = found if isinstance(found, dict) else {}
        for key in ("documents", "docs", "notes"):
            if isinstance(data.get(key), list | dict) and not _is_note(data):
                data = data[key]
                break
    if isinstance(data, dict) and not _is_note(data):
        data = list(data.values())
    return [note for note in objects_in(data) if _is_note(note)], transcripts


def _is_note(record: dict[str, Any]) -> bool:
    return isinstance(record.get("id"), str) and "title" in record and "created_at" in record


def _date(note: dict[str, Any]) -> str:
    """Return the date of the meeting, else that of the note."""
    for key in ("calendar_event", "google_calendar_event"):
        event = note.get(key)
        start = event.get("start") if isinstance(event, dict) else None
        moment = text_in(event, "scheduled_start_time", "start_time") or text_in(
            start, "dateTime", "date"
        )
        if day := local_date(moment):
            return day
    return local_date(text_in(note, "created_at"))


def _attendees(note: dict[str, Any]) -> list[Attendee]:
    people = note.get("people")
    groups: list[object] = [note.get("attendees")]
    if isinstance(people, dict):
        groups += [people.get("attendees"), people.get("creator")]
    else:
        groups.append(people)
    event = note.get("google_calendar_event")
    if isinstance(event, dict):
        groups.append(event.get("attendees"))
    attendees: dict[str, Attendee] = {}
    for person in (person for group in groups for person in objects_in(group)):
        email = text_in(person, "email")
        name = text_in(person, "name", "displayName") or _detailed_name(person) or email
        if name:
            attendees.setdefault(email.lower() or name, Attendee(name, email))
    return list(attendees.values())


def _detailed_name(person: dict[str, Any]) -> str:
    details = person.get("details")
    details = details.get("person") if isinstance(details, dict) else None
    name = details.get("name") if isinstance(details, dict) else None
    return text_in(name, "fullName") if isinstance(name, dict) else ""


def _turns(entries: object) -> list[Turn]:
    turns: list[Turn] = []
    if isinstance(entries, dict):
        entries = entries.get("entries")
    for entry in objects_in(entries):
        speaker = entry.get("speaker")
        source = text_in(entry, "source") or text_in(speaker, "source")
        name = text_in(speaker, "name", "diarization_label") or _SOURCES.get(source, source)
        turns.append((name, text_in(entry, "text")))
    return turns
