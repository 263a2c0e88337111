"""Meetings of a calendar: iCalendar files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

import icalendar

from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
)
from kbx_tui.importing.readers.reading_help import content_id, text_of_file
from kbx_tui.knowledge.parsing.fields import EMAIL
from kbx_tui.knowledge.records import Attendee

_NO_PEOPLE = ("RESOURCE", "ROOM")


def read_calendar(file: SourceFile) -> Imported:
    """Return the events of a calendar file; a repeated one counts once. Raises ValueError."""
    text = text_of_file(file)
    if "BEGIN:VCALENDAR" not in text:
        raise ValueError("it does not hold a VCALENDAR")
    documents: dict[str, ImportedDocument] = {}
    problems = []
    try:
        calendars = icalendar.Calendar.from_ical(text, multiple=True)
        events = [event for calendar in calendars for event in calendar.walk("VEVENT")]
    except (ValueError, IndexError, KeyError) as error:
        raise ValueError(f"it is not a valid calendar: {error}") from error
    for event in events:
        try:
            document = _document(event)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            name = _text(event, "SUMMARY") or "an event"
            problems.append(ImportProblem(file.path, f"{name} cannot be read: {error}"))
            continue
        documents.setdefault(document.import_id, document)
    return Imported(tuple(documents.values()), tuple(problems))


def _document(event: icalendar.cal.Component) -> ImportedDocument:
    title = _text(event, "SUMMARY") or "Meeting"
    start, end = _moment(event, "DTSTART"), _moment(event, "DTEND")
    uid = _text(event, "UID") or content_id(event.to_ical())
    if (recurrence := event.get("RECURRENCE-ID")) is not None:
        uid += f"#{recurrence.dt.isoformat()}"
    fields: dict[str, Any] = {}
    if isinstance(start, datetime):
        hours = start.strftime("%H:%M")
        fields["time"] = f"{hours}-{end.strftime('%H:%M')}" if isinstance(end, datetime) else hours
    for key, name in (("location", "LOCATION"), ("status", "STATUS"), ("url", "URL")):
        if value := _text(event, name):
            fields[key] = value
    if event.get("RRULE") is not None:
        fields["repeats"] = event["RRULE"].to_ical().decode("utf-8", "replace")
    if categories := event.get("CATEGORIES"):
        groups = categories if isinstance(categories, list) else [categories]
        fields["tags"] = [str(name) for group in groups for name in group.cats]
    description = _text(event, "DESCRIPTION")
    day = start.date() if isinstance(start, datetime) else start
    return ImportedDocument(
        import_id=f"ics:{uid}",
        kind="meeting",
        subtype="event",
        title=" ".join(title.split()),
        date=day.isoformat() if day else "",
        attendees=tuple(dict.fromkeys(_people(event))),
        fields=fields,
        body=description.strip() + "\n" if description.strip() else "",
    )


def _moment(event: icalendar.cal.Component, name: str) -> date | None:
    """Return a date or time; one in UTC becomes local time, others stay in their own zone."""
    value = event.get(name)
    moment = value.dt if value is not None else None
    is_utc = isinstance(moment, datetime) and moment.utcoffset() == timedelta(0)
    if isinstance(moment, datetime) and is_utc and "TZID" not in value.params:
        with suppress(OverflowError):  # in year 1 or 9999
            moment = moment.astimezone()
    return moment if isinstance(moment, date) else None


def _people(event: icalendar.cal.Component) -> Iterator[Attendee]:
    for name in ("ORGANIZER", "ATTENDEE"):
        values = event.get(name, [])
        for value in values if isinstance(values, list) else [values]:
            if str(value.params.get("CUTYPE", "")).upper() in _NO_PEOPLE:
                continue
            address = str(value).strip()
            email = address[7:] if address.lower().startswith("mailto:") else address
            email = email if EMAIL.match(email) else ""
            known = str(value.params.get("CN", "")).strip().strip("'\"") or email
            if known:
                yield Attendee(known, email)


def _text(event: icalendar.cal.Component, name: str) -> str:
    value = event.get(name)
    if isinstance(value, list):
        value = value[0] if value else None
    return str(value).strip() if value is not None else ""
