"""`kbx mcp`: the tools for agents that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from kbx_tui.cli.base_command import Command, global_options
from kbx_tui.cli.open_kb import open_worker, selected_root
from kbx_tui.cli.options import allow_writes_option, metrics_options, warm_option
from kbx_tui.cli.output import say, say_monitored
from kbx_tui.cli.runner import EXIT_OK
from kbx_tui.ending import end_soon, end_with_input
from kbx_tui.errors import ConfigError

HTTP_OPTIONS = (
    *("--host", "--port", "--token-file", "--workers", "--max-requests"),
    *("--metrics-port", "--metrics-host"),
)


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
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that answer --http; they share what is mapped of the index.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(1, 1000),
    default=16,
    show_default=True,
    metavar="N",
    help="Requests that each process of --http takes at a time; more are asked to try again.",
)
@metrics_options
@allow_writes_option("Offer the tools that add and change facts.")
@warm_option
def command(
    http: bool,
    host: str,
    port: int,
    token_file: Path | None,
    workers: int,
    max_requests: int,
    metrics_port: int | None,
    metrics_host: str,
    allow_writes: bool,
    warm: bool,
) -> None:
    """Serve agents over the Model Context Protocol.

    Requests and answers go over stdin and stdout. While no call is running, the
    index follows the files. docs/mcp.md has the configuration of common clients, docs/serving.md
    says how to serve many.

    \b
    Examples:
      kbx mcp
      kbx --kb ~/notes mcp --allow-writes
      kbx mcp --http --port 8765
      kbx mcp --http --token-file ~/.config/kbx-token
      kbx mcp --http --workers 4 --metrics-port 9464
    """
    _require_http(http=http, metrics=metrics_port is not None)
    if http:
        from kbx_tui.http_service.monitor import listen_for_monitoring
        from kbx_tui.tools.http.access_token import access_token
        from kbx_tui.tools.http.mcp_http import listen
        from kbx_tui.tools.http.mcp_options import McpOptions
        from kbx_tui.tools.http.serve_http import require_workers, serve_one, serve_several

        require_workers(workers)
        options = McpOptions(
            str(selected_root(may_be_empty=True).resolve()),
            trust=global_options().trust,
            allow_writes=allow_writes,
            warm=warm,
            token=access_token(token_file, os.environ),
            max_requests=max_requests,
        )
        port_of_metrics = None
        if metrics_port is not None:
            port_of_metrics = listen_for_monitoring(metrics_host, metrics_port)
        listening, url = listen(host, port)
        say(f"serving MCP on {url}" + ("; clients must send the token" if options.token else ""))
        if port_of_metrics is not None:
            say_monitored(port_of_metrics)
        if workers > 1:
            serve_several(options, workers, listening, port_of_metrics)
            return
        worker = options.engine()
        serve_one(options, worker, listening, port_of_metrics)
    else:
        worker = open_worker(allow_writes=allow_writes, warm=warm)
        with end_with_input():
            from kbx_tui.tools.servers.mcp_server import serve_stdio

        asyncio.run(serve_stdio(worker))
    end_soon(EXIT_OK)  # for a longer call, nobody waits any more
    worker.close()


def _require_http(*, http: bool, metrics: bool) -> None:
    """Raise ConfigError for an option that would have no effect, such as --workers on stdio."""
    context = click.get_current_context()

    def is_given(option: str) -> bool:
        name = option.removeprefix("--").replace("-", "_")
        return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE

    for option in HTTP_OPTIONS:
        if is_given(option) and not http:
            raise ConfigError(f"{option} needs --http")
    if is_given("--metrics-host") and not metrics:
        raise ConfigError("--metrics-host needs --metrics-port")
