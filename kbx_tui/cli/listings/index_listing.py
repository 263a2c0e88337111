"""What an index holds, and files that could not be read completely, as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import IndexReport
    from kbx_tui.index.index_status import Status
    from kbx_tui.knowledge.records import Problem

SHOWN = 10


def totals(index: IndexReport | Status) -> str:
    """Return `63 documents, 317 chunks, ...`."""
    counts = {
        "document": index.documents,
        "chunk": index.chunks,
        "entity": index.entities,
        "fact": index.facts,
        "entity link": index.links,  # not those between documents, which `kbx links` counts
    }
    return ", ".join(format_count(count, noun) for noun, count in counts.items())


def problem_rows(problems: Sequence[Problem]) -> list[tuple[str, list[str]]]:
    """Return the problems, then what is left out on purpose: a count with its noun, and lines.

    There is a line for each of the first ten, then the number of further ones.
    """
    faults = [_problem_line(problem) for problem in problems if not problem.on_purpose]
    left_out = [f"{each.path}: {each.reason}" for each in problems if each.on_purpose]
    return [
        (format_count(len(faults), "problem") if faults else "", first_lines(faults)),
        (f"{len(left_out):,} left out on purpose" if left_out else "", first_lines(left_out)),
    ]


def first_lines(lines: Sequence[str]) -> list[str]:
    """Return the first ten of `lines`, then the number of further ones."""
    if len(lines) <= SHOWN:
        return list(lines)
    return [*lines[:SHOWN], f"and {len(lines) - SHOWN:,} more; `kbx status --json` lists all"]


def _problem_line(problem: Problem) -> str:
    line = f":{problem.line}" if problem.line else ""
    skipped = " (not indexed)" if problem.skipped else ""
    return f"{problem.path}{line}: {problem.reason}{skipped}"
