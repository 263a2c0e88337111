"""One line of facts, taken apart: date, text, status, sources, confidence. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast, get_args

from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.parsing.inline import plain_text, wikilink_targets
from kbx_tui.knowledge.records import FactStatus

Status = FactStatus | Literal[""]
"""Empty when nothing is said."""

_MAX_READ = 10_000
"""Characters of a line in which notes are looked for."""
_EDGES = " \t—–|;,"
_WORDED = {"high": 0.9, "medium": 0.7, "low": 0.4}
_DEAD = "superseded|archived|redacted"

MARKERS = re.compile(r"^\s*(?:(?:[-*+]|\d{1,9}[.)])(?:\s+|$))+")
"""Bullets and numbers at the beginning of a list item; `- 1. x` has two."""
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

_KEYS = r"sources?|from|status|confidence"
_NOTES = (  # in brackets; a tag; a bare word where no sentence would have it; sources at the end
    re.compile(
        rf"\((?=\s*(?:{_KEYS})\s*:)((?:[^()\[\]]|\[\[[^\[\]]*\]\]|\[[^\[\]]*\](?:\([^()]*\))?)*)\)",
        re.IGNORECASE,
    ),
    re.compile(rf"\[(?=\s*(?:{_KEYS})\s*:)((?:[^\[\]]|\[\[[^\[\]]*\]\])*)\](?!\()", re.IGNORECASE),
    re.compile(rf"(?:^|(?<=\s))(status::?\s*(?:active|{_DEAD}))\b[.;,]?", re.IGNORECASE),
    re.compile(
        r"(?:^|(?<=\s))(confidence::?\s*(?:\d+(?:\.\d+)?\s?%?|high|medium|low))(?=$|[\s.;,])[.;,]?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:^|(?<=[.;|—–)\]-] )|(?<=[.;|—–)\]-]))((?:sources?|from)::?\s*\S.*)$",
        re.IGNORECASE,
    ),
)
_STATUS_MARK = re.compile(
    rf"(?:^|(?<=\s))#({_DEAD})\b|^[\[(]({_DEAD})[\])]|[\[(](superseded|archived)[\])]$",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    rf"[\s;,]*({_KEYS})\s*::?\s*(.*?)\s*(?=$|[;,]\s*(?:{_KEYS})\s*:)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FactLine:
    """What one list item says."""

    text: str
    """As it reads: without check box, date, notes in brackets and link syntax."""
    date: str = ""
    status: Status = ""
    done: bool = False
    sources: tuple[str, ...] = ()
    confidence: float | None = None
    is_note: bool = False
    """Says nothing by itself but where something comes from, or how certain it is."""

    def with_note(self, note: FactLine) -> FactLine:
        """Return this line with what a nested note adds."""
        return replace(
            self,
            status=self.status or note.status,
            sources=tuple(dict.fromkeys((*self.sources, *note.sources))),
            confidence=note.confidence if self.confidence is None else self.confidence,
        )


def read_fact_line(text: str) -> FactLine:
    """Take apart the text of a list item, its bullet already removed."""
    box = _CHECKBOX.match(text)
    line = text[box.end() :] if box else text
    notes = _Notes()
    read, rest = notes.taken_from(line[:_MAX_READ]), line[_MAX_READ:]
    read, struck = _without_struck(read)
    read, date = _without_date(read.strip())
    sources = dict.fromkeys((*notes.sources, *_linked(read)))
    shown = " ".join(plain_text(read).split()).strip(_EDGES) + rest
    unlinked = _LINK.sub("", _WIKILINK.sub("", read))
    return FactLine(
        text=shown if _says_something(shown) else "",
        date=date,
        status=notes.status or ("superseded" if struck else ""),
        done=bool(box) and text[1] in "xX",
        sources=tuple(sources),
        confidence=notes.confidence,
        is_note=not _says_something(unlinked + rest) and bool(sources or notes.found),
    )


def split_head(text: str) -> tuple[str, str, str]:
    """Return check box, date and the rest of a list item as they are written; the rest is stripped.

    The three join to the text, but for blanks at its end.
    """
    box = _CHECKBOX.match(text)
    boxed = text[: box.end()] if box else ""
    date = _DATE.match(text[len(boxed) :])
    dated = date[0] if date and iso_date(next(filter(None, date.groups()))) else ""
    return boxed, dated, text[len(boxed) + len(dated) :].rstrip()


def notes_in(text: str) -> tuple[str, ...]:
    """Return the notes of a line as written, in order: source, status, confidence."""
    found: list[tuple[int, str]] = []
    for pattern in _NOTES:
        for match in pattern.finditer(text):
            if all(match[0] not in note for _, note in found):
                found.append((match.start(), match[0].strip()))
    return tuple(note for _, note in sorted(found))


def read_status(text: str) -> Status:
    """Return the status a word names, empty when it names none."""
    word = text.strip().strip(".").casefold()
    return cast(FactStatus, word) if word in get_args(FactStatus) else ""


def read_confidence(text: str) -> float | None:
    """Return a confidence within 0..1 from ``0.9``, ``90%``, ``90`` or ``high``, else None."""
    word = text.strip().casefold()
    if word in _WORDED:
        return _WORDED[word]
    if not re.fullmatch(r"\d{1,3}(?:\.\d{1,10})?\s?%?", word):
        return None
    number = float(word.rstrip("% "))
    if word.endswith("%") or number > 1:
        number /= 100
    return number if number <= 1 else None


class _Notes:
    """Collects what a line says about itself and takes it out of the text."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.status: Status = ""
        self.confidence: float | None = None
        self.found = False

    def taken_from(self, line: str) -> str:
        for pattern in _NOTES:
            line = pattern.sub(self._note, line)
        return _STATUS_MARK.sub(self._mark, line.strip())

    def _note(self, match: re.Match[str]) -> str:
        entries = _ENTRY.findall(match[1])
        understood = [self._take(key.casefold(), value) for key, value in entries]
        return "" if any(understood) else match[0]

    def _mark(self, match: re.Match[str]) -> str:
        self.status = self.status or read_status(match[match.lastindex or 0])
        self.found = True
        return ""

    def _take(self, key: str, value: str) -> bool:
        if key == "status":
            status = read_status(value)
            self.status = self.status or status
            taken = bool(status)
        elif key == "confidence":
            confidence = read_confidence(value)
            self.confidence = confidence if self.confidence is None else self.confidence
            taken = confidence is not None
        else:
            self.sources += _sources(value)
            taken = bool(value)
        self.found = self.found or taken
        return taken


def _sources(value: str) -> Iterator[str]:
    """Links are sources as they stand; titles may hold commas, paths and ids do not hold spaces."""
    linked = tuple(_linked(value))
    if linked:
        yield from linked
        return
    parts = value.split(";")
    if len(parts) == 1 and not re.search(r"[^,;\s]\s+[^\s,;]", value):
        parts = value.split(",")
    for part in parts:
        if source := part.strip(" .`\"'"):
            yield source


def _linked(text: str) -> Iterator[str]:
    yield from wikilink_targets(text)
    for match in _LINK.finditer(text):
        yield next(filter(None, match.groups()))


def _without_struck(line: str) -> tuple[str, bool]:
    """A line struck as a whole is superseded; a word struck in it is gone."""
    left = _STRUCK.sub("", line)
    if left == line:
        return line, False
    if _says_something(_DATE.sub("", left.strip())):
        return left, False
    return _STRUCK.sub(r"\1", line), True


def _without_date(line: str) -> tuple[str, str]:
    match = _DATE.match(line)
    date = iso_date(next(filter(None, match.groups()))) if match else ""
    return (line[match.end() :], date) if match and date else (line, "")


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)
