"""Folders in the Open Knowledge Format (OKF) v0.1: markdown pages that state their type."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kbx_tui.importing.imported_document import Imported, ImportedPage, ImportProblem, SourceFile
from kbx_tui.knowledge.parsing.fields import text_of
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.safe_text import replace_surrogates

RESERVED = frozenset({"index.md", "log.md"})
"""Names of files that describe a folder, not pages."""
ADDED = "# added by kbx export"
"""Marks the line that an export added to a page without a type."""

_BLOCK = re.compile(rb"\A(\xef\xbb\xbf)?---\r?\ntype: [^\r\n]* # added by kbx export\r?\n---\r?\n")
_LINE = re.compile(rb"\A((?:\xef\xbb\xbf)?---\r?\n)type: [^\r\n]* # added by kbx export\r?\n")


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
        path = replace_surrogates(file.path)
        if not _type(file):
            problems.append(ImportProblem(path, "it states no type, which the format requires"))
            continue
        pages.append(ImportedPage(path.removeprefix("memory/"), without_added_type(file.data)))
    return Imported(tuple(pages), tuple(problems))


def without_added_type(data: bytes) -> bytes:
    """Return a page as it was before an export added its type."""
    if match := _BLOCK.match(data):
        return (match[1] or b"") + data[match.end() :]
    return _LINE.sub(rb"\1", data)


def _type(file: SourceFile) -> str:
    return text_of(parse_document(file.path, file.data).frontmatter.get("type"))
