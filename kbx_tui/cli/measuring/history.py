"""`kbx history`: the queries asked in the app."""

from __future__ import annotations

from datetime import datetime

import click

from kbx_tui.cli.base_command import Group
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result, say
from kbx_tui.formatting import format_count


@click.group(name="history", cls=Group)
def command() -> None:
    """List or clear the queries asked in the app.

    The last 1,000 are in .kbx/queries.jsonl. `up` in the query line recalls them, and the tune mode
    shows what another threshold would have done with them.

    \b
    Examples:
      kbx history list
      kbx history clear --dry-run
      kbx history clear
    """


@command.command(name="list")
@json_option
def list_queries(as_json: bool) -> None:
    """List the queries asked in the app, the most recent first.

    \b
    Examples:
      kbx history list
      kbx history list --json | jq -r '.[].query'
    """
    with open_kb() as kb:
        past = kb.query_history()
    if not past:
        say("no query has been asked in the app yet")
    data = [{"query": query.query, "when": _when(query.at)} for query in past]
    lines = (f"{row['when'] or '':<19}  {row['query']}" for row in data)
    print_result(data, lines, as_json=as_json)


@command.command(name="clear")
@click.option("--dry-run", is_flag=True, help="Only count the queries.")
@json_option
def clear(dry_run: bool, as_json: bool) -> None:
    """Forget the queries asked in the app. Judgments stay.

    An app that is open still recalls those that it has read, until it ends.

    \b
    Examples:
      kbx history clear
      kbx history clear --dry-run --json
    """
    with open_kb() as kb:
        count = kb.clear_query_history(dry_run=dry_run)
    line = f"{'would forget' if dry_run else 'forgot'} {format_count(count, 'query')}"
    print_result({"queries": count, "cleared": not dry_run}, [line], as_json=as_json)


def _when(at: float) -> str | None:
    """Return a time as `2026-03-17T09:41:05`, in local time; None if not known."""
    try:
        return datetime.fromtimestamp(at).isoformat(timespec="seconds") if at else None
    except (ValueError, OverflowError, OSError):
        return None
