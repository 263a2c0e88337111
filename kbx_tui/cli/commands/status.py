"""`kbx status`: what is indexed, what is out of date, which files had problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.listings.index_listing import first_lines, problem_rows, totals
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result
from kbx_tui.formatting import format_count, format_percent, format_size
from kbx_tui.log_file import log_path

if TYPE_CHECKING:
    from kbx_tui.index.index_status import Status

Rows = list[tuple[str, str]]
"""Labels and values; an empty label continues the row above."""


@click.command(name="status", cls=Command)
@json_option
def command(as_json: bool) -> None:
    """Show what is indexed and what is out of date.

    Files that could not be read completely are listed too; --json lists all of them.

    \b
    Examples:
      kbx status
      kbx status --json | jq .stale
    """
    with open_kb() as kb:
        status = kb.status()
    print_result(status_json(status), status_lines(status), as_json=as_json)


def status_json(status: Status) -> dict[str, Any]:
    """Return what `--json` prints."""
    return asdict(status) | {
        "root": str(status.root),
        "log": str(log_path()),
        "vector_share": round(status.vector_share, 4),
        "stale": [{"path": path, "change": change} for path, change in status.stale],
    }


def status_lines(status: Status) -> Iterator[str]:
    """Yield the status as labelled lines of text."""
    rows: Rows = [("root", str(status.root))]
    if status.indexed:
        rows += [
            ("index", f"{status.index_path}, {format_size(status.size_bytes)}"),
            *([("published", status.published)] if status.published else []),
            ("indexed", status.indexed_at.replace("T", " ") or "not finished yet"),
            ("holds", totals(status)),
            ("meaning", _vector_coverage(status)),
            ("model", status.model),
        ]
    elif not status.damage:
        rows.append(("index", "none yet; `kbx index` or the first search builds it"))
    rows += [("damage" if row == 0 else "", line) for row, line in enumerate(status.damage)]
    if status.entities_outdated:
        rows.append(("entities", "[entities] in kbx.toml changed; `kbx index` applies it"))
    rows += [*_stale_rows(status), *_problem_rows(status), ("log", str(log_path()))]
    return (f"{name:<9} {value}".rstrip() for name, value in rows)


def _vector_coverage(status: Status) -> str:
    """Return the share of texts that can be found by meaning."""
    coverage = f"{format_percent(status.vector_share)}, {status.vectors:,} vectors"
    if not status.without_vector:
        return coverage
    missing = format_count(status.without_vector, "text")
    return f"{coverage}; {missing} without one, `kbx index` computes the rest"


def _stale_rows(status: Status) -> Rows:
    if not status.indexed:
        return [("files", f"{format_count(len(status.stale), 'document')} to index")]
    if not status.stale:
        return [("stale", "nothing")]
    lines = first_lines([f"{change} {path}" for path, change in status.stale])
    head = f"{format_count(len(status.stale), 'file')}; `kbx index` updates the index"
    return [("stale", head), *(("", line) for line in lines)]


def _problem_rows(status: Status) -> Rows:
    (_, faults), (_, left_out) = problem_rows(status.problems)
    count = sum(not problem.on_purpose for problem in status.problems)
    rows = [("problems", f"{count:,}" if faults else "none"), *(("", line) for line in faults)]
    return [*rows, *(("left out" * (not row), line) for row, line in enumerate(left_out))]
