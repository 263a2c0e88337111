"""Writes a base as a folder in the Open Knowledge Format (OKF) v0.1.

The format is markdown whose frontmatter states a type. A page that states none is given one on a
marked line, which an import removes again, so that a base round-trips byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from kbx_tui.editing.lossless_text import decode_lossless
from kbx_tui.editing.page_edits import field_lines
from kbx_tui.errors import ConfigError, WriteFault
from kbx_tui.importing.imported_document import (
    Imported,
    ImportedPage,
    ImportProblem,
    SourceFile,
    name_left_out,
)
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import text_of
from kbx_tui.knowledge.reading import Conventions, parse_document, read_frontmatter
from kbx_tui.knowledge.records import Document
from kbx_tui.knowledge.redaction import public_data

_MARKUP = re.compile(r"[\[\]()]")
_IN_ADDRESS = re.compile(r"[\s()<>#%?\\]")
"""Characters that end a link's address or have a special meaning in it."""


@dataclass(frozen=True, slots=True)
class OkfExport:
    folder: Path
    pages: int
    withheld: tuple[str, ...]
    """Paths left out, or written without some lines, because they are redacted."""
    reserved: tuple[str, ...]
    """Paths left out because the format reserves their names."""


def write_okf(
    folder: Path,
    pages: Iterable[tuple[str, bytes]],
    entity_types: frozenset[str],
    conventions: Conventions,
    *,
    include_redacted: bool,
) -> OkfExport:
    """Write pages and an index to a new folder. Raises ConfigError and WriteFault."""
    folder = folder.expanduser().absolute()
    try:
        if folder.exists() and any(folder.iterdir()):
            raise ConfigError(f"{folder} is not empty; give a new folder to export to")
        folder.mkdir(parents=True, exist_ok=True)
        withheld, reserved, written = [], [], []
        for path, data in pages:
            name = path.removeprefix("memory/")
            if name.rpartition("/")[2].lower() in RESERVED:
                reserved.append(path)
                continue
            shown = data if include_redacted else public_data(path, data, entity_types, conventions)
            if shown is not data:
                withheld.append(path)
            if shown is None:
                continue
            document = parse_document(path, shown, entity_types=entity_types)
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(with_type(document, shown))
            written.append((name, document))
        (folder / "index.md").write_text(_index(written), encoding="utf-8")
    except OSError as error:
        raise WriteFault(f"{folder} cannot be written: {error.strerror or error}") from error
    return OkfExport(folder, len(written), tuple(withheld), tuple(reserved))


def with_type(document: Document, data: bytes) -> bytes:
    """Return a page that states its type, if needed with a line added to its frontmatter.

    If that line would not be read, because the frontmatter is broken or has an empty type, a new
    block of frontmatter is put before it.
    """
    if _states_type(data):
        return data
    try:
        text = decode_lossless(data)
    except WriteFault:
        return data  # an added line could not be removed exactly
    line = field_lines("type", document.kind)
    if document.body_line > 1:
        typed = text.apply(text.insert_line(1, f"{line} {ADDED}"))
        if _states_type(typed):
            return typed
    return text.apply(text.insert_line(0, f"---\n{line} {ADDED_FRONTMATTER}\n---"))


def _states_type(data: bytes) -> bool:
    front = read_frontmatter(decode(data)[0])
    return not front.fault and text_of(front.values.get("type")) != ""


def _index(pages: list[tuple[str, Document]]) -> str:
    lines, folder = ["# Index", ""], ""
    for name, document in sorted(pages, key=lambda page: page[0]):
        parent = name.rpartition("/")[0]
        if parent != folder:
            folder = parent
            lines += ["", f"## {parent}", ""]
        title = _MARKUP.sub(" ", document.title).strip() or name
        address = _IN_ADDRESS.sub(lambda match: quote(match[0]), name)
        lines.append(f"- [{title}]({address})")
    return "\n".join(lines) + "\n"


RESERVED = frozenset({"index.md", "log.md"})
"""File names that describe a folder; they are not pages."""
ADDED = "# added by kbx export"
"""Marks a type line that an export added to existing frontmatter."""

ADDED_FRONTMATTER = "# frontmatter added by kbx export"
"""Marks the type line of a frontmatter block that an export put before a page."""
_MARKED = re.compile(f"type: .* ({ADDED}|{ADDED_FRONTMATTER})")


def is_okf(files: Sequence[SourceFile]) -> bool:
    """Return whether a folder has an index or a log and most of its pages state a type."""
    pages = [file for file in files if file.suffix == ".md"]
    typed = sum(_type(file) != "" for file in pages if file.name not in RESERVED)
    has_reserved = any(file.name in RESERVED for file in pages)
    return has_reserved and typed > 0 and typed * 2 >= len(pages) - 1


def read_okf(files: Sequence[SourceFile]) -> Imported:
    """Return the pages as they are, at their own paths; those without a type are problems."""
    pages, problems = [], []
    others = [file.path for file in files if file.suffix != ".md"]
    for file in files:
        if file.suffix != ".md" or file.name in RESERVED:
            continue
        if not _type(file):
            reason = "it states no type, which the format requires"
            problems.append(ImportProblem(file.path, reason))
            continue
        pages.append(ImportedPage(file.path.removeprefix("memory/"), without_added_type(file.data)))
    return Imported(tuple(pages), tuple(problems)) + name_left_out("the folder", others)


def without_added_type(data: bytes) -> bytes:
    try:
        text = decode_lossless(data)
    except WriteFault:
        return data
    if len(text.line_starts) < 3 or not (match := _MARKED.fullmatch(text.line(1))):
        return data
    first, end = (0, 3) if match[1] == ADDED_FRONTMATTER else (1, 2)
    return text.apply(text.remove_lines(first, end))


def _type(file: SourceFile) -> str:
    return text_of(read_frontmatter(decode(file.data)[0]).values.get("type"))
