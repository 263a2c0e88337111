"""Twenty files of each format that lists people, odd ones included, all made for these tests.

Each format is written by one function from labels of speakers as programs write them; the oddities
of a format (encodings, missing parts, unusual layout) are further samples of its own.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbx_tui.importing.imported_document import SourceFile
from kbx_tui.knowledge.entities import page_entity
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Entity

PAGES = {
    "alice-chen": "---\naliases: [achen]\nemail: alice.chen@larkwater.example\n---\n# Alice Chen\n",
    "bob-okafor": "---\nemail: bob.okafor@larkwater.example\n---\n# Bob Okafor\n",
    "marek-dvorak": "---\nemail: marek.dvorak@larkwater.example\n---\n# Marek Dvořák\n",
    "thomas-james-hale": "---\naliases: [TJ]\n---\n# Thomas James Hale\n",
    "hana-kobayashi": "# Hana Kobayashi\n",
}


@dataclass(frozen=True)
class Sample:
    """A file to import, and the people it is about."""

    file: SourceFile
    people: tuple[str, ...]
    """Names of their pages, in any order; who has no page is not listed."""


def people() -> tuple[Entity, ...]:
    """Return the people of the base into which samples are imported."""
    pages = (
        parse_document(f"memory/people/{stem}.md", text.encode()) for stem, text in PAGES.items()
    )
    return tuple(page_entity(page, page.id) for page in pages)


LABELS: tuple[tuple[str, str], ...] = (
    ("Alice Chen", "Alice Chen"),
    ("ALICE CHEN", "Alice Chen"),
    ("alice chen", "Alice Chen"),
    ("achen", "Alice Chen"),
    ("Chen, Alice", "Alice Chen"),
    ("Marek Dvorak", "Marek Dvořák"),
    ("Dvořák, Marek", "Marek Dvořák"),
    ("Dr. Marek Dvořák", "Marek Dvořák"),
    ("Bob Okafor (Guest)", "Bob Okafor"),
    ("Bob Okafor | Larkwater", "Bob Okafor"),
    ("Okafor, Bob", "Bob Okafor"),
    ("Thomas James Hale", "Thomas James Hale"),
    ("TJ", "Thomas James Hale"),
)
"""A label of a speaker, and the page of that person."""

Writer = Callable[[Sequence[str]], str]


def clock(number: int) -> str:
    return f"{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"


def vtt(speakers: Sequence[str]) -> str:
    cues = (
        f"{number}\n{clock(number * 5)}.000 --> {clock(number * 5 + 4)}.500\n{name}: We agree.\n"
        for number, name in enumerate(speakers, 1)
    )
    return "WEBVTT\n\n" + "\n".join(cues)


def voiced_vtt(speakers: Sequence[str]) -> str:
    cues = (
        f"a1b2/{number}-0\n{clock(number * 5)}.000 --> {clock(number * 5 + 4)}.500 align:start\n"
        f"<v {name}>We agree.</v>\n"
        for number, name in enumerate(speakers, 1)
    )
    return "WEBVTT\n\nNOTE language:en\n\n" + "\n".join(cues)


def srt(speakers: Sequence[str]) -> str:
    return "\n".join(
        f"{number}\n{clock(number * 5)},000 --> {clock(number * 5 + 4)},500\n{name}: We agree.\n"
        for number, name in enumerate(speakers, 1)
    )


def otter(speakers: Sequence[str]) -> str:
    turns = "\n".join(f"{name}  0:{n:02}\nWe agree.\n" for n, name in enumerate(speakers, 1))
    return f"Fare review\nTue, Mar 17, 2026 9:00AM • 32:10\n\n{turns}\nTranscribed by https://otter.ai\n"


def fathom(speakers: Sequence[str]) -> str:
    turns = "\n".join(f"0:{n:02} - {name}\n  We agree.\n" for n, name in enumerate(speakers, 1))
    link = "https://fathom.video/share/abc"
    return f"Fare review - March 17, 2026\nVIEW RECORDING - 32 mins: {link}\n\n---\n\n{turns}"


def fathom_json(speakers: Sequence[str]) -> str:
    lines = [{"speaker": {"display_name": name}, "text": "We agree."} for name in speakers]
    meeting = {
        "title": "Fare review",
        "recording_id": 17,
        "created_at": "2026-03-17T09:00:00",
        "calendar_invitees": [],
        "transcript": lines,
    }
    return json.dumps({"items": [meeting], "next_cursor": None})


def granola(speakers: Sequence[str]) -> str:
    note = {
        "id": "not_1d3tmYTlCICgjy",
        "title": "Fare review",
        "created_at": "2026-03-17T09:00:00",
        "attendees": [{"name": name, "email": None} for name in speakers],
        "summary_markdown": "- We agree.",
    }
    return json.dumps({"notes": [note], "hasMore": False})


def granola_store(speakers: Sequence[str]) -> str:
    details = [{"details": {"person": {"name": {"fullName": name}}}} for name in speakers]
    note = {
        "id": "7f",
        "title": "Fare review",
        "created_at": "2026-03-17T09:00:00",
        "notes_markdown": "- We agree.",
        "people": {"attendees": details},
    }
    return json.dumps({"cache": json.dumps({"state": {"documents": {"7f": note}}})})


def ics(speakers: Sequence[str]) -> str:
    attendees = "".join(
        f'ATTENDEE;CN="{name}":mailto:x{number}@elsewhere.example\r\n'
        for number, name in enumerate(speakers)
    )
    return (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:17@x\r\n"
        "SUMMARY:Fare review\r\nDTSTART:20260317T090000\r\nDESCRIPTION:We agree.\r\n"
        f"{attendees}END:VEVENT\r\n"
        "END:VCALENDAR\r\n"
    )


def notion(speakers: Sequence[str]) -> str:
    names = ", ".join(name for name in speakers if "," not in name)
    return f"# Fare review\n\nDate: March 17, 2026\nAttendees: {names}\n\nWe agree.\n"


def logseq(speakers: Sequence[str]) -> str:
    names = ", ".join(f"[[{name}]]" for name in speakers if "," not in name)
    return f"attendees:: {names}\n\n- We agree.\n"


WRITERS: dict[str, tuple[str, Writer, Writer]] = {
    "vtt": ("2026-03-17 Fare review.vtt", vtt, voiced_vtt),
    "srt": ("2026-03-17 Fare review.srt", srt, srt),
    "otter": ("Fare review_otter_ai.txt", otter, otter),
    "fathom": ("Fare review.txt", fathom, fathom),
    "granola": ("granola.json", granola, granola_store),
    "ics": ("calendar.ics", ics, ics),
    "notion": ("Fare review 0123456789abcdef0123456789abcdef.md", notion, notion),
    "logseq": ("pages/Fare review.md", logseq, logseq),
}
"""For each format: a file name, and two ways in which programs write it."""


def samples(form: str) -> list[Sample]:
    """Return the samples of a format."""
    name, write, write_otherwise = WRITERS[form]
    accepts_commas = form not in ("notion", "logseq")
    labels = [label for label in LABELS if accepts_commas or "," not in label[0]]
    texts = [
        ((label[0], "Bob Okafor"), {label[1], "Bob Okafor"}, (write, write_otherwise)[n % 2])
        for n, label in enumerate(labels)
    ]
    cast = ("Alice Chen", "Marek Dvořák", "Hana Kobayashi")
    made = [
        Sample(SourceFile(name, way(who).encode(), "2026-03-17"), tuple(people))
        for who, people, way in texts
    ]
    text = write(cast)
    encoded = {
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "utf-16": text.encode("utf-16"),
        "crlf": text.replace("\r\n", "\n").replace("\n", "\r\n").encode(),
        "windows-1250": text.encode("cp1250"),
        "blank lines at the end": text.encode() + b"\n\n\n",
        "one speaker twice": write((*cast, "Alice Chen")).encode(),
        "an unknown person": write((*cast, "Zoltán Kodály")).encode(),
        "another way": write_otherwise(cast).encode(),
    }
    made += [Sample(SourceFile(name, data, "2026-03-17"), cast) for data in encoded.values()]
    while len(made) < 20:
        few = cast[: 1 + len(made) % 3]
        made.append(Sample(SourceFile(name, write(few).encode(), "2026-03-17"), few))
    return made
