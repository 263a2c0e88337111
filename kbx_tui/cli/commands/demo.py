"""`kbx demo`: explore a sample knowledge base."""

from __future__ import annotations

from pathlib import Path

import click

from kbx_tui.cli.app import compose_headless, run_app
from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.output import say
from kbx_tui.errors import KbxError

SMOKE_QUERY = "what did the platform team decide about migration?"


@click.command(name="demo", cls=Command)
@click.option("--reset", is_flag=True, help="Restore the original sample, then exit.")
@click.option(
    "--smoke", is_flag=True, help="Index, search and compose the app without a terminal, then exit."
)
@click.option("--tour", is_flag=True, help="Show the tour of the first start again.")
def command(reset: bool, smoke: bool, tour: bool) -> None:
    """Explore a sample knowledge base.

    The sample, a fictional company that makes software for ferry lines, is first copied to your
    data folder (KBX_DEMO_DIR names another place), so you may change anything in it. --reset undoes
    your changes; files that you added are kept in a folder beside it. The first start shows a tour
    in six steps, which esc ends.

    \b
    Examples:
      kbx demo
      kbx demo --reset
      kbx demo --tour
    """
    from kbx_tui.demo.install import install_demo

    root = install_demo(reset=reset, notice=say)
    if smoke:
        click.echo(_smoke_test(root))
    elif reset:
        say(f"restored the original sample in {root}")
    else:
        run_app(root, tour="always" if tour else "first")


def _smoke_test(root: Path) -> str:
    """Return one line saying that indexing, search and the app work. Raises KbxError if not."""
    with open_kb(root) as kb:
        report = kb.index()
        response = kb.search(SMOKE_QUERY)
        if not response.results:
            raise KbxError(f"nothing found in {root} for {SMOKE_QUERY!r}")
        widgets = compose_headless(kb.root)
    return (
        f"ok: {report.documents} documents and {report.entities} entities indexed, "
        f"{response.meta.search_mode} search found {response.results[0].path}, "
        f"app composed of {widgets} widgets"
    )
