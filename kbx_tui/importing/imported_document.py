"""What is read from the files of other programs, before anything of a base is looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
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

    @property
    def text(self) -> str:
        """The content, whatever its encoding, with `\\n` line ends."""
        text, _ = decode(self.data)
        return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")


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


def content_id(data: bytes) -> str:
    """Return an id made from content, for formats that have none."""
    return hashlib.sha256(data).hexdigest()[:16]
