"""`kbx keys`: what each key of the app does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import given_base
from kbx_tui.cli.running import Command
from kbx_tui.errors import ConfigError

if TYPE_CHECKING:
    from kbx_tui.tui.commands.keymap import Keymap


@click.command(name="keys", cls=Command, short_help="List the keys of the app.")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
@click.option("--markdown", is_flag=True, help="The same as tables of markdown.")
def command(as_json: bool, markdown: bool) -> None:
    """List the keys of the app, as [keys] in kbx.toml has them, with the ids to change them by.

    \b
    Examples:
      kbx keys
      kbx keys --json | jq '.[] | select(.id == "edit")'
    """
    from kbx_tui.tui.commands.keymap import Keymap

    wrong: ConfigError | None = None
    try:
        keymap = Keymap(_changes())
    except ConfigError as error:  # which ids there are is what one wants to know then
        keymap, wrong = Keymap(), error
    if as_json:
        output.print_json([row for _, rows in _tables(keymap) for row in rows])
    elif markdown:
        click.echo("\n\n".join(_markdown(title, rows) for title, rows in _tables(keymap)))
    else:
        click.echo("\n\n".join(_text(title, rows) for title, rows in _tables(keymap)))
    if wrong is not None:
        raise wrong


def _changes() -> dict[str, str]:
    """Return the keys that the knowledge base at hand changes; none where none is.

    Raises NotFound when one is named that is not there.
    """
    from kbx_tui.config import load_settings
    from kbx_tui.knowledge.vault import find_root

    return load_settings(find_root(given=given_base())).keys


def _tables(keymap: Keymap) -> Iterator[tuple[str, list[dict[str, str]]]]:
    from kbx_tui.tui.commands.registry import SCOPE_TITLES, commands_in

    for scope, title in SCOPE_TITLES.items():
        yield (
            title,
            [
                {"keys": keymap.shown(one), "help": one.help, "id": one.id}
                for one in commands_in(scope)
            ],
        )


def _text(title: str, rows: list[dict[str, str]]) -> str:
    lines = [f"  {row['keys']:<16} {row['help']}  ({row['id']})" for row in rows]
    return "\n".join([title, *lines])


def _markdown(title: str, rows: list[dict[str, str]]) -> str:
    head = [f"## {title}", "", "| keys | what they do | id |", "|---|---|---|"]
    keys = [" ".join(f"`{key}`" for key in row["keys"].split(" ")) for row in rows]
    lines = [
        f"| {key} | {row['help']} | `{row['id']}` |" for key, row in zip(keys, rows, strict=True)
    ]
    return "\n".join([*head, *lines])
