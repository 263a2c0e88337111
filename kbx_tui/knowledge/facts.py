"""Facts and open items of a page: list items at its top and in certain sections, and their notes.

A line has a text, and it may have a date, a status, sources and a confidence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Literal, cast, get_args

from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.markdown import (
    MAX_LINES,
    Heading,
    ListItem,
    headings,
    outline,
    read_as_markdown,
    strip_markup,
    wikilink_targets,
)
from kbx_tui.knowledge.records import REDACTED, FactKind, FactStatus

Status = FactStatus | Literal[""]

_MAX_PARSED = 10_000
"""Characters of a line that are parsed; the rest is kept as text."""
_EDGES = " \t—–|;,"
_CONFIDENCE_WORDS = {"high": 0.9, "medium": 0.7, "low": 0.4}
_INACTIVE = "superseded|archived|redacted"

MARKERS = re.compile(r"^\s*(?:(?:[-*+]|\d{1,9}[.)])(?:\s+|$))+")
_CHECKBOX = re.compile(r"^\[([ xX])\](?:\s+|$)")
_DATE = re.compile(
    r"^(?:\[(\d{4}-\d{2}-\d{2})\]|\((\d{4}-\d{2}-\d{2})\)|(\d{4}-\d{2}-\d{2})(?=:|\s+[—–-]\s))"
    r"\s*[:—–-]?\s*"
)
_STRUCK = re.compile(r"~~(?=\S)(.{1,2000}?)(?<=\S)~~")
_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]{0,500}\]"
    r"\(\s*<?([^()\s<>]{1,1000}(?:\([^()\s]{0,200}\))?)>?(?:\s+\"[^\"]{0,200}\")?\s*\)"
    r"|<(https?://[^\s<>]{1,1000})>"
    r"|(https?://[^\s<>()\[\]]{1,1000}[^\s<>()\[\].,;:!?'\"])"
)
_WIKILINK = re.compile(r"!?\[\[[^\[\]\n]{1,500}\]\]")

_KEYS = r"sources?|from|status|confidence|superseded"
_MAY_HOLD_NOTE = re.compile(rf"{_KEYS}|{_INACTIVE}", re.IGNORECASE)
_NOTES = (  # in brackets; `status:` or `confidence:` anywhere; sources at the end
    re.compile(
        rf"\((?=\s*(?:{_KEYS})\s*:)((?:[^()\[\]]|\[\[[^\[\]]*\]\]|\[[^\[\]]*\](?:\([^()]*\))?)*)\)",
        re.IGNORECASE,
    ),
    re.compile(rf"\[(?=\s*(?:{_KEYS})\s*:)((?:[^\[\]]|\[\[[^\[\]]*\]\])*)\](?!\()", re.IGNORECASE),
    re.compile(rf"(?:^|(?<=\s))(status::?\s*(?:active|{_INACTIVE}))\b[.;,]?", re.IGNORECASE),
    re.compile(
        r"(?:^|(?<=\s))(confidence::?\s*(?:\d+(?:\.\d+)?\s?%?|high|medium|low))(?=$|[\s.;,])[.;,]?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:^|(?<=[.;|—–)\]-] )|(?<=[.;|—–)\]-]))((?:sources?|from)::?\s*\S.*)$",
        re.IGNORECASE,
    ),
)
SUPERSEDED_ON = re.compile(r"[(\[]\s*superseded\s*::?\s*(\d{4}-\d{2}-\d{2})\s*[)\]]", re.IGNORECASE)
_STATUS_MARK = re.compile(
    rf"(?:^|(?<=\s))#({_INACTIVE})\b|^[\[(]({_INACTIVE})[\])]|[\[(](superseded|archived)[\])]$",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    rf"[\s;,]*({_KEYS})\s*::?\s*(|\S.*?(?<!\s))\s*(?=$|[;,]\s*(?:{_KEYS})\s*:)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FactLine:
    text: str
    date: str = ""
    status: Status = ""
    done: bool = False
    sources: tuple[str, ...] = ()
    confidence: float | None = None
    is_note: bool = False

    def with_notes(self, notes: Sequence[FactLine]) -> FactLine:
        lines = (self, *notes)
        stated = (line.confidence for line in lines if line.confidence is not None)
        return replace(
            self,
            status=next((line.status for line in lines if line.status), ""),
            sources=tuple(dict.fromkeys(chain.from_iterable(line.sources for line in lines))),
            confidence=next(stated, None),
        )


def read_fact_line(text: str) -> FactLine:
    box = _CHECKBOX.match(text)
    line = text[box.end() :] if box else text
    notes = _Notes()
    parsed, rest = notes.extract_from(line[:_MAX_PARSED]), line[_MAX_PARSED:]
    parsed, is_struck = _without_struck(parsed)
    parsed, date = _without_date(parsed.strip())
    sources = dict.fromkeys((*notes.sources, *_link_targets(parsed)))
    plain = " ".join(strip_markup(parsed).split()).strip(_EDGES) + rest
    has_notes = bool(sources) or notes.has_any
    return FactLine(
        text=plain if _has_content(plain) else "",
        date=date,
        status=notes.status or ("superseded" if is_struck else ""),
        done=bool(box) and text[1] in "xX",
        sources=tuple(sources),
        confidence=notes.confidence,
        is_note=has_notes and not _has_content(_LINK.sub("", _WIKILINK.sub("", parsed)) + rest),
    )


def split_head(text: str) -> tuple[str, str, str]:
    match = _CHECKBOX.match(text)
    box = match[0] if match else ""
    text = text[len(box) :]
    match = _DATE.match(text)
    date = match[0] if match and iso_date(next(filter(None, match.groups()))) else ""
    return box, date, text[len(date) :].rstrip()


def notes_in(text: str) -> tuple[str, ...]:
    notes: list[tuple[int, str]] = []
    for pattern in _NOTES:
        for match in pattern.finditer(text[:_MAX_PARSED]):
            if all(match[0] not in note for _, note in notes):
                notes.append((match.start(), match[0].strip()))
    return tuple(note for _, note in sorted(notes))


def read_status(text: str) -> Status:
    word = text.strip().strip(".").casefold()
    return cast(FactStatus, word) if word in get_args(FactStatus) else ""


def read_confidence(text: str) -> float | None:
    """Parse ``0.9``, ``90%``, ``90`` or ``high`` as a number within 0..1; None for other texts."""
    word = text.strip().casefold()
    if word in _CONFIDENCE_WORDS:
        return _CONFIDENCE_WORDS[word]
    if not re.fullmatch(r"\d{1,3}(?:\.\d{1,10})?\s?%?", word):
        return None
    number = float(word.rstrip("% "))
    if word.endswith("%") or number > 1:
        number /= 100
    return number if number <= 1 else None


class _Notes:
    def __init__(self) -> None:
        self.sources: list[str] = []
        self.status: Status = ""
        self.confidence: float | None = None
        self.has_any = False

    def extract_from(self, line: str) -> str:
        if not _MAY_HOLD_NOTE.search(line):  # most lines: spares six searches
            return line.strip()
        for pattern in _NOTES:
            line = pattern.sub(self._extract_note, line)
        return _STATUS_MARK.sub(self._extract_mark, line.strip())

    def _extract_note(self, match: re.Match[str]) -> str:
        entries = _ENTRY.findall(match[1])
        is_valid = [self._add(key.casefold(), value) for key, value in entries]
        return "" if any(is_valid) else match[0]

    def _extract_mark(self, match: re.Match[str]) -> str:
        self.status = self.status or read_status(match[match.lastindex or 0])
        self.has_any = True
        return ""

    def _add(self, key: str, value: str) -> bool:
        if key == "status":
            status = read_status(value)
            self.status = self.status or status
            is_valid = bool(status)
        elif key == "superseded":
            is_valid = bool(iso_date(value))
            self.status = self.status or ("superseded" if is_valid else "")
        elif key == "confidence":
            confidence = read_confidence(value)
            self.confidence = confidence if self.confidence is None else self.confidence
            is_valid = confidence is not None
        else:
            self.sources += _sources(value)
            is_valid = bool(value)
        self.has_any = self.has_any or is_valid
        return is_valid


def _sources(value: str) -> Iterator[str]:
    """Only parts without spaces (paths, ids) are split at commas, as titles may contain them."""
    targets = tuple(_link_targets(value))
    if targets:
        yield from targets
        return
    parts = value.split(";")
    if len(parts) == 1 and not re.search(r"[^,;\s]\s+[^\s,;]", value):
        parts = value.split(",")
    for part in parts:
        if source := part.strip(" .`\"'"):
            yield source


def _link_targets(text: str) -> Iterator[str]:
    yield from wikilink_targets(text)
    for match in _LINK.finditer(text):
        yield next(filter(None, match.groups()))


def _without_struck(line: str) -> tuple[str, bool]:
    """Remove struck-out words; if the whole line is struck out, keep them and return True."""
    remaining = _STRUCK.sub("", line)
    if remaining == line:
        return line, False
    if _has_content(_DATE.sub("", remaining.strip())):
        return remaining, False
    return _STRUCK.sub(r"\1", line), True


def _without_date(line: str) -> tuple[str, str]:
    match = _DATE.match(line)
    date = iso_date(next(filter(None, match.groups()))) if match else ""
    return (line[match.end() :], date) if match and date else (line, "")


def _has_content(text: str) -> bool:
    return any(character.isalnum() for character in text)


_SECTIONS: dict[str, FactKind] = {
    "recent facts": "fact",
    "facts": "fact",
    "open items": "open_item",
}
_MAY_HOLD_FACTS = re.compile(r"facts|open items", re.IGNORECASE)
_ITEM = re.compile(r"\n[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_TASK = re.compile(r"\[[ xX]\](?:\s|$)")
DEFAULT_CONFIDENCE = 0.7
ID_LIMIT = 2**53


def fact_id(entity_id: str, text: str, *discriminators: str) -> int:
    """Return a 53-bit hash, never 0, which ignores case, accents and spacing of the text."""
    key = "\0".join((entity_id, folded_fact(text), *(discriminators or ("0",))))
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) >> 11 or 1


_MAY_BE_NOTED = re.compile(
    r"~~|superseded|archived|[-*+.)\]][ \t]+\[\d|[(\[](?:sources?|from|status|confidence)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def facts_as_said(body: str) -> str:
    """Return a body of the same length in which the facts say only what holds: spaces replace those
    that are superseded or archived, and of the others the dates and notes, such as sources."""
    if not _MAY_BE_NOTED.search(body):
        return body  # most pages need not be parsed
    lines = body.split("\n")
    for entry in entries_in(body):
        item = entry.item
        if entry.status in ("superseded", "archived"):
            for number in range(item.line, min(item.end, len(lines))):
                lines[number] = " " * len(lines[number])
        for number in range(item.line, min(item.text_end, len(lines))):
            line = lines[number]
            begin = found.end() if (found := MARKERS.match(line)) else 0
            box, date, _ = split_head(line[begin:])
            for note in (date, *notes_in(line[begin:])):
                if note and REDACTED not in note.casefold():
                    at = line.find(note, begin + len(box))
                    line = line[:at] + " " * len(note) + line[at + len(note) :]
            lines[number] = line
    return "\n".join(lines)


def folded_fact(text: str) -> str:
    return " ".join(fold(text).split())


@dataclass(frozen=True, slots=True)
class FactSection:
    kind: FactKind
    title: str
    first: int
    end: int
    items: tuple[ListItem, ...]


def fact_sections(body: str) -> Iterator[FactSection]:
    """Yield the sections that hold facts or open items, in file order, without the page's top."""
    if not _MAY_HOLD_FACTS.search(body):
        return
    blocks = outline(body)
    count = body.count("\n") + 1
    item_lines = [item.line for item in blocks.items]
    covered = 0
    for index, heading in enumerate(blocks.headings):
        title, kind = heading.text.strip().rstrip(":").casefold(), _kind(heading)
        if kind is None or heading.line < covered:
            continue
        covered = min(blocks.section_ends[index], count)
        first, last = bisect_left(item_lines, heading.end), bisect_left(item_lines, covered)
        within = blocks.items[first:last]
        yield FactSection(kind, title, heading.end, covered, within)


@dataclass(slots=True)
class Entry:
    kind: FactKind
    item: ListItem
    line: FactLine
    status: Status
    """Of its line or, if that has none, of the first note that has one."""
    notes: list[FactLine] = field(default_factory=list)


def entries_in(body: str, redacted: Collection[int] | None = ()) -> list[Entry]:
    """Return the entries of a body; `redacted` are its redacted lines, None for all."""
    entries: list[Entry] = []
    parents: list[Entry] = []
    for kind, item, text in _section_items(body):
        while parents and parents[-1].item.depth >= item.depth:
            parents.pop()
        line = read_fact_line(text)
        if (redacted is None or item.line in redacted) and line.status in ("", "active"):
            line = replace(line, status="redacted")  # cannot undo the redaction around it
        parent = parents[-1] if parents and item.line < parents[-1].item.end else None
        if parent is not None and line.is_note:
            parent.notes.append(line)
            parent.status = parent.status or line.status
        elif line.text:
            if parent is not None and parent.status and not line.status:
                line = replace(line, status=parent.status)
            entries.append(Entry(kind, item, line, line.status))
            parents.append(entries[-1])
    return entries


def _section_items(body: str) -> Iterator[tuple[FactKind, ListItem, str]]:
    lines = read_as_markdown(body).split("\n")

    def text_of_item(item: ListItem) -> str:
        own = (line.strip() for line in lines[item.line : item.text_end])
        return MARKERS.sub("", " ".join(own))

    for item in _top_items(body):
        text = text_of_item(item)
        if item.depth or not read_fact_line(text).is_note:
            yield "open_item" if _TASK.match(text) else "fact", item, text
    for section in fact_sections(body):
        for item in section.items:
            yield section.kind, item, text_of_item(item)


def _top_items(body: str) -> Sequence[ListItem]:
    """Return the list items above all headings, or between the title and the next heading."""
    text = f"\n{body}"
    if not (first := _ITEM.search(text)):
        return ()
    ends = (h.line for n, h in enumerate(headings(body)) if n or h.level > 1 or _kind(h))
    if text.count("\n", 0, first.start()) > next(ends, MAX_LINES):
        return ()  # most pages need not be parsed
    blocks = outline(body)
    lines = [item.line for item in blocks.items]
    for number, heading in enumerate(blocks.headings):
        before = bisect_left(lines, heading.line)
        is_title = not number and heading.level == 1 and not _kind(heading)
        if before or not is_title:
            return blocks.items[:before]
    return blocks.items


def _kind(heading: Heading) -> FactKind | None:
    return _SECTIONS.get(heading.text.strip().rstrip(":").casefold())
