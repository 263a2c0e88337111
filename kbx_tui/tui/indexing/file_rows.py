"""The files that need attention, in groups. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.evaluation.over_retrieved import OverRetrieved
    from kbx_tui.index.index_overview import IndexOverview

Kind = Literal["problem", "stale", "over-retrieved", "muted", "unembedded", "template"]


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file, and what is to be known about it."""

    kind: Kind
    path: str
    line: int
    """Where to look in the file, from 1; 0 for its beginning."""
    text: str
    is_gone: bool = False

    @property
    def place(self) -> str:
        """`memory/people/ida.md:12`, without control characters."""
        return safe_line(f"{self.path}:{self.line}" if self.line else self.path)


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files of one kind."""

    title: str
    advice: str
    rows: tuple[FileRow, ...]


def file_groups(
    overview: IndexOverview, over_retrieved: Sequence[OverRetrieved], muted: Sequence[str]
) -> tuple[FileGroup, ...]:
    """Return the groups that have files, the most urgent first."""
    hubs = [
        FileRow("over-retrieved", each.path, 0, _occurrences(each))
        for each in over_retrieved
        if each.path not in muted
    ]
    silent = [FileRow("muted", path, 0, "left out of every search") for path in muted]
    problems = [
        FileRow(
            "problem",
            problem.path,
            problem.line or 0,
            safe_line(problem.reason) + " (not indexed)" * problem.skipped,
        )
        for problem in overview.problems
    ]
    stale = [
        FileRow("stale", path, 0, change, is_gone=change == "deleted")
        for path, change in overview.stale
    ]
    unembedded = [
        FileRow("unembedded", path, 0, f"{format_count(count, 'text')} without a vector")
        for path, count in overview.unembedded
    ]
    templates = [
        FileRow("template", each.path, 0, safe_line(each.reason)) for each in overview.templates
    ]
    groups = (
        _group("problem", "", problems, "mend the file"),
        _group("file", "to index", stale, "the next run reads it"),
        _group("document", "too often found", hubs, "by queries without a word of its title"),
        _group("muted document", "", silent, "[search] muted_documents in kbx.toml"),
        _group("document", "without vectors", unembedded, "words find it, meaning not yet"),
        _group("place", "left out", templates, "on purpose; nothing is to be done"),
    )
    return tuple(group for group in groups if group.rows)


def _occurrences(document: OverRetrieved) -> str:
    return f"among the first ten of {document.occurrences:,} of {document.queries:,} queries"


def _group(noun: str, rest: str, rows: Sequence[FileRow], advice: str) -> FileGroup:
    return FileGroup(f"{format_count(len(rows), noun)} {rest}".strip(), advice, tuple(rows))
