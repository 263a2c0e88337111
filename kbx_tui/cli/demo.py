"""`kbx demo`: look around in a sample knowledge base."""

from __future__ import annotations

import click

from kbx_tui.cli.app import compose_headless, run_app
from kbx_tui.cli.running import Command, say
from kbx_tui.errors import KbxError

SMOKE_QUERY = "what did the platform team decide about migration?"


@click.command(name="demo", cls=Command, short_help="Look around in a sample knowledge base.")
@click.option("--reset", is_flag=True, help="Restore the sample as it came, then stop.")
@click.option("--smoke", is_flag=True, help="Index it, search once, compose the app unseen, stop.")
def command(reset: bool, smoke: bool) -> None:
    """Open the app on a sample: a fictional company that makes software for ferry lines.

    The sample is copied to your data folder first (KBX_DEMO_DIR names another place), so you may
    change anything in it. --reset undoes that.

    \b
    Examples:
      kbx demo
      kbx demo --reset
    """
    from kbx_tui.demo.install import install_demo

    root = install_demo(reset=reset)
    if smoke:
        click.echo(_smoke(str(root)))
    elif reset:
        say(f"{root} is as it came")
    else:
        run_app(root)


def _smoke(root: str) -> str:
    """Return one line that says that index, search and app work here. Raises KbxError if not."""
    from kbx_tui.api import KnowledgeBase

    with KnowledgeBase(root) as kb:
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
