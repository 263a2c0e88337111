"""Meetings of Fathom: the text of its transcripts, and the JSON of its API."""

from __future__ import annotations

import re
from typing import Any

from kbx_tui.importing.imported_document import ImportedDocument, SourceFile
from kbx_tui.importing.readers.reading_help import (
    Turn,
    content_id,
    date_in_name,
    local_date,
    objects_in,
    speakers,
    speech,
    split_transcript,
    text_in,
    text_of_file,
    title_in_name,
)
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.records import Attendee

_TURN = re.compile(r"^(?:\d{1,2}:)?\d{1,2}:\d{2}\s+-\s+(?P<name>[^\n(]+)(?:\([^)]*\)\s*)?$")
_LINK = re.compile(r"https://fathom\.video/\S+")
_DAY = re.compile(r"\w+ \d{1,2}, \d{4}")


def looks_like_fathom(text: str) -> bool:
    """Return whether a text has the turns of such a transcript: `0:12 - Name (Company)`."""
    return any(_TURN.match(line) for line in text.split("\n")[:400])


def is_fathom_json(data: object) -> bool:
    """Return whether JSON is one meeting of the API, a list or a page of them."""
    meetings = _meetings(data)
    return bool(meetings) and all("recording_id" in meeting for meeting in meetings)


def read_fathom_text(file: SourceFile) -> list[ImportedDocument]:
    """Return the transcript of a text file. Raises ValueError with a reason."""
    before, turns = split_transcript(text_of_file(file).split("\n"), _TURN)
    if not turns:
        raise ValueError("it has no lines such as `0:12 - Alice Chen`")
    head = [line.strip().lstrip("# ") for line in before if line.strip(" -\t")]
    title = head[0] if head and not _LINK.search(head[0]) else title_in_name(file.stem)
    day, (before_day, _, last) = "", title.rpartition(" - ")
    if before_day and _DAY.fullmatch(last.strip()):
        title, day = before_day.strip(), iso_date(last.strip())
    link = next((found[0] for line in head if (found := _LINK.search(line))), "")
    return [
        ImportedDocument(
            import_id=f"fathom:{content_id(link.encode() or file.data)}",
            kind="meeting",
            subtype="transcript",
            title=title,
            date=day or date_in_name(file.path) or file.modified,
            attendees=speakers(turns),
            fields={"url": link} if link else {},
            body=speech(turns),
        )
    ]


def read_fathom_json(data: object) -> list[ImportedDocument]:
    """Return the meetings of the API's JSON."""
    return [_document(meeting) for meeting in _meetings(data)]


def _meetings(data: object) -> list[dict[str, Any]]:
    return objects_in(data["items"] if isinstance(data, dict) and "items" in data else data)


def _document(meeting: dict[str, Any]) -> ImportedDocument:
    turns: list[Turn] = []
    emails: dict[str, str] = {}
    for line in objects_in(meeting.get("transcript")):
        speaker = line.get("speaker")
        name = text_in(speaker, "display_name")
        emails.setdefault(name, text_in(speaker, "matched_calendar_invitee_email"))
        turns.append((name, text_in(line, "text")))
    invited = []
    for person in objects_in(meeting.get("calendar_invitees")):
        email = text_in(person, "email")
        invited.append(Attendee(text_in(person, "name") or email, email))
    known = {attendee.email for attendee in invited if attendee.email}
    named = {attendee.name for attendee in invited}
    extra = [
        Attendee(who.name, emails.get(who.name, ""))
        for who in speakers(turns)
        if who.name not in named and emails.get(who.name) not in known
    ]
    link = text_in(meeting, "share_url", "url")
    summary = text_in(meeting.get("default_summary"), "markdown_formatted")
    return ImportedDocument(
        import_id=f"fathom:{meeting['recording_id']}",
        kind="meeting",
        subtype="transcript" if turns else "summary",
        title=text_in(meeting, "title", "meeting_title") or f"Meeting {meeting['recording_id']}",
        date=local_date(
            text_in(meeting, "scheduled_start_time", "recording_start_time", "created_at")
        ),
        attendees=tuple(attendee for attendee in (*invited, *extra) if attendee.name),
        fields={"url": link} if link else {},
        body="\n".join(filter(None, (summary and summary + "\n", _items(meeting), speech(turns)))),
    )


def _items(meeting: dict[str, Any]) -> str:
    lines = []
    for item in objects_in(meeting.get("action_items")):
        who = text_in(item.get("assignee"), "name")
        mark = "x" if item.get("completed") is True else " "
        text = " ".join(text_in(item, "description").split())
        if text:
            lines.append(f"- [{mark}] {who + ': ' if who else ''}{text}")
    return "\n".join(["## Action items", "", *lines, ""]) if lines else ""
