"""Files that could not be read, or not wholly, as lines for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from kbx_tui.knowledge.records import Problem

SHOWN = 10


def problem_lines(problems: Sequence[Problem]) -> list[str]:
    """Return a line for each of the first ten problems, and how many more there are."""
    return first_lines([_line(problem) for problem in problems])


def first_lines(lines: Sequence[str]) -> list[str]:
    """Return the first ten of `lines`, and how many more there are."""
    more = [f"and {len(lines) - SHOWN:,} more; `kbx status --json` lists all"]
    return [*lines[:SHOWN], *(more if len(lines) > SHOWN else [])]


def _line(problem: Problem) -> str:
    line = f":{problem.line}" if problem.line else ""
    skipped = " (not indexed)" if problem.skipped else ""
    return visible(f"{problem.path}{line}: {problem.reason}{skipped}")
