"""`kbx mcp`: the tools for agents that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_worker
from kbx_tui.cli.options import allow_writes_option, warm_option
from kbx_tui.cli.output import say
from kbx_tui.cli.runner import EXIT_OK
from kbx_tui.ending import end_soon, end_with_input


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
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="F",
    help="With --http, serve only clients that send the token in this file; default: KBX_TOKEN.",
)
@click.option(
    "--idle-minutes",
    type=click.IntRange(1, 1440),
    default=5,
    show_default=True,
    metavar="N",
    help="With --http, end a session after this time without a request.",
)
@allow_writes_option("Offer the tools that add and change facts.")
@warm_option
def command(
    http: bool,
    host: str,
    port: int,
    token_file: Path | None,
    idle_minutes: int,
    allow_writes: bool,
    warm: bool,
) -> None:
    """Serve agents over the Model Context Protocol.

    Requests and answers go over stdin and stdout. While no call is running, the
    index follows the files. docs/mcp.md has the configuration of common clients.

    \b
    Examples:
      kbx mcp
      kbx --kb ~/notes mcp --allow-writes
      kbx mcp --http --port 8765
      kbx mcp --http --token-file ~/.config/kbx-token
    """
    worker = open_worker(allow_writes=allow_writes, warm=warm)
    if http:
        from kbx_tui.tools.servers.access_token import access_token
        from kbx_tui.tools.servers.mcp_http import listen, make_app, serve_http

        token = access_token(token_file, os.environ)
        app = make_app(worker, token=token, idle_seconds=60.0 * idle_minutes)
        listening, url = listen(host, port)
        say(f"serving MCP on {url}" + ("; clients must send the token" if token else ""))
        asyncio.run(serve_http(app, listening))
    else:
        with end_with_input():
            from kbx_tui.tools.servers.mcp_server import serve_stdio

        asyncio.run(serve_stdio(worker))
    end_soon(EXIT_OK)  # for a longer call, nobody waits any more
    worker.close()
