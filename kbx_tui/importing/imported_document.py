"""What is read from the files of other programs, before anything of a base is looked at, and what
several readers need: text and JSON of a file, ids, dates, names, turns of speakers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.records import Attendee

DocumentKind = Literal["meeting", "note", "person"]
Format = Literal[
    "vtt", "srt", "otter", "fathom", "granola", "chatgpt", "claude", "notion", "logseq", "ics",
    "vcard", "okf",
]  # fmt: skip
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class SourceFile:
    path: str
    """Relative to the folder or archive it was read from, with `/`; the name of a single file."""
    data: bytes
    modified: str = ""
    """ISO date of its last change."""

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    @property
    def suffix(self) -> str:
        """The last suffix in lower case, with its dot."""
        return PurePosixPath(self.path).suffix.lower()


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    import_id: str
    """`format:id`, the same each time the document is imported."""
    kind: DocumentKind
    title: str
    body: str = ""
    date: str = ""
    """ISO `YYYY-MM-DD`, or empty."""
    subtype: str = ""
    """`type:` of a meeting, such as `transcript`."""
    attendees: tuple[Attendee, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Further frontmatter, JSON-safe."""
    folder: str = ""
    """Folder below `notes/` or `meetings/` that keeps the order of the source; else by date."""
    stem: str = ""
    """File name without suffix; by default, made from the title."""


@dataclass(frozen=True, slots=True)
class ImportedPage:
    """One page that is taken over byte for byte, at its own path."""

    path: str
    """Relative to `memory/`, with `/`."""
    data: bytes


@dataclass(frozen=True, slots=True)
class ImportProblem:
    path: str
    reason: str
    """One sentence without a final full stop."""


@dataclass(frozen=True, slots=True)
class Imported:
    documents: tuple[ImportedDocument | ImportedPage, ...] = ()
    problems: tuple[ImportProblem, ...] = ()

    def __add__(self, other: Imported) -> Imported:
        return Imported(self.documents + other.documents, self.problems + other.problems)


Turn = tuple[str, str]
"""Speaker, empty if unknown, and what they said."""

_SPEAKER = re.compile(r"^\s*(?:-\s+)?([^\W\d_][\w .,'’()&/-]{0,59}?)\s*:\s+(?=\S)")
_DIGITAL_DATE = re.compile(r"(?<!\d)(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")
_NAME_NOISE = re.compile(r"[\s_]+")


def text_of_file(file: SourceFile) -> str:
    """Return the text of a file, whatever its encoding, with `\\n` line ends."""
    return decode(file.data)[0].replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


def json_of_file(file: SourceFile) -> Any:
    try:
        return json.loads(text_of_file(file))
    except RecursionError as error:
        raise ValueError("its JSON is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from error


def content_id(data: bytes) -> str:
    """Return an id made from content, for formats that have none."""
    return hashlib.sha256(data).hexdigest()[:16]


def date_in_name(name: str) -> str:
    """Return the ISO date in a file name, such as that of a recording; empty without one."""
    for match in _DIGITAL_DATE.finditer(name):
        try:
            return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
        except ValueError:
            continue
    return ""


def local_date(moment: object) -> str:
    """Return the local date of an ISO time or of seconds since 1970; empty for anything else."""
    try:
        if isinstance(moment, int | float) and not isinstance(moment, bool):
            return datetime.fromtimestamp(moment).date().isoformat()
        parsed = datetime.fromisoformat(str(moment).strip())
    except (ValueError, OverflowError, OSError):
        return ""
    return (parsed.astimezone() if parsed.tzinfo else parsed).date().isoformat()


def title_in_name(stem: str) -> str:
    """Return a readable title made from a file name, without dates and times of recordings."""
    text = re.sub(r"(?i)(\.transcript|[_ ]recording|gmt(?=20\d\d))(?![a-z])", " ", stem)
    text = _DIGITAL_DATE.sub(" ", text)
    text = re.sub(r"(?<![\w-])-?\d{6}(?!\d)", " ", text)
    text = _NAME_NOISE.sub(" ", text).strip(" -_.")
    return text or "Meeting"


def spoken_by(text: str) -> Turn:
    """Return the speaker and the words of a line such as `Alice Chen: Good morning`."""
    match = _SPEAKER.match(text)
    if match and len(match[1].split()) <= 6:
        return match[1].strip(), text[match.end() :].strip()
    return "", text.strip()


def split_transcript(
    lines: Iterable[str], heading: re.Pattern[str]
) -> tuple[list[str], list[Turn]]:
    """Return the lines before the first turn, and the turns.

    A line that matches `heading`, which has the speaker as its group `name`, begins a turn.
    """
    head: list[str] = []
    turns: list[Turn] = []
    for line in lines:
        if match := heading.match(line):
            turns.append((match["name"].strip(), ""))
        elif not turns:
            head.append(line)
        elif line.strip():
            name, words = turns[-1]
            turns[-1] = name, f"{words} {line.strip()}"
    return head, turns


def speech(turns: Iterable[Turn]) -> str:
    """Return turns as paragraphs, `**Speaker:** words`; adjacent ones of a speaker are joined."""
    paragraphs = []
    for speaker, group in groupby(turns, key=lambda turn: turn[0]):
        words = " ".join(" ".join(text.split()) for _, text in group if text.strip())
        if words:
            paragraphs.append(f"**{speaker}:** {words}" if speaker else words)
    return "\n\n".join(paragraphs) + "\n" if paragraphs else ""


def speakers(turns: Sequence[Turn]) -> tuple[Attendee, ...]:
    """Return the distinct speakers in the order in which they speak."""
    return tuple(Attendee(name) for name in dict.fromkeys(name for name, _ in turns if name))


def text_in(record: object, *keys: str) -> str:
    """Return the first non-blank text of a JSON object under these keys, else an empty one."""
    if isinstance(record, dict):
        for key in keys:
            value = record.get(key)
            if isinstance(value, str) and value.strip():
                return value.strip()
    return ""


def objects_in(value: object) -> list[dict[str, Any]]:
    """Return the objects of a JSON list, or the object itself; anything else gives none."""
    if isinstance(value, dict):
        return [value]
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
