"""`kbx tool`: one call of a tool, as an agent would make it."""

from __future__ import annotations

import json
from typing import Any

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import allow_writes_option
from kbx_tui.cli.output import print_json


@click.command(name="tool", cls=Command)
@click.argument("name", required=False, metavar="[NAME]")
@click.argument("arguments", required=False, default="{}", metavar="[JSON]")
@click.option("--voice", is_flag=True, help="Answer for reading aloud: at most 3 results.")
@allow_writes_option("Allow the tools that add and change facts.")
@click.option("--schema", is_flag=True, help="Print the tool's schemas instead of calling it.")
def command(name: str | None, arguments: str, voice: bool, allow_writes: bool, schema: bool) -> int:
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
    from kbx_tui.tools.servers.method_table import METHODS

    if name is None:
        for method in METHODS.values():
            click.echo(f"{method.tool:<26} {method.title}{' (writes)' * method.writes}")
        return 0
    if schema:
        print_json(_schema(name))
        return 0
    from kbx_tui.tools.servers.dispatch import answer_call

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
    from kbx_tui.tools.servers.schemas import all_schemas

    schemas = all_schemas()
    if f"{name}.json" not in schemas:
        tools = ", ".join(file_name.removesuffix(".json") for file_name in schemas)
        raise click.UsageError(f"no tool is called {name!r}; the tools are: {tools}")
    return schemas[f"{name}.json"]
