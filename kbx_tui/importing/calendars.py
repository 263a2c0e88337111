"""The reader of calendars: iCalendar. It raises ValueError with a reason."""

from __future__ import annotations

import html
import re
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
_PARTS_READ = frozenset({"VCALENDAR", "VEVENT", "VTIMEZONE", "STANDARD", "DAYLIGHT"})
_LEFT_OUT = {
    "VTODO": "to-do", "VJOURNAL": "journal entry", "VFREEBUSY": "busy time", "VALARM": "reminder",
    "VAVAILABILITY": "availability", "AVAILABLE": "available time",
}  # fmt: skip
_READ = frozenset(
    {"ATTENDEE", "CATEGORIES", "DTEND", "DTSTART", "DURATION", "ORGANIZER", "RECURRENCE-ID",
     "RRULE", "UID"}
)  # fmt: skip
_BOOKKEEPING = frozenset(
    {"ACKNOWLEDGED", "CLASS", "CREATED", "DTSTAMP", "IMAGE", "LAST-MODIFIED", "PRIORITY",
     "REQUEST-STATUS", "SEQUENCE", "TRANSP"}
)  # fmt: skip
_OF_PROGRAMS = re.compile(
    "X-(?:ALT-DESC|APPLE|CALENDARSERVER|EVOLUTION|GOOGLE|KDE|LIC|LOTUS|MICROSOFT|MOZ(?:ILLA)?|MS"
    r"|NEXTCLOUD|OUTLOOK|RADICALE|RIM|WR|YAHOO|ZIMBRA)\b(?!-(?:CONFERENCE|SKYPETEAMSMEETINGURL)$)"
)
"""Properties that say nothing of an event: those of the format, and those of known programs."""
_SAID_OF_CALENDAR = "X-WR-CALDESC"
_READ_OF_CALENDAR = _BOOKKEEPING | {
    "CALSCALE", "COLOR", "METHOD", "NAME", "PRODID", "REFRESH-INTERVAL", "SOURCE", "UID", "VERSION",
}  # fmt: skip
_LABELS = {"RDATE": "Also on", "EXDATE": "Not on"}
_FORMATTED, _ESCAPED = "X-ALT-DESC", re.compile(r"\\([,;\\])")
_TAG = re.compile(r"<(?:style|script)\b[^<]*</[^<>]*>|<[^<>]*>", re.IGNORECASE)

_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, OverflowError)
"""Exceptions of the library, and of moments that no calendar has."""

_SINGLE = ("SUMMARY", "DESCRIPTION", "LOCATION", "STATUS", "URL")
"""Properties of which an event may have one: another one is kept as text."""


def read_calendar(file: SourceFile) -> Imported:
    """Return the events of a calendar file, for each id the one with the highest SEQUENCE.

    Raises ValueError.
    """
    whole = file.unfolded
    text = _closed(whole)
    if not text:
        raise ValueError("it does not hold a VCALENDAR")
    newest: dict[str, tuple[int, ImportedDocument]] = {}
    outdated, problems = [], []
    if text != whole:
        problems.append(ImportProblem(file.path, "it is a part of a calendar: all of it is read"))
    try:
        if (calendars := _whole_calendars(text)) is None:
            text, unread = _without_broken_parts(text)
            calendars = _calendars(text)
            problems += [ImportProblem(file.path, f"left out: {line}") for line in unread]
        events = [(event, each) for each in calendars for event in each.walk("VEVENT")]
        others = Counter(str(part.name) for each in calendars for part in each.walk())
        said = [
            f"{name}: {_written(value)}"
            for calendar in calendars
            for each in calendar.walk("VCALENDAR")
            for name in each
            if name == _SAID_OF_CALENDAR or not name.startswith("X-")
            for value in _values(each, name, broken=True)
            if name not in _READ_OF_CALENDAR
        ]
    except _UNREADABLE as error:
        raise ValueError(f"it is not a valid calendar: {error}") from error
    for event, calendar in events:
        try:
            document = _event_document(event, calendar)
            version = int(next(iter(_values(event, "SEQUENCE")), 0)), document
        except _UNREADABLE as error:
            name = _text(event, "SUMMARY") or "an event"
            problems.append(ImportProblem(file.path, f"{name} cannot be read: {error}"))
            continue
        kept = newest.setdefault(document.import_id, version)
        if kept[1] != document:
            newest[document.import_id] = version if version[0] > kept[0] else kept
            outdated.append((kept if version[0] > kept[0] else version)[1].title)
    left_out = [
        format_count(count, _LEFT_OUT.get(part, part))
        for part, count in others.items()
        if part not in _PARTS_READ
    ]
    problems += [
        ImportProblem(file.path, f"left out: {text}")
        for text in (*said, *([", ".join(left_out)] if left_out else []))
    ]
    if outdated:
        text = f"{format_count(len(outdated), 'other version')} of events: {join_limited(outdated)}"
        problems.append(ImportProblem(file.path, f"left out: {text}"))
    if not (newest or problems):
        problems.append(ImportProblem(file.path, "it is a calendar without events"))
    return Imported(tuple(document for _, document in newest.values()), tuple(problems))


_EDGE = re.compile(r"^(BEGIN|END):[ \t]*([\w-]{1,60})[ \t]*$", re.MULTILINE)


_DEEPEST = 50


def _closed(text: str) -> str:
    """Return a text as a whole calendar if it ends early or holds events alone, else as it is.

    Empty if it holds neither a calendar nor an event.
    """
    first, opened = "", list[str]()
    for edge, part in _EDGE.findall(text):
        first = first or part
        if edge == "BEGIN":
            opened.append(part)
            if len(opened) > _DEEPEST:
                return text
        else:
            del opened[opened.index(part) if part in opened else -1 :]
    if first not in ("VCALENDAR", "VEVENT"):
        return ""
    ends = "".join(f"\nEND:{part}" for part in reversed(opened))
    whole = f"{text.rstrip()}{ends}\n" if opened else text
    return whole if first == "VCALENDAR" else f"BEGIN:VCALENDAR\n{whole.rstrip()}\nEND:VCALENDAR\n"


def _whole_calendars(text: str) -> Any:
    """Return the calendars of a text, None if a line breaks the format."""
    try:
        calendars = _calendars(text)
    except _UNREADABLE:
        return None
    parts = (part for each in calendars for part in each.walk())
    is_broken = any(name is None for part in parts for name, _ in part.errors)
    return None if is_broken else calendars


def _calendars(text: str) -> Any:
    with warnings.catch_warnings(action="ignore"):  # the library guesses odd names of zones
        return icalendar.Calendar.from_ical(text, multiple=True)


_ZONE_OR_REMINDER = re.compile(
    r"^BEGIN:(VTIMEZONE|VALARM)\b(?:[^\n]*\n(?!BEGIN:\1))*?END:\1\s*", re.MULTILINE
)


def _without_broken_parts(text: str) -> tuple[str, list[str]]:
    """Return a text without the zones, reminders and lines that break the format, and these."""
    kept, broken = [], []

    def readable(part: re.Match[str]) -> str:
        try:
            _calendars(f"BEGIN:VCALENDAR\n{part[0].rstrip()}\nEND:VCALENDAR\n")
        except _UNREADABLE as error:
            broken.append(f"a {'time zone' if part[1] == 'VTIMEZONE' else 'reminder'}: {error}")
            return ""
        return part[0]

    text = _ZONE_OR_REMINDER.sub(readable, text)
    for line in filter(None, icalendar.parser.Contentlines.from_ical(text)):
        try:
            line.parts()
        except ValueError:
            broken.append(str(line))
        else:
            kept.append(line.to_ical().decode())
    return "\r\n".join(kept), broken


def _event_document(
    event: icalendar.cal.Component, calendar: icalendar.cal.Component
) -> ImportedDocument:
    """Return the page of an event, with date and time in the zone of its calendar, if known."""
    zone = _text(calendar, "X-WR-TIMEZONE")
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
    if name := _text(calendar, "NAME") or _text(calendar, "X-WR-CALNAME"):
        fields["calendar"] = name
    if groups := _values(event, "CATEGORIES"):
        fields["tags"] = [str(name) for group in groups for name in group.cats]
    others = (
        f"- {_LABELS.get(name) or name.removeprefix('X-').capitalize()}: {_written(value)}"
        for name in event
        for value in _values(event, name, broken=True)
        if isinstance(value, icalendar.vBroken)
        or (_is_kept(name) and not isinstance(value, icalendar.vBinary))
        or (name in _SINGLE and str(value).strip() != _text(event, name))
    )
    formatted = html.unescape(_TAG.sub(" ", _ESCAPED.sub(r"\1", _text(event, _FORMATTED))))
    parts = [_text(event, "DESCRIPTION") or " ".join(formatted.split()), "\n".join(others)]
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


def _is_kept(name: str) -> bool:
    is_known = name in _READ or name in _BOOKKEEPING or name in _SINGLE
    return not (is_known or _OF_PROGRAMS.match(name))


def _written(value: Any) -> str:
    written = str(value) if isinstance(value, str) else value.to_ical()
    text = written.decode("utf-8", "replace") if isinstance(written, bytes) else written
    return " ".join(text.split())


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
