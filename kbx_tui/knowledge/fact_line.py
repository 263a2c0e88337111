"""Parsing of one fact: text, date, status, sources, confidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, cast, get_args

from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.markdown import strip_markup
from kbx_tui.knowledge.records import FactStatus
from kbx_tui.knowledge.written_links import wikilink_targets

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
    rf"[\s;,]*({_KEYS})\s*::?\s*(.*?)\s*(?=$|[;,]\s*(?:{_KEYS})\s*:)", re.IGNORECASE
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
