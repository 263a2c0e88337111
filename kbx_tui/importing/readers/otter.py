"""Transcripts that Otter exports as text."""

from __future__ import annotations

import re

from kbx_tui.importing.imported_document import ImportedDocument, SourceFile
from kbx_tui.importing.readers.reading_help import (
    content_id,
    date_in_name,
    speakers,
    speech,
    split_transcript,
    text_of_file,
    title_in_name,
)
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.records import Attendee

_TURN = re.compile(r"^(?P<name>\S[^\n]{0,80}?)[ \t]{1,}(?P<time>(?:\d{1,2}:)?\d{1,2}:\d{2})[ \t]*$")
_DATED = re.compile(r"(?:\w{3,9}, )?(\w{3,9} \d{1,2}, \d{4})")
_HEADINGS = ("SUMMARY KEYWORDS", "SPEAKERS", "KEYWORDS")


def looks_like_otter(text: str) -> bool:
    """Return whether a text has the turns of such a transcript: `Name  0:12` on its own line."""
    lines = text.split("\n")
    return sum(_TURN.match(line) is not None for line in lines[:400]) >= 1


def read_otter(file: SourceFile) -> list[ImportedDocument]:
    """Return the transcript. Raises ValueError with a reason."""
    lines = text_of_file(file).split("\n")
    spoken = (line for line in lines if not line.startswith("Transcribed by "))
    before, turns = split_transcript(spoken, _TURN)
    if not turns:
        raise ValueError("it has no lines with a speaker and a time, such as `Alice Chen  0:12`")
    head = [line.strip() for line in before]
    named = _listed(head, "SPEAKERS")
    said = {attendee.name for attendee in speakers(turns)}
    attendees = (*(Attendee(name) for name in named if name not in said), *speakers(turns))
    title = next((line for line in head if line and line not in _HEADINGS), "")
    fields = {"keywords": list(words)} if (words := _listed(head, "SUMMARY KEYWORDS")) else {}
    return [
        ImportedDocument(
            import_id=f"otter:{content_id(file.data)}",
            kind="meeting",
            subtype="transcript",
            title=title if title and not _DATED.match(title) else title_in_name(file.stem),
            date=_date(head) or date_in_name(file.path) or file.modified,
            attendees=tuple(who for who in attendees if not who.name.startswith("Unknown")),
            fields=fields,
            body=speech(turns),
        )
    ]


def _listed(head: list[str], heading: str) -> tuple[str, ...]:
    """Return the entries, separated by commas, on the lines below a heading."""
    if heading not in head:
        return ()
    entries: list[str] = []
    for line in head[head.index(heading) + 1 :]:
        if not line or line in _HEADINGS:
            break
        entries += [entry.strip() for entry in line.split(",") if entry.strip()]
    return tuple(entries)


def _date(head: list[str]) -> str:
    for line in head:
        if (match := _DATED.search(line)) and (found := iso_date(match[1])):
            return found
    return ""
