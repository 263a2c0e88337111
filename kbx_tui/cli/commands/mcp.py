"""`kbx mcp`: the tools for agents that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_worker
from kbx_tui.cli.options import allow_writes_option
from kbx_tui.cli.output import say


@click.command(name="mcp", cls=Command)
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdin and stdout.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="H",
    help="Loopback address for --http.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    metavar="N",
    help="Port for --http; 0 picks a free one.",
)
@allow_writes_option("Offer the tool that adds facts.")
def command(http: bool, host: str, port: int, allow_writes: bool) -> None:
    """Serve agents over the Model Context Protocol.

    Requests and answers go over stdin and stdout. The first call opens the knowledge base.
    docs/mcp.md has the configuration of common clients.

    \b
    Examples:
      kbx mcp
      kbx --kb ~/notes mcp --allow-writes
      kbx mcp --http --port 8765
    """
    worker = open_worker(allow_writes=allow_writes)
    with suppress(KeyboardInterrupt):
        if http:
            from kbx_tui.tools.servers.mcp_http import listen, serve_http

            listening, url = listen(host, port)
            say(f"serving MCP on {url}")
            asyncio.run(serve_http(worker, listening))
        else:
            from kbx_tui.tools.servers.mcp_server import serve_stdio

            asyncio.run(serve_stdio(worker))
    worker.close()
