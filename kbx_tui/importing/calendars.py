"""The reader of calendars: iCalendar. It raises ValueError with a reason."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

import icalendar
from icalendar.timezone import tzp

from kbx_tui.formatting import format_count, join_limited
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
_LEFT_OUT = {"VTODO": "to-do", "VJOURNAL": "journal entry", "VFREEBUSY": "busy time"}
_KEPT_AS_TEXT = ("COMMENT", "CONTACT", "RESOURCES", "ATTACH", "CONFERENCE", "X-GOOGLE-CONFERENCE")

_SINGLE = ("SUMMARY", "DESCRIPTION", "LOCATION", "STATUS", "URL")
"""Properties of which an event may have one: another one is kept as text."""


def read_calendar(file: SourceFile) -> Imported:
    """Return the events of a calendar file, for each id the one with the highest SEQUENCE.

    Raises ValueError.
    """
    text = file.text
    if "BEGIN:VCALENDAR" not in text:
        raise ValueError("it does not hold a VCALENDAR")
    newest: dict[str, tuple[int, ImportedDocument]] = {}
    outdated, problems = [], []
    try:
        try:
            calendars = _calendars(text)
        except ValueError:
            text, unread = _without_broken_lines(text)
            calendars = _calendars(text)
            problems = [ImportProblem(file.path, f"left out: {line}") for line in unread]
        events = [(event, each) for each in calendars for event in each.walk("VEVENT")]
        others = Counter(part.name for each in calendars for part in each.walk())
    except (ValueError, IndexError, KeyError) as error:
        raise ValueError(f"it is not a valid calendar: {error}") from error
    for event, calendar in events:
        try:
            document = _event_document(event, _text(calendar, "X-WR-TIMEZONE"))
            version = int(next(iter(_values(event, "SEQUENCE")), 0)), document
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            name = _text(event, "SUMMARY") or "an event"
            problems.append(ImportProblem(file.path, f"{name} cannot be read: {error}"))
            continue
        kept = newest.setdefault(document.import_id, version)
        if kept[1] != document:
            newest[document.import_id] = version if version[0] > kept[0] else kept
            outdated.append((kept if version[0] > kept[0] else version)[1].title)
    left_out = [
        format_count(others[part], name) for part, name in _LEFT_OUT.items() if others[part]
    ]
    if left_out:
        problems.append(ImportProblem(file.path, f"left out: {', '.join(left_out)}"))
    if outdated:
        text = f"{format_count(len(outdated), 'other version')} of events: {join_limited(outdated)}"
        problems.append(ImportProblem(file.path, f"left out: {text}"))
    return Imported(tuple(document for _, document in newest.values()), tuple(problems))


def _calendars(text: str) -> Any:
    with warnings.catch_warnings(action="ignore"):  # the library guesses odd names of zones
        return icalendar.Calendar.from_ical(text, multiple=True)


def _without_broken_lines(text: str) -> tuple[str, list[str]]:
    """Return a text without the lines that are no property, and these lines."""
    kept, broken = [], []
    for line in filter(None, icalendar.parser.Contentlines.from_ical(text)):
        try:
            line.parts()
        except ValueError:
            broken.append(str(line))
        else:
            kept.append(line.to_ical().decode())
    return "\r\n".join(kept), broken


def _event_document(event: icalendar.cal.Component, zone: str) -> ImportedDocument:
    """Return the page of an event, with date and time in `zone`, that of its calendar, if known."""
    title = _text(event, "SUMMARY") or "Meeting"
    start, start_zone = _moment(event, "DTSTART", zone)
    end, _ = _moment(event, "DTEND", zone)
    if end is None and start is not None:
        end = next((start + length.dt for length in _values(event, "DURATION")), None)
    uid = _text(event, "UID") or content_id(event.to_ical())
    for recurrence in _values(event, "RECURRENCE-ID")[:1]:
        uid += f"#{recurrence.dt.isoformat()}"
    fields: dict[str, Any] = {}
    day, last_day = _day(start), _day(end)
    if isinstance(start, datetime):
        hours = start.strftime("%H:%M")
        fields["time"] = f"{hours}-{end.strftime('%H:%M')}" if isinstance(end, datetime) else hours
        if start_zone:
            fields["timezone"] = start_zone
    elif last_day:
        last_day -= timedelta(days=1)  # of a whole day, the end is the day after
    if day and last_day and last_day > day:
        fields["until"] = last_day.isoformat()
    for key, name in (("location", "LOCATION"), ("status", "STATUS"), ("url", "URL")):
        if value := _text(event, name):
            fields[key] = value
    if rules := _values(event, "RRULE"):
        fields["repeats"] = " ".join(rule.to_ical().decode("utf-8", "replace") for rule in rules)
    if groups := _values(event, "CATEGORIES"):
        fields["tags"] = [str(name) for group in groups for name in group.cats]
    others = (
        f"- {name.removeprefix('X-').capitalize()}: {' '.join(str(value).split())}"
        for name in event
        for value in _values(event, name, broken=True)
        if isinstance(value, icalendar.vBroken)
        or (name in _KEPT_AS_TEXT and not isinstance(value, icalendar.vBinary))
        or (name in _SINGLE and str(value).strip() != _text(event, name))
    )
    parts = [_text(event, "DESCRIPTION"), "\n".join(others)]
    body = "\n\n".join(filter(None, parts))
    return ImportedDocument(
        import_id=f"ics:{uid}",
        kind="meeting",
        subtype="event",
        title=" ".join(title.split()),
        date=day.isoformat() if day else "",
        attendees=tuple(dict.fromkeys(_people(event))),
        fields=fields,
        body=body + "\n" if body else "",
    )


def _day(moment: date | None) -> date | None:
    return moment.date() if isinstance(moment, datetime) else moment


def _moment(event: icalendar.cal.Component, name: str, zone: str) -> tuple[date | None, str]:
    """Return a date or time, and the name of its zone, empty for a date or a floating time.

    A time is that in `zone`, the zone of the calendar. Without one, UTC is converted to local time,
    and other times keep their zone.
    """
    value: Any = next(iter(_values(event, name)), None)
    moment = value.dt if value is not None else None
    if not isinstance(moment, datetime):
        return (moment if isinstance(moment, date) else None), ""
    own_zone = str(value.params.get("TZID", ""))
    if moment.tzinfo is None:
        return moment, own_zone  # a name of a zone that nobody knows is kept as it is written
    calendar_zone: tzinfo | None = tzp.timezone(zone) if zone else None
    try:
        if calendar_zone is not None:
            return moment.astimezone(calendar_zone), zone
        if moment.utcoffset() == timedelta(0) and not own_zone:
            moment = moment.astimezone()
            return moment, f"UTC{moment.isoformat()[-len('+00:00') :]}"
    except OverflowError:  # years 1 and 9999
        return moment, "UTC"
    return moment, str(getattr(moment.tzinfo, "key", own_zone))


def _people(event: icalendar.cal.Component) -> Iterator[Attendee]:
    for name in ("ORGANIZER", "ATTENDEE"):
        for value in _values(event, name):
            if str(value.params.get("CUTYPE", "")).upper() in _NO_PEOPLE:
                continue
            address = str(value).strip()
            email = address[7:] if address.lower().startswith("mailto:") else address
            email = email if EMAIL.match(email) else ""
            known = str(value.params.get("CN", "")).strip().strip("'\"") or email
            if known:
                yield Attendee(known, email)


def _values(part: icalendar.cal.Component, name: str, *, broken: bool = False) -> Sequence[Any]:
    """Return the values of a property; those that break the format only if `broken`."""
    value = part.get(name, [])
    values = value if isinstance(value, list) else [value]
    return [each for each in values if broken or not isinstance(each, icalendar.vBroken)]


def _text(part: icalendar.cal.Component, name: str) -> str:
    return next((str(value).strip() for value in _values(part, name)), "")
