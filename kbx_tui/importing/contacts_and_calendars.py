"""Readers of contacts (vCard) and calendars (iCalendar). They raise ValueError with a reason."""

from __future__ import annotations

import html
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from kbx_tui.knowledge.dates import only_day
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
_UNREAD_OF_EVENT = frozenset(
    {"ACKNOWLEDGED", "CLASS", "CREATED", "DTSTAMP", "IMAGE", "LAST-MODIFIED", "PRIORITY",
     "REQUEST-STATUS", "SEQUENCE", "TRANSP"}
)  # fmt: skip
_OF_PROGRAMS = re.compile(
    "X-(?:ALT-DESC|APPLE|CALENDARSERVER|EVOLUTION|GOOGLE|KDE|LIC|LOTUS|MICROSOFT|MOZ(?:ILLA)?|MS"
    r"|NEXTCLOUD|OUTLOOK|RADICALE|RIM|WR|YAHOO|ZIMBRA)\b(?!-(?:CONFERENCE|SKYPETEAMSMEETINGURL)$)"
)
"""Properties that say nothing of an event: those of the format, and those of known programs."""
_SAID_OF_CALENDAR = "X-WR-CALDESC"
_READ_OF_CALENDAR = _UNREAD_OF_EVENT | {
    "CALSCALE", "COLOR", "METHOD", "NAME", "PRODID", "REFRESH-INTERVAL", "SOURCE", "UID", "VERSION",
}  # fmt: skip
_LABELS = {"RDATE": "Also on", "EXDATE": "Not on"}
_FORMATTED, _ESCAPED = "X-ALT-DESC", re.compile(r"\\([,;\\])")
_TAG = re.compile(r"<(?:style|script)\b[^<]*</[^<>]*>|<[^<>]*>", re.IGNORECASE)

_BROKEN_CALENDAR = (ValueError, TypeError, AttributeError, LookupError, OverflowError)
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
    except _BROKEN_CALENDAR as error:
        raise ValueError(f"it is not a valid calendar: {error}") from error
    for event, calendar in events:
        try:
            document = _event_document(event, calendar)
            version = int(next(iter(_values(event, "SEQUENCE")), 0)), document
        except _BROKEN_CALENDAR as error:
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


_PART_EDGE = re.compile(r"^(BEGIN|END):[ \t]*([\w-]{1,60})[ \t]*$", re.MULTILINE)


_DEEPEST = 50


def _closed(text: str) -> str:
    """Return a text as a whole calendar if it ends early or holds events alone, else as it is.

    Empty if it holds neither a calendar nor an event.
    """
    first, opened = "", list[str]()
    for edge, part in _PART_EDGE.findall(text):
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
    except _BROKEN_CALENDAR:
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
        except _BROKEN_CALENDAR as error:
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
    is_known = name in _READ or name in _UNREAD_OF_EVENT or name in _SINGLE
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


_BROKEN_CARD = (VObjectError, ValueError, TypeError, AttributeError, LookupError)
"""Exceptions of the library for broken lines, such as one in an unknown encoding."""

_CARD_EDGE = re.compile(r"\s*(?:[\w-]+\.)?(BEGIN|END):\s*VCARD\b\s*", re.IGNORECASE)
_PROPERTY = re.compile(r"[\w-]+(?:\.[\w-]+)?(?:\([^)]*\))?[;:]")
_QUOTED = re.compile(r"[^:]{0,500}QUOTED-PRINTABLE", re.IGNORECASE)
_NO_ENCODING = re.compile(r"[^:]{0,500};CHARSET=\"?(?:punycode|idna)", re.IGNORECASE)
"""What Python decodes in quadratic time."""
_LINE = re.compile(
    r"(?:[a-z0-9_-]++\.)?[a-z0-9_-]++;?(?:;[a-z0-9_-]++(?:[=,](?:\"[^\"]*+\"|[^\";:,]*+))*+)*+:",
    re.IGNORECASE | re.ASCII,
)
_ODD_PARAMETERS = re.compile(r"\A([\w.-]+);[^:]*")
_ADDRESS = re.compile(r"(?:mailto:)?([^<>]*)|[^<>]*<([^<>]*)>", re.IGNORECASE)
_CHARACTER = re.compile(r"\\(?P<escaped>.)|.", re.DOTALL)
_USUAL_LABELS = frozenset({"Home", "Work", "Other", "Mobile", "HomePage", "Main", "School"})
_LABEL_OF_APPLE = re.compile(r"_\$!<([^<>]*)>!\$_")
_FIELDS = frozenset(
    {"adr", "bday", "categories", "email", "fn", "n", "nickname", "note", "org", "role", "tel",
     "title", "uid", "url"}
)  # fmt: skip
_UNREAD_OF_CARD = frozenset(
    {"begin", "class", "clientpidmap", "end", "key", "kind", "logo", "mailer", "photo", "prodid",
     "rev", "sort-string", "sound", "source", "version", "x-abadr", "x-ablabel", "x-abshowas",
     "x-abuid", "x-addressbookserver-kind", "x-ms-ol-default-postal-address", "x-ms-ol-design"}
)  # fmt: skip
"""Properties that say nothing of a person, and pictures, sounds and keys."""

_NOBODY = ("application", "company", "device", "location", "org")
"""Kinds of cards that are of no person."""

_KINDS = ("kind", "x-abshowas", "x-addressbookserver-kind")

_RANK = re.compile(r"\d{1,3}")

_READ_AT_MOST = 10_000
"""Characters of the names of a card in which others are looked up."""

Properties = dict[str, list[ContentLine]]


def read_contacts(file: SourceFile) -> Imported:
    """Return the people of an address book; others, such as organisations, as notes."""
    text = file.unfolded
    if "BEGIN:VCARD" not in text.upper():
        raise ValueError("it does not hold a VCARD")
    by_uid: dict[str, dict[str, ImportedDocument]] = defaultdict(dict)
    problems = []
    cards, outside = _cards(text)
    if outside:
        lines = join_limited(outside)
        problems.append(ImportProblem(file.path, f"left out, outside of cards: {lines}"))
    for number, card in enumerate(cards, 1):
        try:
            contact = _contact(card)
        except _BROKEN_CARD as error:
            problems.append(ImportProblem(file.path, f"card {number} cannot be read: {error}"))
            continue
        by_uid[contact.import_id][content_id(repr(contact).encode())] = contact
    documents = (
        contact if len(cards) == 1 else replace(contact, import_id=f"{uid}#{content}")
        for uid, cards in by_uid.items()
        for content, contact in cards.items()
    )
    return Imported(tuple(documents), tuple(problems))


def _cards(text: str) -> tuple[list[list[str]], list[str]]:
    """Return the lines of each card, so that a broken card does not hide the others, and the rest.

    A card lies in another one only as its AGENT; elsewhere, that one is not closed.
    """
    cards: list[list[list[str]]] = []  # of the pieces of each line
    opened: list[list[list[str]]] = []
    outside: list[str] = []
    for line in text.split("\n"):
        if edge := _CARD_EDGE.match(line):
            line = line[edge.end() :]
            if edge[1].upper() == "END":
                del opened[-1:]
            else:
                if opened and opened[-1][-1:] != [["AGENT:"]]:
                    opened.clear()
                opened.append([])
                cards.append(opened[-1])
        if not line.strip():
            continue
        if not opened:
            outside.append(line.strip())
            continue
        lines = opened[-1]
        pieces = lines[-1] if lines else [""]
        if pieces[-1].endswith("=") and _QUOTED.match(pieces[0]):
            pieces[-1:] = [pieces[-1][:-1], line]
        elif lines and not _PROPERTY.match(line):
            pieces.append(f"\\n{line}")  # a line of text that a program forgot to escape
        else:
            lines.append([line])
    return [["".join(pieces) for pieces in card] for card in cards], outside


def _contact(card: Sequence[str]) -> ImportedDocument:
    found: Properties = defaultdict(list)
    kept, faults = [], []
    for text in card:
        try:
            line = _content_line(text)
        except _BROKEN_CARD as error:
            kept.append(f"- {text}")
            faults.append(error)
        else:
            found[line.name.lower()].append(line)
    for lines in found.values():
        lines.sort(key=_preference)
    organisations = [_parts(line.value, ";") for line in found["org"]]
    units = [*filter(None, organisations[0])] if organisations else []
    kinds = {text.lower() for name in _KINDS for text in _texts(found, name)}
    names = [*_texts(found, "fn"), *map(_written_name, found["n"])]
    names = list(dict.fromkeys(filter(None, (" ".join(name.split()) for name in names))))
    is_person = bool(names) and kinds.isdisjoint(_NOBODY) and names[0] not in units[:1]
    emails = dict.fromkeys(_email(text) for text in _texts(found, "email"))
    if not (names or units):
        raise faults[0] if faults else ValueError(" ".join(["it has no name", *emails]))
    name = names[0] if names else units[0]
    if "group" in kinds:
        raise ValueError(f"{name} is a group")
    known = [email for email in emails if EMAIL.match(email)]
    kept += [f"- Email: {text}" for text in emails if not EMAIL.match(text)]
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
        "email": known[0] if known else "",
        "emails": known if known[1:] else [],
        "role": next(iter(roles), ""),
        "company": units[0] if units and units[0] != name else "",
        "team": ", ".join(units[1:]),
        "phone": _one_or_all(phones),
        "address": _one_or_all(addresses),
        "birthday": next((only_day(text) or text for text in _texts(found, "bday")), ""),
        "url": _one_or_all(_texts(found, "url")),
        "tags": [tag for line in found["categories"] for tag in _parts(line.value, ",") if tag],
    }
    kept += _further_names(found, [name, *aliases])
    kept += [f"- Role: {role}" for role in roles[1:]]
    kept += [f"- Organisation: {', '.join(filter(None, parts))}" for parts in organisations[1:]]
    kept += _others(found)
    body = "\n\n".join([*_texts(found, "note"), *(["\n".join(kept)] if kept else [])])
    uid = next(iter(_texts(found, "uid")), "") or content_id("\0".join([name, *known]).encode())
    return ImportedDocument(
        import_id=f"vcard:{uid}",
        kind="person" if is_person else "note",
        title=name,
        fields={key: value for key, value in fields.items() if value},
        folder="contacts",
        body=body + "\n" if body else "",
    )


def _content_line(text: str) -> ContentLine:
    if _NO_ENCODING.match(text):
        raise ValueError("its encoding is that of names of hosts")
    if not _LINE.match(text):  # the library may take for ever to find out
        text = _ODD_PARAMETERS.sub(r"\1", text)
    try:
        return textLineToContentLine(text)
    except UnicodeDecodeError:  # programs for Windows do not name their encoding
        if "CHARSET" in text.upper():
            raise
        return textLineToContentLine(text.replace(":", ";CHARSET=CP1252:", 1))


def _preference(line: ContentLine) -> int:
    """Return the rank of a value among those of its property, the preferred one first."""
    rank = next(iter(line.params.get("PREF", [])), "")
    if _RANK.fullmatch(rank):
        return int(rank)
    types = (*line.params.get("TYPE", []), *line.singletonparams)
    return 0 if "PREF" in map(str.upper, types) else 101


def _email(text: str) -> str:
    """Return the address in `mailto:a@b.example` or `Name <a@b.example>`, others as written."""
    found = _ADDRESS.fullmatch(text)
    return ((found[1] or found[2] or "") if found else "").strip() or text


def _further_names(found: Properties, names: Sequence[str]) -> Iterator[str]:
    """Yield structured names of which a part is in no other name, such as titles and scripts."""
    written = "\0".join(names)[:_READ_AT_MOST].casefold()
    for line in found["n"]:
        family, given, additional, before, after, *more = [*_parts(line.value, ";"), *[""] * 5]
        parts = [part for part in (before, given, additional, family, after, *more) if part]
        if any(word.casefold() not in written for part in parts for word in part.split(",")):
            yield f"- Full name: {' '.join(parts)}"


def _others(found: Properties) -> Iterator[str]:
    """Yield what no field takes as items of a list, by its label or the name of the property."""
    labels = {line.group: _LABEL_OF_APPLE.sub(r"\1", line.value) for line in found["x-ablabel"]}
    for name, lines in found.items():
        for line in lines:
            value = " ".join(" ".join(_parts(line.value, ";")).split())
            label = labels.get(line.group) if line.group else None
            is_shown = name not in _FIELDS | _UNREAD_OF_CARD and not (
                name == "label" and found["adr"]
            )
            if value and (is_shown or (label and name in _FIELDS and label not in _USUAL_LABELS)):
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
