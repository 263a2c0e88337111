"""The program `kbx-tui`, also installed as `kbx`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from kbx_tui import __version__
from kbx_tui.cli import app, shell_scripts
from kbx_tui.cli.base_command import Group
from kbx_tui.cli.commands import (
    check,
    completion,
    config,
    demo,
    entity,
    experts,
    index,
    keys,
    links,
    search,
    status,
    trust,
)
from kbx_tui.cli.measuring import (
    eval,  # noqa: A004  # the command's name
    history,
    judgments,
    reranker,
    tune,
)
from kbx_tui.cli.runner import run
from kbx_tui.cli.serving import jsonl, mcp, store, tool, web
from kbx_tui.cli.several import bases
from kbx_tui.cli.writing import dedup, export_base, import_files, init, memory, page, undo


@click.group(
    cls=Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="kbx-tui", message="%(prog)s %(version)s")
@click.pass_context
def kbx(context: click.Context) -> None:
    """Explore a markdown knowledge base: entities first, then documents, and why.

    Without a command, the app opens the nearest knowledge base: the folder with kbx.toml, else the
    one with memory/, else the current folder.

    \b
    Examples:
      kbx                                open the app
      kbx demo                           explore a sample knowledge base
      kbx search what did alice decide   search from the shell
      kbx --kb ~/notes status            show what is indexed
      kbx --kb ~/notes --kb ~/work       search several together
    """
    if context.invoked_subcommand is None:
        app.open_app()


for command in (
    search.command,
    entity.command,
    experts.command,
    links.command,
    memory.command,
    dedup.command,
    import_files.command,
    export_base.command,
    undo.command,
    *map(page.group_of, page.FIELDS),
    init.command,
    bases.command,
    index.command,
    status.command,
    check.command,
    config.command,
    trust.command,
    keys.command,
    reranker.command,
    judgments.command,
    eval.command,
    tune.command,
    history.command,
    mcp.command,
    jsonl.command,
    tool.command,
    web.command,
    store.command,
    demo.command,
    completion.command,
):
    kbx.add_command(command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the entry point of both programs."""
    shell_scripts.register()
    name = Path(sys.argv[0]).stem
    names = completion.PROGRAM_NAMES
    return run(kbx, argv, name if name in names else names[0])
