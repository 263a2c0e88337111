"""`kbx check`: compare the index and the state files with what was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result
from kbx_tui.errors import IndexFault
from kbx_tui.formatting import format_count

if TYPE_CHECKING:
    from kbx_tui.api.checker import CheckReport


@click.command(name="check", cls=Command)
@click.option("--read-data", is_flag=True, help="Read and compare every byte and every row.")
@json_option
def command(read_data: bool, as_json: bool) -> None:
    """Check that index and state files are what was written.

    Compares structure, versions and the digests of files that changed; --read-data compares
    everything again. It only reads. The exit code is 5 if there is a fault, and each line says what
    mends it.

    \b
    Examples:
      kbx check
      kbx check --read-data        after a crash of the system or the disk
    """
    with open_kb() as kb:
        report = kb.check(read_data=read_data)
    print_result(asdict(report), check_lines(report), as_json=as_json)
    if not report.sound:
        click.get_current_context().exit(IndexFault.exit_code)


def check_lines(report: CheckReport) -> Iterator[str]:
    """Yield a line for each fault, then what was compared."""
    for fault in report.faults:
        yield f"{fault.where}: {fault.what}; mended by: {fault.remedy}"
    compared = f"{format_count(report.files, 'file')} and {format_count(report.rows, 'row')}"
    found = format_count(len(report.faults), "fault") if report.faults else "no fault"
    yield f"{found} in {compared}, {report.seconds:.1f} s"
