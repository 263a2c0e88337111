"""The program `kbx-tui`, also installed as `kbx`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import click

from kbx_tui.cli import app, options
from kbx_tui.cli.base_command import Group, run
from kbx_tui.cli.commands import (
    entities,
    evaluation,
    index,
    judgments,
    links,
    memory,
    search,
    servers,
    settings,
    start,
)

SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "Find": (
        search.search_command,
        entities.experts_command,
        entities.entity_command,
        entities.timeline_command,
        search.context_command,
        links.links_command,
        links.related_command,
        search.bases_command,
        search.history_command,
    ),
    "Write": (
        memory.memory_command,
        memory.dedup_command,
        memory.inbox_command,
        *map(entities.group_of, entities.FIELDS),
        start.import_command,
        start.export_command,
        memory.undo_command,
    ),
    "Set up": (
        start.init_command,
        start.demo_command,
        index.index_command,
        index.status_command,
        index.check_command,
        settings.doctor_command,
        index.store_command,
        settings.config_command,
        settings.trust_command,
        settings.keys_command,
        options.completion_command,
    ),
    "Measure": (
        judgments.command,
        evaluation.eval_command,
        evaluation.tune_command,
        evaluation.reranker_command,
    ),
    "Serve": (
        servers.mcp_command,
        servers.install_agent_command,
        servers.jsonl_command,
        servers.tool_command,
        servers.web_command,
    ),
}


class Program(Group):
    """The program, whose help lists its commands in sections."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{each.name:<{width}}", each.get_short_help_str()) for each in commands]
                )


@click.group(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, option, given: print_version(context) if given else None,
    help="Show version, model and build, and exit.",
)
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


for command in chain.from_iterable(SECTIONS.values()):
    kbx.add_command(command)


def print_version(context: click.Context) -> None:
    click.echo(settings.version_line())
    context.exit()


def main(argv: Sequence[str] | None = None) -> int:
    options.register()
    name = Path(sys.argv[0]).stem
    names = options.PROGRAM_NAMES
    return run(kbx, argv, name if name in names else names[0])
