"""Meetings of a calendar (iCalendar) and people of an address book (vCard)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

import icalendar
import vobject
from vobject.base import Component, VObjectError

from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportProblem,
    SourceFile,
    content_id,
)
from kbx_tui.knowledge.fields import EMAIL
from kbx_tui.knowledge.records import Attendee

_NO_PEOPLE = ("RESOURCE", "ROOM")


def read_calendar(file: SourceFile) -> Imported:
    """Return the events of a calendar file; a repeated one counts once. Raises ValueError."""
    text = file.text
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
            document = _event_document(event)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            name = _event_text(event, "SUMMARY") or "an event"
            problems.append(ImportProblem(file.path, f"{name} cannot be read: {error}"))
            continue
        documents.setdefault(document.import_id, document)
    return Imported(tuple(documents.values()), tuple(problems))


def _event_document(event: icalendar.cal.Component) -> ImportedDocument:
    title = _event_text(event, "SUMMARY") or "Meeting"
    start, end = _moment(event, "DTSTART"), _moment(event, "DTEND")
    uid = _event_text(event, "UID") or content_id(event.to_ical())
    if (recurrence := event.get("RECURRENCE-ID")) is not None:
        uid += f"#{recurrence.dt.isoformat()}"
    fields: dict[str, Any] = {}
    if isinstance(start, datetime):
        hours = start.strftime("%H:%M")
        fields["time"] = f"{hours}-{end.strftime('%H:%M')}" if isinstance(end, datetime) else hours
    for key, name in (("location", "LOCATION"), ("status", "STATUS"), ("url", "URL")):
        if value := _event_text(event, name):
            fields[key] = value
    if event.get("RRULE") is not None:
        fields["repeats"] = event["RRULE"].to_ical().decode("utf-8", "replace")
    if categories := event.get("CATEGORIES"):
        groups = categories if isinstance(categories, list) else [categories]
        fields["tags"] = [str(name) for group in groups for name in group.cats]
    description = _event_text(event, "DESCRIPTION")
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


def _event_text(event: icalendar.cal.Component, name: str) -> str:
    value = event.get(name)
    if isinstance(value, list):
        value = value[0] if value else None
    return str(value).strip() if value is not None else ""


_UNREADABLE = (VObjectError, ValueError, TypeError, AttributeError, LookupError)
"""What the library raises for broken cards, such as one in an unknown encoding."""


def read_contacts(file: SourceFile) -> Imported:
    text = file.text
    if "BEGIN:VCARD" not in text.upper():
        raise ValueError("it does not hold a VCARD")
    documents, problems = [], []
    for number, card in enumerate(_cards(text), 1):
        try:
            documents.append(_person(vobject.readOne(card, allowQP=True)))
        except _UNREADABLE as error:
            problems.append(ImportProblem(file.path, f"card {number} cannot be read: {error}"))
    return Imported(tuple(documents), tuple(problems))


def _cards(text: str) -> list[str]:
    """Return the text of each card, so that a broken one does not hide the others."""
    cards: list[list[str]] = []
    for line in text.split("\n"):
        if line.strip().upper() == "BEGIN:VCARD":
            cards.append([])
        if cards:
            cards[-1].append(line)
    return ["\n".join(lines).strip() + "\n" for lines in cards]


def _person(card: Component) -> ImportedDocument:
    emails = [email for line in card.contents.get("email", []) if (email := _line_text(line))]
    emails = list(dict.fromkeys(email for email in emails if EMAIL.match(email)))
    name = _name(card)
    if not name:
        raise ValueError("it has no name")
    fields: dict[str, Any] = {}
    if aliases := [alias for alias in _texts(card, "nickname") if alias != name]:
        fields["aliases"] = aliases
    if emails:
        fields["email"] = emails[0]
    if emails[1:]:
        fields["emails"] = emails
    if role := next(iter(_texts(card, "title") or _texts(card, "role")), ""):
        fields["role"] = role
    if organisation := card.contents.get("org"):
        units = [str(unit).strip() for unit in organisation[0].value if str(unit).strip()]
        if units:
            fields["company"] = units[0]
        if units[1:]:
            fields["team"] = units[1]
    if phones := _texts(card, "tel"):
        fields["phone"] = phones if phones[1:] else phones[0]
    notes = "\n\n".join(_texts(card, "note"))
    uid = next(iter(_texts(card, "uid")), "") or content_id("\0".join([name, *emails]).encode())
    return ImportedDocument(
        import_id=f"vcard:{uid}",
        kind="person",
        title=name,
        fields=fields,
        body=notes + "\n" if notes else "",
    )


def _name(card: Component) -> str:
    """Return the formatted name, else one made from its parts, else nothing."""
    if names := _texts(card, "fn"):
        return " ".join(names[0].split())
    for line in card.contents.get("n", []):
        parts = (getattr(line.value, part, "") for part in ("given", "additional", "family"))
        if name := " ".join(" ".join(str(part).split()) for part in parts if part).strip():
            return name
    return ""


def _texts(card: Component, key: str) -> list[str]:
    values = (line.value for line in card.contents.get(key, []))
    flat = (part for value in values for part in (value if isinstance(value, list) else [value]))
    return [text for part in flat if (text := str(part).strip())]


def _line_text(line: Any) -> str:
    return str(line.value).strip()
