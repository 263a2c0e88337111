"""The program `kbx-tui`, also installed as `kbx`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from kbx_tui import __version__
from kbx_tui.cli import app, options
from kbx_tui.cli.base_command import Group, run
from kbx_tui.cli.commands import (
    entities,
    evaluation,
    history,
    import_export,
    index,
    judgments,
    links,
    memory,
    search,
    servers,
    settings,
    start,
)
from kbx_tui.cli.commands import memory as dedup
from kbx_tui.cli.commands import servers as web


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
    search.search_command,
    entities.entity_command,
    entities.experts_command,
    links.command,
    memory.memory_command,
    dedup.dedup_command,
    import_export.import_command,
    import_export.export_command,
    history.undo_command,
    *map(entities.group_of, entities.FIELDS),
    start.init_command,
    search.bases_command,
    index.index_command,
    index.status_command,
    index.check_command,
    settings.config_command,
    settings.trust_command,
    settings.keys_command,
    evaluation.reranker_command,
    judgments.command,
    evaluation.eval_command,
    evaluation.tune_command,
    history.history_command,
    servers.mcp_command,
    servers.jsonl_command,
    servers.tool_command,
    web.web_command,
    index.store_command,
    start.demo_command,
    options.completion_command,
):
    kbx.add_command(command)


def main(argv: Sequence[str] | None = None) -> int:
    options.register()
    name = Path(sys.argv[0]).stem
    names = options.PROGRAM_NAMES
    return run(kbx, argv, name if name in names else names[0])
