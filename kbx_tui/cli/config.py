"""`kbx config`: every setting, its value and where it comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import named_base
from kbx_tui.cli.running import Command

if TYPE_CHECKING:
    from kbx_tui.config import SettingInfo


@click.command(name="config", cls=Command, short_help="List every setting and where it comes from.")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def command(as_json: bool) -> None:
    """List every setting: value, where it comes from, what is valid and what it does.

    Settings stand in kbx.toml at the root of the knowledge base.

    \b
    Examples:
      kbx config
      kbx config --json | jq '.[] | select(.source != "default")'
    """
    from kbx_tui.config import describe_settings

    settings = describe_settings(named_base())
    if as_json:
        output.print_json([setting_json(setting) for setting in settings])
    else:
        print_settings(settings)


def setting_json(setting: SettingInfo) -> dict[str, Any]:
    """Return one setting as `--json` prints it."""
    from dataclasses import asdict

    return asdict(setting)


def print_settings(settings: list[SettingInfo]) -> None:
    """Print the settings by section, as one would write them in kbx.toml."""
    from rich.text import Text

    console = output.console()
    width = max(len(setting.key.partition(".")[2]) for setting in settings)
    section = ""
    for setting in settings:
        name, _, key = setting.key.partition(".")
        if name != section:
            section = name
            console.print(Text(f"[{section}]", style="bold"))
        value = json.dumps(setting.value, ensure_ascii=False)
        changed = setting.source != "default"
        line = Text(f"  {key:<{width}} = ")
        line.append(value, style="bold cyan" if changed else "")
        line.append(
            f"   {setting.source if changed else 'default'}", style="" if changed else "dim"
        )
        console.print(line)
        console.print(Text(f"  {'':<{width}}   {setting.help}; {setting.valid}", style="dim"))
