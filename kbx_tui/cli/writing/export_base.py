"""`kbx export`: the pages of a base for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result, say
from kbx_tui.tools.json.import_json import export_json


@click.command(name="export", cls=Command)
@click.argument("folder", metavar="FOLDER", type=Path)
@click.option("--okf", is_flag=True, required=True, help="As Open Knowledge Format v0.1.")
@click.option("--include-redacted", is_flag=True, help="Also export what is redacted.")
@json_option
def command(folder: Path, okf: bool, include_redacted: bool, as_json: bool) -> None:
    """Write all pages to a new folder, in a format that other programs read.

    The Open Knowledge Format is markdown whose frontmatter states a type, with an index.md; a page
    without a type gets a marked line, which `kbx import` takes out again. Redacted pages and lines
    are left out.

    \b
    Examples:
      kbx export --okf ~/larkwater-okf
      kbx export --okf ~/larkwater-okf --include-redacted
    """
    with open_kb() as kb:
        export = kb.export_okf(folder, include_redacted=include_redacted)
    for path in export.reserved:
        say(f"{path} is left out: the format reserves its name")
    if export.withheld:
        say(f"{len(export.withheld):,} pages are left out in full or in part: they are redacted")
    lines = [f"{export.pages:,} pages · {export.folder}"]
    print_result(export_json(export), lines, as_json=as_json)
