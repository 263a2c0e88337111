"""Readers of calendars and contacts: iCalendar and vCard. They raise ValueError with a reason."""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

import icalendar
from icalendar.timezone import tzp
from vobject.base import ContentLine, VObjectError, textLineToContentLine

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
        with warnings.catch_warnings(action="ignore"):  # the library guesses odd names of zones
            calendars = icalendar.Calendar.from_ical(text, multiple=True)
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


_UNREADABLE = (VObjectError, ValueError, TypeError, AttributeError, LookupError)
"""Exceptions of the library for broken lines, such as one in an unknown encoding."""

_PROPERTY = re.compile(r"[\w-]+(?:\.[\w-]+)?[;:]")
_CHARACTER = re.compile(r"\\(?P<escaped>.)|.", re.DOTALL)
_LABEL_OF_APPLE = re.compile(r"_\$!<(.*)>!\$_")
_FIELDS = frozenset(
    {"adr", "bday", "categories", "email", "fn", "n", "nickname", "note", "org", "role", "tel",
     "title", "uid", "url"}
)  # fmt: skip
_BOOKKEEPING = frozenset(
    {"begin", "class", "clientpidmap", "end", "key", "kind", "label", "logo", "mailer", "photo",
     "prodid", "rev", "sort-string", "sound", "source", "version", "x-abadr", "x-ablabel",
     "x-abshowas", "x-abuid"}
)  # fmt: skip
"""Properties that say nothing of a person, and pictures, sounds and keys."""

Properties = dict[str, list[ContentLine]]


def read_contacts(file: SourceFile) -> Imported:
    """Return the people of an address book; organisations without a name of a person as notes."""
    text = file.text
    if "BEGIN:VCARD" not in text.upper():
        raise ValueError("it does not hold a VCARD")
    documents, problems = [], []
    for number, card in enumerate(_cards(text), 1):
        try:
            documents.append(_contact(card))
        except _UNREADABLE as error:
            problems.append(ImportProblem(file.path, f"card {number} cannot be read: {error}"))
    return Imported(tuple(documents), tuple(problems))


def _cards(text: str) -> list[list[str]]:
    """Return the lines of each card, unfolded, so that a broken card does not hide the others."""
    cards: list[list[str]] = []
    for line in text.split("\n"):
        if line.strip().upper() == "BEGIN:VCARD":
            cards.append([])
        if not cards or not line.strip():
            continue
        lines = cards[-1]
        if lines and line[0] in " \t":
            lines[-1] += line[1:]
        elif lines and lines[-1].endswith("=") and "QUOTED-PRINTABLE" in lines[-1].upper():
            lines[-1] = lines[-1][:-1] + line
        elif lines and not _PROPERTY.match(line):
            lines[-1] += f"\\n{line}"  # a line of text that a program forgot to escape
        else:
            lines.append(line)
    return cards


def _contact(card: Sequence[str]) -> ImportedDocument:
    found: Properties = defaultdict(list)
    kept, faults = [], []
    for text in card:
        try:
            line = textLineToContentLine(text)
        except _UNREADABLE as error:
            kept.append(f"- {text}")
            faults.append(error)
        else:
            found[line.name.lower()].append(line)
    organisations = [_parts(line.value, ";") for line in found["org"]]
    units = [*filter(None, organisations[0])] if organisations else []
    kinds = {text.lower() for text in (*_texts(found, "kind"), *_texts(found, "x-abshowas"))}
    names = [*_texts(found, "fn"), *map(_written_name, found["n"])]
    names = list(dict.fromkeys(filter(None, (" ".join(name.split()) for name in names))))
    is_person = bool(names) and kinds.isdisjoint(("company", "org")) and names[0] not in units[:1]
    if not (names or units):
        raise faults[0] if faults else ValueError("it has no name")
    name = names[0] if names else units[0]
    if "group" in kinds:
        raise ValueError(f"{name} is a group")
    emails = list(dict.fromkeys(filter(EMAIL.match, _texts(found, "email"))))
    roles = [*_texts(found, "title"), *_texts(found, "role")]
    nicknames = [alias for line in found["nickname"] for alias in _parts(line.value, ",")]
    aliases = dict.fromkeys([*_texts(found, "fn")[1:], *nicknames])
    phones = [phone.removeprefix("tel:") for phone in _texts(found, "tel")]
    addresses = [
        ", ".join(" ".join(part.split()) for part in _parts(line.value, ";") if part.strip())
        for line in found["adr"]
    ]
    fields: dict[str, Any] = {
        "aliases": [alias for alias in aliases if alias and alias != name],
        "email": emails[0] if emails else "",
        "emails": emails if emails[1:] else [],
        "role": next(iter(roles), ""),
        "company": units[0] if units and is_person else "",
        "team": ", ".join(units[1:]),
        "phone": _one_or_all(phones),
        "address": _one_or_all(addresses),
        "birthday": next(iter(_texts(found, "bday")), ""),
        "url": _one_or_all(_texts(found, "url")),
        "tags": [tag for line in found["categories"] for tag in _parts(line.value, ",") if tag],
    }
    kept += [f"- Role: {role}" for role in roles[1:]]
    kept += [f"- Organisation: {', '.join(filter(None, parts))}" for parts in organisations[1:]]
    kept += _others(found)
    body = "\n\n".join([*_texts(found, "note"), *(["\n".join(kept)] if kept else [])])
    uid = next(iter(_texts(found, "uid")), "") or content_id("\0".join([name, *emails]).encode())
    return ImportedDocument(
        import_id=f"vcard:{uid}",
        kind="person" if is_person else "note",
        title=name,
        fields={key: value for key, value in fields.items() if value},
        folder="contacts",
        body=body + "\n" if body else "",
    )


def _others(found: Properties) -> Iterator[str]:
    """Yield what no field takes as items of a list, by its label or the name of the property."""
    labels = {line.group: _LABEL_OF_APPLE.sub(r"\1", line.value) for line in found["x-ablabel"]}
    for name, lines in found.items():
        for line in lines if name not in _FIELDS | _BOOKKEEPING else ():
            value = " ".join(" ".join(_parts(line.value, ";")).split())
            label = labels.get(line.group) if line.group else None
            yield f"- {label or name.removeprefix('x-').capitalize()}: {value}"


def _written_name(line: ContentLine) -> str:
    """Return `given additional family` of the structured name."""
    family, given, additional, *_ = [*_parts(line.value, ";"), "", "", ""]
    return f"{given} {additional} {family}"


def _texts(found: Properties, name: str) -> list[str]:
    texts = (_parts(line.value, "")[0].strip() for line in found[name])
    return list(filter(None, texts))


def _one_or_all(values: Sequence[str]) -> str | list[str]:
    return list(values) if values[1:] else "".join(values)


def _parts(value: str, separator: str) -> list[str]:
    """Return the parts of a value between unescaped separators, each as text."""
    parts: list[list[str]] = [[]]
    for character in _CHARACTER.finditer(value):
        if character[0] == separator:
            parts.append([])
        else:
            escaped = character["escaped"]
            parts[-1].append("\n" if escaped in ("n", "N") else escaped or character[0])
    return ["".join(part).replace("\r\n", "\n").strip() for part in parts]
