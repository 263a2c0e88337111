"""`kbx index`: bring the index up to date with the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.problems import problem_lines
from kbx_tui.cli.running import EXIT_INTERRUPTED, Command, say
from kbx_tui.formatting import count_words, size_words

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import IndexReport


@click.command(name="index", cls=Command, short_help="Bring the index up to date.")
@click.option("--full", is_flag=True, help="Build everything anew; known vectors are kept.")
@click.option("--fast", is_flag=True, help="Only text and entities, no vectors.")
@click.option("--no-wait", is_flag=True, help="Fail when another process is indexing.")
@click.option("--json", "as_json", is_flag=True, help="Counts and seconds per stage as JSON.")
def command(full: bool, fast: bool, no_wait: bool, as_json: bool) -> None:
    """Bring the index up to date with the files.

    Only what changed is read and embedded again. Text and entities come first and can be searched
    while the rest is made. Stopped at any moment, the next run goes on from there. Your files are
    only read; deleting .kbx/index loses nothing.

    \b
    Examples:
      kbx index
      kbx index --fast             only words, ready in seconds
      kbx index --json | jq .seconds
    """
    from kbx_tui.cli.progress import show_progress

    try:
        with open_kb() as kb, show_progress() as progress:
            report = kb.index(progress, fast=fast, full=full, wait=not no_wait)
    except KeyboardInterrupt:
        say("interrupted; what is indexed can be searched, the next run goes on")
        click.get_current_context().exit(EXIT_INTERRUPTED)
    if as_json:
        output.print_json(index_json(report))
    else:
        click.echo(report_text(report))


def index_json(report: IndexReport) -> dict[str, Any]:
    """Return what `--json` prints."""
    from dataclasses import asdict

    return asdict(report) | {
        "seconds": {stage: round(spent, 3) for stage, spent in report.seconds.items()}
    }


def report_text(report: IndexReport) -> str:
    """Return what came of it, in words."""
    lines = [
        f"{count_words(report.documents, 'document')}, {count_words(report.chunks, 'chunk')}, "
        f"{count_words(report.entities, 'entity')}, {count_words(report.facts, 'fact')}, "
        f"{count_words(report.links, 'link')}; {size_words(report.size_bytes)}",
        _changes(report),
        _seconds(report),
    ]
    if report.problems:
        lines.append(f"{count_words(len(report.problems), 'problem')}:")
        lines += [f"  {line}" for line in problem_lines(report.problems)]
    return "\n".join(lines)


def _changes(report: IndexReport) -> str:
    changes = {
        "new": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "deleted": report.deleted,
    }
    words = [f"{count:,} {name}" for name, count in changes.items() if count]
    embedded = f"{report.embedded:,} texts embedded, {report.reused:,} known"
    return f"{', '.join(words) or 'no file changed'}; {embedded}"


def _seconds(report: IndexReport) -> str:
    stages = [
        f"{stage} {spent:.1f}"
        for stage, spent in report.seconds.items()
        if stage != "total" and spent >= 0.05
    ]
    detail = f" ({', '.join(stages)})" if stages else ""
    return f"{report.seconds['total']:.1f} s{detail}"
