"""`kbx undo`: undo writes."""

from __future__ import annotations

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result
from kbx_tui.cli.writing.write_output import print_versions
from kbx_tui.errors import FileChanged, RecordDamaged
from kbx_tui.tools.json.writing_json import entry_json

SHOWN = 10
"""Paths of an undone write that are printed."""


@click.command(name="undo", cls=Command)
@click.argument("number", type=click.IntRange(min=1), required=False, metavar="[NUMBER]")
@click.option("--list", "listing", is_flag=True, help="List the last writes with their numbers.")
@json_option
def command(number: int | None, listing: bool, as_json: bool) -> None:
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
        if not listing:
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
            shown = ", ".join(paths[:SHOWN])
            more = f" and {len(paths) - SHOWN:,} more" if len(paths) > SHOWN else ""
            line = f"undone: {entry.description} ({shown}{more})"
            print_result(entry_json(entry), [line], as_json=as_json)
            return
        entries = kb.undoable()
    lines = (
        f"{entry.number:>5}  {entry.written_at}  {entry.description}{'  (undone)' * entry.undone}"
        for entry in entries
    )
    print_result([entry_json(entry) for entry in entries], lines, as_json=as_json)
