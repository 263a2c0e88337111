"""Readers of notes, calendars and contacts: Logseq graphs, Notion exports, iCalendar and vCard.

Readers raise ValueError with a reason.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

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
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.fields import EMAIL
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.markdown import is_in_table, links_of, wikilink
from kbx_tui.knowledge.records import Attendee

LOGSEQ_FOLDER = "logseq"

_LOGSEQ_PROPERTY = re.compile(r"^(?P<key>[A-Za-z][\w.-]*):: ?(?P<value>.*)$")
_BLOCK = re.compile(r"^(?P<indent>[\t ]*)- ?(?P<text>.*)$")
_BLOCK_ID = re.compile(r"^\s*id:: (?P<id>[0-9a-f-]{36})\s*$")
_EMBED = re.compile(r"\{\{embed \(\((?P<id>[0-9a-f-]{36})\)\)\}\}")
_REFERENCE = re.compile(r"\(\((?P<id>[0-9a-f-]{36})\)\)")
_PAGE_EMBED = re.compile(r"\{\{embed (\[\[[^\]]+\]\])\}\}")
_OPEN = re.compile(r"^(?P<head>[\t ]*- )(?:TODO|DOING|NOW|LATER|WAITING) ")
_DONE = re.compile(r"^(?P<head>[\t ]*- )DONE ")
_HIDDEN_KEYS = ("id", "collapsed", "created-at", "updated-at", "heading")
_LOGSEQ_PEOPLE = ("attendees", "participants", "people")


def is_logseq(files: Sequence[SourceFile]) -> bool:
    """Return whether files are a Logseq graph: they include its settings or its two folders."""
    folders = {part for file in files for part in file.path.split("/")[:-1]}
    return "logseq" in folders or {"journals", "pages"} <= folders


def read_logseq(files: Sequence[SourceFile]) -> Imported:
    """Return journals and pages. Backups, the recycle bin and whiteboards are left out."""
    pages = [
        file
        for file in files
        if file.suffix == ".md" and "logseq" not in file.path.split("/")[:-1] and file.text.strip()
    ]
    blocks: dict[str, str] = {}
    for file in pages:
        blocks |= _blocks(file.text)
    return Imported(tuple(_logseq_page(file, blocks) for file in pages))


def _blocks(text: str) -> dict[str, str]:
    found, current = {}, ""
    for line in text.split("\n"):
        if match := _BLOCK_ID.match(line):
            found[match["id"]] = current
        elif match := _BLOCK.match(line):
            current = match["text"].strip()
    return found


def _logseq_page(file: SourceFile, blocks: dict[str, str]) -> ImportedDocument:
    lines = file.text.split("\n")
    properties: dict[str, str] = {}
    while lines and (match := _LOGSEQ_PROPERTY.match(lines[0].removeprefix("- "))):
        properties[match["key"].lower()] = match["value"].strip()
        lines = lines[1:]
    is_journal = "journals" in file.path.split("/")
    day = file.stem.replace("_", "-") if is_journal else ""
    day = day if re.fullmatch(r"\d{4}-\d{2}-\d{2}", day) else ""
    name = unquote(file.stem).replace("___", "/").replace("%2F", "/")
    title = properties.pop("title", "") or day or name
    folder, _, stem = title.rpartition("/")
    people = [value for key, value in properties.items() if key in _LOGSEQ_PEOPLE]
    names = [name for value in people for name in _names(value)]
    body = "\n".join(_logseq_lines(lines, blocks)).strip("\n")
    return ImportedDocument(
        import_id=f"logseq:{'journals' if is_journal else 'pages'}/{file.stem}",
        kind="note",
        title=title,
        date=day,
        attendees=tuple(map(Attendee, dict.fromkeys(names))),
        fields=_logseq_fields(properties),
        folder="/".join(
            [LOGSEQ_FOLDER, "journals"]
            if is_journal
            else [LOGSEQ_FOLDER, *map(slug, filter(None, folder.split("/")))]
        ),
        stem=day or slug(stem) or slug(title),
        body=body + "\n" if body else "",
    )


def _logseq_lines(lines: Sequence[str], blocks: dict[str, str]) -> list[str]:
    kept = []
    for line in lines:
        match = _LOGSEQ_PROPERTY.match(line.strip())
        if match and match["key"].lower() in _HIDDEN_KEYS:
            continue
        line = _PAGE_EMBED.sub(r"!\1", line)
        for reference in (_EMBED, _REFERENCE):
            line = reference.sub(lambda found: blocks.get(found["id"], found[0]), line)
        line = _DONE.sub(r"\g<head>[x] ", _OPEN.sub(r"\g<head>[ ] ", line))
        kept.append(line.replace("\t", "  "))
    return kept


def _logseq_fields(properties: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in properties.items():
        if key in _HIDDEN_KEYS or key in _LOGSEQ_PEOPLE or not value:
            continue
        if key in ("tags", "alias", "aliases"):
            fields["aliases" if key == "alias" else key] = _names(value)
        else:
            fields[key] = value
    return fields


def _names(value: str) -> list[str]:
    names = (name.strip().removeprefix("#") for name in value.split(","))
    return [bare for name in names if (bare := name.removeprefix("[[").removesuffix("]]").strip())]


NOTION_FOLDER = "notion"

_ID = re.compile(r"^(?P<name>.*?)[ _-]?(?P<id>[0-9a-f]{32})(?:_all)?$")
_NOTION_PROPERTY = re.compile(r"^(?P<key>[^\W\d_][\w /&-]{0,40}): (?P<value>\S.*)$")
_DATES = ("date", "created", "created time", "meeting date", "event time", "due")
_NOTION_PEOPLE = ("attendees", "participants", "people", "owner", "assignee", "created by")


def is_notion(files: Sequence[SourceFile]) -> bool:
    """Return whether most pages have an id in their file names, as in a Notion export."""
    pages = [file for file in files if file.suffix == ".md"]
    named = sum(_ID.match(file.stem) is not None for file in pages)
    return named > 0 and named * 2 >= len(pages)


def read_notion(files: Sequence[SourceFile]) -> Imported:
    """Return the pages of a Notion export; a table becomes a page that lists its rows."""
    targets = _link_targets(files)
    documents = [_notion_page(file, targets) for file in files if file.suffix == ".md"]
    problems = []
    with_all = {_notion_id(file) for file in files if file.stem.endswith("_all")}
    tables = (
        file
        for file in files
        if file.suffix == ".csv"
        and (file.stem.endswith("_all") or _notion_id(file) not in with_all)
    )
    for file in tables:
        try:
            documents.append(_notion_table(file))
        except csv.Error as error:
            problems.append(ImportProblem(file.path, f"it is not a readable table: {error}"))
    return Imported(tuple(documents), tuple(problems))


def _link_targets(files: Sequence[SourceFile]) -> dict[str, str]:
    """Return the wikilink target of each file by id: its title, or its path if titles clash."""
    titles = {_notion_id(file): _notion_title(file) for file in files if _notion_id(file)}
    counts = Counter(map(name_key, titles.values()))
    shared = {title for title in titles.values() if counts[name_key(title)] > 1}
    paths = {
        _notion_id(file): f"{_notion_folder(file.path)}/{slug(_notion_title(file))}"
        for file in files
    }
    return {id_: paths[id_] if title in shared else title for id_, title in titles.items()}


def _notion_id(file: SourceFile) -> str:
    match = _ID.match(file.stem)
    return match["id"] if match else ""


def _notion_title(file: SourceFile) -> str:
    if file.suffix == ".md":
        for line in file.text.split("\n", 5)[:5]:
            if line.startswith("# ") and (title := line[2:].strip()):
                return title
    match = _ID.match(file.stem)
    return (match["name"] if match else file.stem).strip() or "Untitled"


def _notion_folder(path: str) -> str:
    """Return the target folder of a page below the notes, without Notion's ids."""
    parts = []
    for part in PurePosixPath(path).parts[:-1]:
        match = _ID.match(part)
        name = slug(match["name"] if match else part)
        if name and not name.startswith("export-"):
            parts.append(name)
    return "/".join([NOTION_FOLDER, *parts])


def _notion_page(file: SourceFile, targets: dict[str, str]) -> ImportedDocument:
    lines = file.text.split("\n")
    title = _notion_title(file)
    if lines and lines[0].startswith("# "):
        lines = lines[1:]
    while lines and not lines[0].strip():
        lines = lines[1:]
    properties: dict[str, str] = {}
    for line in lines:
        match = _NOTION_PROPERTY.match(line)
        if not match:
            break
        properties[match["key"].strip().lower()] = match["value"].strip()
    if properties and len(lines) > len(properties) and lines[len(properties)].strip():
        properties = {}  # not properties, but a paragraph that looks like one
    body = "\n".join(lines[len(properties) :]).strip("\n")
    people = [value for key, value in properties.items() if key in _NOTION_PEOPLE]
    names = [name.strip() for value in people for name in value.split(",") if name.strip()]
    day = next((found for key in _DATES if (found := _date(properties.get(key, "")))), "")
    fields: dict[str, Any] = {
        key.replace(" ", "_").replace("/", "_"): value
        for key, value in properties.items()
        if key not in _NOTION_PEOPLE and key != "date" and key != "tags"
    }
    if tags := [tag.strip() for tag in properties.get("tags", "").split(",") if tag.strip()]:
        fields["tags"] = tags
    return ImportedDocument(
        import_id=f"notion:{_notion_id(file) or slug(file.path)}",
        kind="note",
        title=title,
        date=day,
        attendees=tuple(map(Attendee, dict.fromkeys(names))),
        fields=fields,
        folder=_notion_folder(file.path),
        stem=slug(title),
        body=_with_wikilinks(body, targets) + "\n" if body else "",
    )


def _with_wikilinks(body: str, targets: dict[str, str]) -> str:
    """Return the body with links to exported pages turned into wikilinks; others stay."""
    lines = body.split("\n")
    parts, done = [], 0
    for link in links_of(body):
        match = _ID.match(PurePosixPath(link.page).stem)
        target = targets.get(match["id"]) if match else None
        is_shown = body[link.start] == "!"
        if target is None or is_shown or link.is_wikilink or set(target) & set("[]|#"):
            continue
        in_table = is_in_table(lines, body.count("\n", 0, link.start))
        parts += [body[done : link.start], wikilink(target, link.label, in_table=in_table)]
        done = link.end
    return "".join([*parts, body[done:]])


def _date(value: str) -> str:
    text = re.split(r"\s+(?:\d{1,2}:\d{2}|→)", value)[0].strip()
    return iso_date(text)


def _notion_table(file: SourceFile) -> ImportedDocument:
    rows = [row for row in csv.reader(io.StringIO(file.text)) if any(row)]
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    if cells:
        lines.insert(1, "|" + " --- |" * len(cells[0]))
    return ImportedDocument(
        import_id=f"notion:table-{_notion_id(file) or slug(file.path)}",
        kind="note",
        title=_notion_title(file),
        folder=_notion_folder(file.path),
        stem=slug(_notion_title(file)),
        body="\n".join(lines) + "\n" if lines else "",
    )


_NO_PEOPLE = ("RESOURCE", "ROOM")


def read_calendar(file: SourceFile) -> Imported:
    """Return the events of a calendar file, each id once. Raises ValueError."""
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
    """Return a date or time; UTC is converted to local time, other zones are kept."""
    value = event.get(name)
    moment = value.dt if value is not None else None
    is_utc = isinstance(moment, datetime) and moment.utcoffset() == timedelta(0)
    if isinstance(moment, datetime) and is_utc and "TZID" not in value.params:
        with suppress(OverflowError):  # years 1 and 9999
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
"""Exceptions of the library for broken cards, such as one in an unknown encoding."""


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
    """Return the text of each card separately, so that a broken one does not hide the others."""
    cards: list[list[str]] = []
    for line in text.split("\n"):
        if line.strip().upper() == "BEGIN:VCARD":
            cards.append([])
        if cards:
            cards[-1].append(line)
    return ["\n".join(lines).strip() + "\n" for lines in cards]


def _person(card: Component) -> ImportedDocument:
    found = (str(line.value).strip() for line in card.contents.get("email", []))
    emails = list(dict.fromkeys(filter(EMAIL.match, found)))
    name = _name(card)
    if not name:
        raise ValueError("it has no name")
    organisation = card.contents.get("org")
    units = [str(unit).strip() for unit in organisation[0].value] if organisation else []
    company, team, *_ = [*filter(None, units), "", ""]
    phones = _texts(card, "tel")
    fields: dict[str, Any] = {
        "aliases": [alias for alias in _texts(card, "nickname") if alias != name],
        "email": emails[0] if emails else "",
        "emails": emails if emails[1:] else [],
        "role": next(iter(_texts(card, "title") or _texts(card, "role")), ""),
        "company": company,
        "team": team,
        "phone": phones if phones[1:] else "".join(phones),
    }
    notes = "\n\n".join(_texts(card, "note"))
    uid = next(iter(_texts(card, "uid")), "") or content_id("\0".join([name, *emails]).encode())
    return ImportedDocument(
        import_id=f"vcard:{uid}",
        kind="person",
        title=name,
        fields={key: value for key, value in fields.items() if value},
        body=notes + "\n" if notes else "",
    )


def _name(card: Component) -> str:
    """Return the formatted name, else one made from the name's parts, else an empty string."""
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
