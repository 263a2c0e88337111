"""`kbx config`: every setting, its value and where the value comes from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import selected_root
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import console, print_json

if TYPE_CHECKING:
    from kbx_tui.settings_file import SettingInfo


@click.command(name="config", cls=Command)
@json_option
def command(as_json: bool) -> None:
    """List all settings and where their values come from.

    Each is shown with its value, valid values and meaning. Settings are read from kbx.toml at the
    root of the knowledge base.

    \b
    Examples:
      kbx config
      kbx config --json | jq '.[] | select(.source != "default")'
    """
    from kbx_tui.settings_file import describe_settings

    settings = describe_settings(selected_root())
    if as_json:
        from dataclasses import asdict

        print_json([asdict(setting) for setting in settings])
    else:
        print_settings(settings)


def print_settings(settings: list[SettingInfo]) -> None:
    """Print the settings by section, in the syntax of kbx.toml."""
    from rich.text import Text

    out = console()
    width = max(len(setting.key.partition(".")[2]) for setting in settings)
    section = ""
    for setting in settings:
        name, _, key = setting.key.partition(".")
        if name != section:
            section = name
            out.print(Text(f"[{section}]", style="bold"))
        changed = setting.source != "default"
        line = Text(f"  {key:<{width}} = ")
        line.append(json.dumps(setting.value, ensure_ascii=False), "bold cyan" if changed else "")
        line.append(f"   {setting.source}", "" if changed else "dim")
        out.print(line)
        out.print(Text(f"  {'':<{width}}   {setting.help}; {setting.valid}", style="dim"))
