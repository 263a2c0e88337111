"""`kbx tool`: any tool once, as an agent would call it."""

from __future__ import annotations

import json
from typing import Any

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command
from kbx_tui.cli.text import plain_text


@click.command(name="tool", cls=Command, short_help="Call a tool as an agent would.")
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("arguments", required=False, default="{}", metavar="[JSON]")
@click.option("--voice", is_flag=True, help="As if the answer were read aloud: at most 3 results.")
@click.option("--allow-writes", is_flag=True, help="Let the tool that adds facts write.")
@click.option("--schema", is_flag=True, help="Print the schemas of the tool instead.")
@click.pass_context
def command(
    context: click.Context,
    name: str | None,
    arguments: str,
    voice: bool,
    allow_writes: bool,
    schema: bool,
) -> None:
    """Call the tool NAME with a JSON object of arguments and print its answer, always JSON.

    Without NAME, the tools are listed. The exit code is 1 when the answer tells of a failure.

    \b
    Examples:
      kbx tool
      kbx tool kb_search '{"query": "who worked on the migration?"}' --voice
      kbx tool kb_get '{"id": "person:alice-chen"}'
      kbx tool kb_experts --schema
    """
    from kbx_tui.tools.servers.methods import METHODS

    if name is None:
        for method in METHODS.values():
            click.echo(f"{method.tool:<26} {method.title}{' (writes)' * method.writes}")
        return
    if schema:
        output.print_json(_schema(name))
        return
    from kbx_tui.tools.servers.calling import answered
    from kbx_tui.tools.servers.methods import BY_TOOL

    given = _object(plain_text(arguments))
    if voice:
        given["capabilities"] = {"voice": True}
    method_name = BY_TOOL[name].name if name in BY_TOOL else plain_text(name)
    answer = answered(open_kb, method_name, given, allow_writes=allow_writes)
    output.print_json(answer.json)
    context.exit(1 if answer.failure else 0)


def _object(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError("the arguments are no JSON") from error
    if not isinstance(given, dict):
        raise click.UsageError("the arguments must be a JSON object")
    return given


def _schema(name: str) -> dict[str, Any]:
    from kbx_tui.tools.contracts.schemas import all_schemas

    known = all_schemas()
    if f"{name}.json" not in known:
        tools = ", ".join(one.removesuffix(".json") for one in known)
        raise click.UsageError(f"there is no tool {name!r}; these are: {tools}")
    return known[f"{name}.json"]
