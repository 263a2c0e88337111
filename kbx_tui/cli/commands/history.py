"""`kbx history`: queries asked in the app or saved; `kbx undo`: reverting writes."""

from __future__ import annotations

import click

from kbx_tui.cli.base_command import Command, Group, open_kb
from kbx_tui.cli.options import flag, json_option, text_argument
from kbx_tui.cli.output import SHOWN, padded, print_result, say
from kbx_tui.cli.write_output import print_versions
from kbx_tui.errors import FileChanged, RecordDamaged
from kbx_tui.formatting import format_count, local_datetime
from kbx_tui.search.query_history import MAX_NAME
from kbx_tui.tools.json_output import entry_json, picked


@click.group(name="history", cls=Group, no_args_is_help=False)
def history_command() -> None:
    """List or clear the queries asked in the app, and those saved by name.

    The last 1,000 are in .kbx/queries.jsonl, with their settings and what they found. `up` in the
    query line recalls them, `ctrl+r` searches them, and the tune mode shows what another threshold
    would have done with them. `y s` in the app saves a query by name.

    \b
    Examples:
      kbx history list
      kbx history saved
      kbx history clear
    """


@history_command.command(name="list")
@json_option
def list_queries() -> None:
    """List the queries asked in the app, the most recent first.

    \b
    Examples:
      kbx history list
      kbx history list --json | jq -r '.[].query'
    """
    with open_kb() as kb:
        past = kb.queries.asked()
    if not past:
        say("no query has been asked in the app yet")
    data = [
        picked(asked, "query when found first settings", when=_when(asked.at)) for asked in past
    ]
    lines = (f"{row['when'] or '':<19}  {_count(row['found']):>7}  {row['query']}" for row in data)
    print_result(data, lines)


@history_command.command(name="clear")
@flag("--dry-run", "Only count the queries.")
@json_option
def clear(dry_run: bool) -> None:
    """Forget the queries asked in the app. Judgments stay.

    An app that is open still recalls those that it has read, until it ends.

    \b
    Examples:
      kbx history clear
      kbx history clear --dry-run --json
    """
    with open_kb() as kb:
        count = kb.queries.forget(dry_run=dry_run)
    line = f"{'would forget' if dry_run else 'forgot'} {format_count(count, 'query')}"
    print_result({"queries": count, "cleared": not dry_run}, [line])


@history_command.command(name="saved")
@json_option
def list_saved() -> None:
    """List the queries saved by name, with `y s` in the app.

    `ctrl+r` in the app runs one with its settings and lists what is new since it was last opened.

    \b
    Examples:
      kbx history saved
      kbx history saved --json | jq -r '.[].name'
    """
    from rich.cells import cell_len

    with open_kb() as kb:
        saved = kb.queries.saved()
    if not saved:
        say("no query is saved yet; `y s` in the app saves one")
    names = "name query opened documents settings"
    data = [
        picked(query, names, opened=_when(query.at), documents=len(query.documents))
        for query in saved
    ]
    width = min(max((cell_len(query.name) for query in saved), default=0), MAX_NAME)
    lines = (
        f"{padded(row['name'], width)}  {row['opened'] or '':<19}  {row['query']}" for row in data
    )
    print_result(data, lines)


@history_command.command(name="remove")
@text_argument("name", "NAME...", "the name is empty; `kbx history saved` lists them")
@json_option
def remove(name: str) -> None:
    """Remove a saved query. Its documents and judgments stay.

    \b
    Examples:
      kbx history remove open incidents
      kbx history remove "open incidents" --json
    """
    with open_kb() as kb:
        saved = kb.queries.remove(name)
    line = f"removed {saved.name}: {saved.query}"
    print_result(picked(saved, "name query"), [line])


def _count(found: int | None) -> str:
    return "" if found is None else f"{found:,}"


def _when(at: float) -> str | None:
    """Return a time as `2026-03-17T09:41:05`, in local time; None if unknown."""
    return local_datetime(at).isoformat(timespec="seconds") if at else None


@click.command(name="undo", cls=Command)
@click.argument("number", type=click.IntRange(min=1), required=False, metavar="[NUMBER]")
@flag("--list listing", "List the last writes with their numbers.")
@json_option
def undo_command(number: int | None, listing: bool) -> None:
    """Undo the last write.

    NUMBER names an earlier write. A batch is undone as a whole. A file edited since the write is
    left alone, and a diff shows what to revert by hand. A write whose record is damaged is not
    undone; a diff shows what the record would have restored.

    \b
    Examples:
      kbx undo
      kbx undo --list
    """
    with open_kb() as kb:
        if listing:
            entries = kb.undoable()
            lines = (
                f"{one.number:>5}  {one.written_at}  {one.description}{'  (undone)' * one.undone}"
                for one in entries
            )
            print_result([entry_json(entry) for entry in entries], lines)
            return
        try:
            entry = kb.undo(number)
        except FileChanged as error:
            names = (f"{error.path} with write", f"{error.path} without it")
            print_versions(error.expected, error.replaced, names)
            raise
        except RecordDamaged as error:
            names = (f"{error.path} now", f"{error.path} as the record would restore it")
            print_versions(error.current, error.restored, names)
            raise
    paths = [change.path for change in entry.changes]
    more = f" and {len(paths) - SHOWN:,} more" if len(paths) > SHOWN else ""
    line = f"undone: {entry.description} ({', '.join(paths[:SHOWN])}{more})"
    print_result(entry_json(entry), [line])
