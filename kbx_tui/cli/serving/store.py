"""`kbx store`: object stores to which an index can be published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.base_command import Command, Group
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result
from kbx_tui.errors import StoreFault

if TYPE_CHECKING:
    from kbx_tui.object_store.store_check import StoreCheck


@click.group(name="store", cls=Group)
def command() -> None:
    """Object stores to which an index can be published.

    \b
    Examples:
      kbx store check s3://bucket/base
    """


@command.command(name="check", cls=Command)
@click.argument("uri", metavar="URI")
@json_option
def check(uri: str, as_json: bool) -> None:
    """Check that an object store loses no write.

    Lets 32 conditional writes race several times, to create and to replace an object, and measures
    how long requests take. A store where not exactly one of them wins is refused with exit code 5:
    two machines that publish to it could overwrite each other. Writes below URI/check, and
    deletes that again. Credentials come from the environment.

    \b
    Examples:
      kbx store check s3://bucket/base
      kbx store check az://container/base --json
    """
    from kbx_tui.object_store.object_client import ObjectClient
    from kbx_tui.object_store.store_check import check_store
    from kbx_tui.object_store.store_uri import parse_store_uri

    report = check_store(ObjectClient(parse_store_uri(uri), retries=0))
    print_result(asdict(report) | {"is_fit": report.is_fit}, _lines(report), as_json=as_json)
    if not report.is_fit:
        click.get_current_context().exit(StoreFault.exit_code)


def _lines(report: StoreCheck) -> Iterator[str]:
    yield from report.faults
    verdict = "loses no write" if report.is_fit else "is not fit for an index: writes may be lost"
    yield f"{report.uri} {verdict} ({report.writes} conditional writes)"
    yield (
        f"median request: read {report.read_ms:.1f} ms, write {report.write_ms:.1f} ms, "
        f"list {report.list_ms:.1f} ms"
    )
