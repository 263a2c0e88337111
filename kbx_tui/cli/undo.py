"""`kbx undo`: takes writes back."""

from __future__ import annotations

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command
from kbx_tui.safe_text import visible


@click.command(name="undo", cls=Command, short_help="Take the last write back.")
@click.argument("number", type=click.IntRange(min=1), required=False, metavar="[NUMBER]")
@click.option("--list", "listing", is_flag=True, help="List the last writes with their numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def command(number: int | None, listing: bool, as_json: bool) -> None:
    """Take the last write back, or the one of this number: a batch as a whole.

    A file that was edited since is left alone; what to do by hand is told.

    \b
    Examples:
      kbx undo
      kbx undo --list
    """
    from kbx_tui.tools.json.writing_json import entry_json

    with open_kb() as kb:
        if listing:
            entries = kb.undoable()
            if as_json:
                output.print_json([entry_json(entry) for entry in entries])
            for entry in () if as_json else entries:
                state = "  (undone)" if entry.undone else ""
                click.echo(visible(f"{entry.number:>5}  {entry.at}  {entry.told}{state}"))
            return
        entry = kb.undo(number)
    if as_json:
        output.print_json(entry_json(entry))
    else:
        paths = ", ".join(change.path for change in entry.changes)
        click.echo(visible(f"undone: {entry.told} ({paths})"))
