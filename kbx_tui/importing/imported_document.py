"""Documents read from other programs' files, before they are matched with a base."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from kbx_tui.importing.rich_text import markdown_of
from kbx_tui.knowledge.decoding import decode, encoding_of
from kbx_tui.knowledge.folding import tokens
from kbx_tui.knowledge.records import Attendee

DocumentKind = Literal["meeting", "note", "person"]
Format = Literal[
    "vtt", "srt", "otter", "fathom", "granola", "chatgpt", "claude", "notion", "logseq", "ics",
    "vcard", "okf", "pdf", "docx",
]  # fmt: skip
FORMATS: tuple[Format, ...] = get_args(Format)

_FOLD = re.compile(rb"(?:\r{0,2}\n|\r)[ \t]")


@dataclass(frozen=True, slots=True)
class SourceFile:
    path: str
    """Relative to the source folder or archive, with `/`; for a single file, its name."""
    data: bytes
    modified: str = ""
    """ISO date of the last change; empty if unknown."""
    place: Path | None = None
    """Where the file lies if it is not read yet: `data` is empty."""

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
    def is_page(self) -> bool:
        return self.suffix in (".md", ".markdown")

    @property
    def text(self) -> str:
        """The content, whatever its encoding, with `\\n` line ends."""
        text, _ = decode(self.data.replace(b"\r\r\n", b"\n"))  # line ends converted twice
        return text.removeprefix("\ufeff")

    @property
    def unfolded(self) -> str:
        """The text of a card or calendar, with folded lines joined: some end within a character."""
        _, encoding = encoding_of(self.data)
        is_wide = encoding.startswith(("utf-16", "utf-32"))
        data = self.text.encode() if is_wide else self.data
        return replace(self, data=_FOLD.sub(b"", data)).text


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    import_id: str
    """`format:id`; the same every time the document is imported."""
    kind: DocumentKind
    title: str
    body: str = ""
    date: str = ""
    """ISO `YYYY-MM-DD`, or empty."""
    subtype: str = ""
    """The meeting's `type:` in frontmatter, such as `transcript`."""
    attendees: tuple[Attendee, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Further frontmatter, JSON-safe."""
    folder: str = ""
    """Folder below `notes/` or `meetings/`, as in the source; if empty, it is chosen by date."""
    stem: str = ""
    """File name without suffix; by default, made from the title."""


@dataclass(frozen=True, slots=True)
class ImportedPage:
    """A page that is imported byte for byte, at its own path."""

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


def name_left_out(source: str, paths: Iterable[str]) -> Imported:
    """Return a problem that counts files which are not read by their suffix; none for no file."""
    counts = Counter(PurePosixPath(path).suffix.lower() or "others" for path in paths)
    kinds = ", ".join(f"{count:,} {suffix}" for suffix, count in sorted(counts.items()))
    return Imported(problems=(ImportProblem(source, f"files left out: {kinds}"),) if kinds else ())


_ADDRESS = re.compile(r"\]\([^()\s]*\)|https?://\S+")
_LETTERS = re.compile(r"[^\W\d_]+")


def unread_fields(
    record: Mapping[str, Any], document: ImportedDocument, aside: Collection[str] = ()
) -> frozenset[str]:
    """Return the fields of a JSON object, as `crm.contacts.name`, with text that is not in a page.

    Fields `aside` are not looked at. Text is what someone may have written: several words, or one
    that is capitalised and no id, time or address.
    """
    who = (f"{each.name} {each.email}" for each in document.attendees)
    parts = (document.title, document.body, *map(str, document.fields.values()), *who)
    shown = _ShownText(" ".join(parts))
    fields = {key: value for key, value in record.items() if key not in aside}
    unread = set[str]()
    for name, text in _texts_in(fields, "", MOST_NESTED):
        if name in unread or shown.has(name, text) or shown.has(name, markdown_of(text)):
            continue
        unread.add(name)
    return frozenset(unread)


class _ShownText:
    """The text of a page, in which that of one field is looked for from where the last began."""

    def __init__(self, text: str) -> None:
        self._text = f" {_words(text)} "
        self._words = frozenset(self._text.split())
        self._known: dict[str, bool] = {}
        self._places: dict[str, int] = {}

    def has(self, field: str, text: str) -> bool:
        return all(self._has(field, line) for line in map(_words, text.split("\n")) if line)

    def _has(self, field: str, line: str) -> bool:
        if line not in self._known and self._words.issuperset(line.split()):
            last = self._places.get(field, 0)
            place = self._text.find(f" {line} ", last)
            place = self._text.find(f" {line} ") if place < 0 < last else place
            self._places[field] = last if place < 0 else place
            self._known[line] = place >= 0
        return self._known.setdefault(line, False)


MOST_NESTED = 20


def _texts_in(value: object, name: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        words = _LETTERS.findall(value)
        if (" " in value and len(words) > 1) or (words == [value] and value[0].isupper()):
            yield name, value
    elif isinstance(value, Mapping) and depth:
        for key, entry in value.items():
            yield from _texts_in(entry, f"{name}.{key}" if name else key, depth - 1)
    elif isinstance(value, list) and depth:
        for entry in value:
            yield from _texts_in(entry, name, depth - 1)


def _words(text: str) -> str:
    return " ".join(tokens(_ADDRESS.sub(" ", text)))


def name_unread_fields(path: str, found: Iterable[frozenset[str]]) -> tuple[ImportProblem, ...]:
    """Return a problem that names the fields of a file's objects with text that is left out."""
    counts = Counter(name for names in found for name in names)
    fields = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    return (ImportProblem(path, f"fields left out: {fields}"),) if fields else ()


def content_id(data: bytes) -> str:
    """Return an id made from the content, for formats without ids."""
    return hashlib.sha256(data).hexdigest()[:16]


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as a table whose first row is the header; empty without rows."""
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    lines[1:1] = ["|" + " --- |" * len(row) for row in cells[:1]]
    return "\n".join(lines)
