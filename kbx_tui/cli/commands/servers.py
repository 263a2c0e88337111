"""`kbx mcp`, `kbx jsonl` and `kbx tool`: the tools for agents and programs."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import click

from kbx_tui.cli.base_command import EXIT_OK, Command, global_options
from kbx_tui.cli.open_kb import open_kb, open_worker, selected_root
from kbx_tui.cli.options import allow_writes_option, metrics_options, warm_option
from kbx_tui.cli.output import print_json, say, say_monitored
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
def mcp_command(
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
        from kbx_tui.tools.engine_process import McpOptions
        from kbx_tui.tools.mcp_http import access_token, listen
        from kbx_tui.tools.serve_http import require_workers, serve_one, serve_several

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
            from kbx_tui.tools.mcp_server import serve_stdio

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


@click.command(name="jsonl", cls=Command)
@allow_writes_option("Offer the methods that add and change facts.")
@warm_option
def jsonl_command(allow_writes: bool, warm: bool) -> None:
    """Serve programs, one JSON object per line.

    Each request line on stdin is answered by one line on stdout. While no call is running, the
    index follows the files.

    \b
    Examples:
      kbx jsonl
      kbx jsonl < requests.jsonl > responses.jsonl
      kbx --kb ~/notes jsonl --allow-writes
    """
    from kbx_tui.tools.jsonl_server import serve_stdio

    worker = open_worker(allow_writes=allow_writes, warm=warm)
    serve_stdio(worker)
    end_soon(EXIT_OK)  # for a longer call, nobody waits any more
    worker.close()


@click.command(name="tool", cls=Command)
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("arguments", required=False, default="{}", metavar="[JSON]")
@click.option("--voice", is_flag=True, help="Answer for reading aloud: at most 3 results.")
@allow_writes_option("Allow the tools that add and change facts.")
@click.option("--schema", is_flag=True, help="Print the tool's schemas instead of calling it.")
def tool_command(
    name: str | None, arguments: str, voice: bool, allow_writes: bool, schema: bool
) -> int:
    """Call a tool as an agent would.

    The arguments are a JSON object, and the answer is printed as JSON. Without NAME, the tools are
    listed. The exit code is 1 when the answer reports a failure.

    \b
    Examples:
      kbx tool
      kbx tool kb_search '{"query": "who worked on the migration?"}' --voice
      kbx tool kb_get '{"id": "person:alice-chen"}'
      kbx tool kb_experts --schema
    """
    from kbx_tui.tools.methods import METHODS

    if name is None:
        for method in METHODS.values():
            click.echo(f"{method.tool:<26} {method.title}{' (writes)' * method.writes}")
        return 0
    if schema:
        print_json(_schema(name))
        return 0
    from kbx_tui.tools.dispatch import answer_call

    parameters = _parse_object(arguments)
    if voice:
        parameters["capabilities"] = {"voice": True}
    answer = answer_call(open_kb, name, parameters, allow_writes=allow_writes)
    print_json(answer.json)
    return 1 if answer.failure else 0


def _parse_object(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError("the arguments are not valid JSON") from error
    if not isinstance(parsed, dict):
        raise click.UsageError("the arguments must be a JSON object")
    return parsed


def _schema(name: str) -> dict[str, Any]:
    from kbx_tui.tools.methods import all_schemas

    schemas = all_schemas()
    if f"{name}.json" not in schemas:
        tools = ", ".join(file_name.removesuffix(".json") for file_name in schemas)
        raise click.UsageError(f"no tool is called {name!r}; the tools are: {tools}")
    return schemas[f"{name}.json"]
