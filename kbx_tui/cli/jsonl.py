"""`kbx jsonl`: the tools for programs, one JSON object per line."""

from __future__ import annotations

import click

from kbx_tui.cli.running import Command
from kbx_tui.cli.serving import open_workplace


@click.command(name="jsonl", cls=Command, short_help="Serve programs, one JSON object per line.")
@click.option("--allow-writes", is_flag=True, help="Offer the method that adds facts.")
def command(allow_writes: bool) -> None:
    """Answer requests on stdin, one JSON object per line, with one line each on stdout.

    \b
    Examples:
      kbx jsonl
      kbx jsonl < requests.jsonl > responses.jsonl
      kbx --kb ~/notes jsonl --allow-writes
    """
    from kbx_tui.tools.servers.jsonl_server import serve_stdio

    workplace = open_workplace(allow_writes=allow_writes)
    serve_stdio(workplace)
    workplace.close()
