"""The program `kbx-tui`, also installed as `kbx`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from kbx_tui import __version__
from kbx_tui.cli import (
    app,
    completion,
    config,
    dedup,
    demo,
    entity,
    experts,
    index,
    jsonl,
    keys,
    mcp,
    memory,
    page,
    search,
    status,
    tool,
    undo,
)
from kbx_tui.cli import eval as evaluation
from kbx_tui.cli.running import Group, run

PROGRAMS = ("kbx", "kbx-tui")


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="kbx-tui", message="%(prog)s %(version)s")
@click.pass_context
def kbx(context: click.Context) -> None:
    """Explore a markdown knowledge base: entities first, documents second, and why.

    Without a command the app opens on the nearest knowledge base: the folder with kbx.toml, else
    the one that holds memory/, else the current one.

    \b
    Examples:
      kbx                                open the app
      kbx demo                           look around in a sample
      kbx search what did alice decide   search from here
      kbx --kb ~/notes status            say what is indexed
    """
    if context.invoked_subcommand is None:
        app.open_app()


for command in (
    search.command,
    entity.command,
    experts.command,
    memory.command,
    dedup.command,
    undo.command,
    *map(page.group_of, page.FIELDS),
    index.command,
    status.command,
    config.command,
    keys.command,
    evaluation.command,
    mcp.command,
    jsonl.command,
    tool.command,
    demo.command,
    completion.command,
):
    kbx.add_command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the entry point of both programs."""
    name = Path(sys.argv[0]).stem
    return run(kbx, argv, name if name in PROGRAMS else PROGRAMS[0])
