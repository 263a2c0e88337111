"""Folders in the Open Knowledge Format (OKF) v0.1: markdown pages that state their type."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kbx_tui.editing.pages.lossless_text import decode_lossless
from kbx_tui.errors import WriteFault
from kbx_tui.importing.imported_document import Imported, ImportedPage, ImportProblem, SourceFile
from kbx_tui.knowledge.parsing.decoding import decode
from kbx_tui.knowledge.parsing.fields import text_of
from kbx_tui.knowledge.parsing.frontmatter import read_frontmatter

RESERVED = frozenset({"index.md", "log.md"})
"""Names of files that describe a folder, not pages."""
ADDED = "# added by kbx export"
"""Marks the line that an export added to a page without a type."""

ADDED_FRONTMATTER = "# frontmatter added by kbx export"
"""Marks the line in a block of frontmatter that an export put before a page."""
_MARKED = re.compile(f"type: .* ({ADDED}|{ADDED_FRONTMATTER})")


def is_okf(files: Sequence[SourceFile]) -> bool:
    """Return whether most pages state a type, in a folder that has an index or a log."""
    pages = [file for file in files if file.suffix == ".md"]
    typed = sum(_type(file) != "" for file in pages if file.name not in RESERVED)
    has_reserved = any(file.name in RESERVED for file in pages)
    return has_reserved and typed > 0 and typed * 2 >= len(pages) - 1


def read_okf(files: Sequence[SourceFile]) -> Imported:
    """Return the pages as they are, at their own paths; those without a type are problems."""
    pages, problems = [], []
    for file in files:
        if file.suffix != ".md" or file.name in RESERVED:
            continue
        if not _type(file):
            reason = "it states no type, which the format requires"
            problems.append(ImportProblem(file.path, reason))
            continue
        pages.append(ImportedPage(file.path.removeprefix("memory/"), without_added_type(file.data)))
    return Imported(tuple(pages), tuple(problems))


def without_added_type(data: bytes) -> bytes:
    """Return a page as it was before an export added its type."""
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
