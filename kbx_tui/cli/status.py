"""`kbx status`: what is indexed, what is out of date, what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.problems import first_lines, problem_lines
from kbx_tui.cli.running import Command
from kbx_tui.formatting import count_words, size_words
from kbx_tui.log_file import log_path
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from kbx_tui.index.status import Status


@click.command(
    name="status", cls=Command, short_help="Say what is indexed and what is out of date."
)
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON, all files named.")
def command(as_json: bool) -> None:
    """Say what is indexed, what is out of date and which files had problems.

    \b
    Examples:
      kbx status
      kbx status --json | jq .stale
    """
    with open_kb() as kb:
        status = kb.status()
    if as_json:
        output.print_json(status_json(status))
    else:
        click.echo(status_text(status))


def status_json(status: Status) -> dict[str, Any]:
    """Return what `--json` prints."""
    from dataclasses import asdict

    return asdict(status) | {
        "root": str(status.root),
        "log": str(log_path()),
        "vector_share": round(status.vector_share, 4),
        "stale": [{"path": path, "change": change} for path, change in status.stale],
    }


def status_text(status: Status) -> str:
    """Return the state in words."""
    rows = [("root", str(status.root))]
    if status.indexed:
        counts = [
            count_words(status.documents, "document"),
            count_words(status.chunks, "chunk"),
            count_words(status.entities, "entity"),
            count_words(status.facts, "fact"),
            count_words(status.links, "link"),
        ]
        rows += [
            ("index", f"{status.index_path}, {size_words(status.size_bytes)}"),
            ("indexed", status.indexed_at.replace("T", " ") or "not finished yet"),
            ("holds", ", ".join(counts)),
            ("meaning", _meaning(status)),
            ("model", status.model),
        ]
    else:
        rows.append(("index", "none yet; `kbx index` makes it, the first search too"))
    rows += _stale(status)
    rows += _problems(status)
    rows.append(("log", str(log_path())))
    return "\n".join(f"{name:<9} {visible(value)}".rstrip() for name, value in rows)


def _meaning(status: Status) -> str:
    made = f"{_percent(status.vector_share)}, {status.vectors:,} vectors"
    return made if status.vector_share >= 1.0 else f"{made}; `kbx index` makes the rest"


def _stale(status: Status) -> list[tuple[str, str]]:
    if not status.indexed:
        return [("files", f"{count_words(len(status.stale), 'document')} to index")]
    if not status.stale:
        return [("stale", "nothing")]
    lines = first_lines([f"{change} {path}" for path, change in status.stale])
    head = f"{count_words(len(status.stale), 'file')}; `kbx index` brings them in"
    return [("stale", head), *(("", line) for line in lines)]


def _problems(status: Status) -> list[tuple[str, str]]:
    lines = problem_lines(status.problems)
    return [
        ("problems", f"{len(status.problems):,}" if lines else "none"),
        *(("", line) for line in lines),
    ]


def _percent(share: float) -> str:
    """Return `34 %`; 100 % only when nothing is missing."""
    return f"{int(share * 100)} %"
