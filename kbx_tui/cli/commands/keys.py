"""`kbx keys`: what each key of the app does."""

from __future__ import annotations

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import selected_folder
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_json
from kbx_tui.errors import ConfigError

Row = dict[str, str]
"""`keys`, `help` and `id` of one command of the app."""


@click.command(name="keys", cls=Command)
@json_option
@click.option("--markdown", is_flag=True, help="Print markdown tables.")
def command(as_json: bool, markdown: bool) -> None:
    """List the keys of the app.

    Each comes with the id by which [keys] in kbx.toml can change it; changes made there are shown.

    \b
    Examples:
      kbx keys
      kbx keys --json | jq '.[] | select(.id == "edit")'
    """
    from kbx_tui.tui.commands.keymap import Keymap
    from kbx_tui.tui.commands.registry import SCOPE_TITLES, commands_in

    problem: ConfigError | None = None
    try:
        keymap = Keymap(_configured_keys())
    except ConfigError as error:  # print the default keys with their ids: they help to fix it
        keymap, problem = Keymap(), error
    tables = {
        title: [
            {"keys": keymap.display_keys(binding), "help": binding.help, "id": binding.id}
            for binding in commands_in(scope)
        ]
        for scope, title in SCOPE_TITLES.items()
    }
    if as_json:
        print_json([row for rows in tables.values() for row in rows])
    else:
        table_text = _markdown_table if markdown else _plain_table
        click.echo("\n\n".join(table_text(title, rows) for title, rows in tables.items()))
    if problem is not None:
        raise problem


def check_keys(command_id: str, keys: str) -> None:
    """Raise ConfigError unless the app accepts these keys for a command, beside those changed."""
    from kbx_tui.tui.commands.keymap import Keymap

    Keymap({**_configured_keys(), command_id: keys})


def _configured_keys() -> dict[str, str]:
    """Return the keys changed in kbx.toml; none without a knowledge base.

    Raises NotFound when the options name one that does not exist.
    """
    from kbx_tui.knowledge.vault import find_root
    from kbx_tui.settings_file import load_settings

    return load_settings(find_root(explicit=selected_folder())).keys


def _plain_table(title: str, rows: list[Row]) -> str:
    lines = [f"  {row['keys']:<16} {row['help']}  ({row['id']})" for row in rows]
    return "\n".join([title, *lines])


def _markdown_table(title: str, rows: list[Row]) -> str:
    head = [f"## {title}", "", "| keys | what they do | id |", "|---|---|---|"]
    lines = [
        f"| `{row['keys'].replace(' ', '` `')}` | {row['help']} | `{row['id']}` |" for row in rows
    ]
    return "\n".join([*head, *lines])
