"""`kbx config`: every setting, its value and where the value comes from; and changing one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.base_command import Command, Group
from kbx_tui.cli.commands.keys import check_keys
from kbx_tui.cli.completers import complete_setting, complete_value
from kbx_tui.cli.open_kb import open_kb, selected_root
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import console, print_json, say
from kbx_tui.cli.writing.write_output import prints_written
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.drafting.plans import Written
    from kbx_tui.settings_file import SettingInfo


@click.group(name="config", cls=Group, invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List all settings and where their values come from, or change one.

    Each is shown with its value, valid values and meaning. Settings are read from kbx.toml at the
    root of the knowledge base.

    \b
    Examples:
      kbx config
      kbx config --json | jq '.[] | select(.source != "default")'
      kbx config set search.hierarchy_alpha 0.6
      kbx config unset search.hierarchy_alpha
    """
    if context.invoked_subcommand is not None:
        return
    from kbx_tui.settings_file import describe_settings

    settings = describe_settings(selected_root())
    if as_json:
        from dataclasses import asdict

        print_json([asdict(setting) for setting in settings])
    else:
        print_settings(settings)


@command.command(name="set", cls=Command)
@click.argument("key", metavar="KEY", shell_complete=complete_setting)
@click.argument("value", metavar="VALUE", shell_complete=complete_value)
@prints_written
def set_setting(key: str, value: str, dry_run: bool) -> Written:
    """Write one setting to kbx.toml.

    Comments and the order of the file stay. A list is written with commas; `keys.ID` changes a key
    of the app. A value that is not valid is refused. `kbx undo` takes the change back.

    \b
    Examples:
      kbx config set search.hierarchy_alpha 0.6
      kbx config set entities.types lab,company,ship
      kbx config set keys.focus.query ctrl+f --dry-run
    """
    if key.startswith("keys."):
        check_keys(key.removeprefix("keys."), value)
    with open_kb() as kb:
        return _said_if_unchanged(kb.change_setting(key, value, dry_run=dry_run), dry_run=dry_run)


@command.command(name="unset", cls=Command)
@click.argument("key", metavar="KEY", shell_complete=complete_setting)
@prints_written
def unset_setting(key: str, dry_run: bool) -> Written:
    """Remove one setting from kbx.toml, so that its default holds.

    Comments and the order of the file stay. `kbx undo` takes the change back.

    \b
    Examples:
      kbx config unset search.hierarchy_alpha
      kbx config unset keys.focus.query --dry-run
    """
    with open_kb() as kb:
        return kb.change_setting(key, None, dry_run=dry_run)


def _said_if_unchanged(written: Written, *, dry_run: bool) -> Written:
    if not written.written and not dry_run:
        say("kbx.toml says this already")
    return written


def print_settings(settings: list[SettingInfo]) -> None:
    """Print the settings by section, in the syntax of kbx.toml.

    The file may come from someone else, so no control character of it gets to the terminal.
    """
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
        value = safe_line(json.dumps(setting.value, ensure_ascii=False))
        line = Text(safe_line(f"  {key:<{width}} = "))
        line.append(value, "bold cyan" if changed else "")
        line.append(safe_line(f"   {setting.source}"), "" if changed else "dim")
        out.print(line)
        out.print(Text(f"  {'':<{width}}   {setting.help}; {setting.valid}", style="dim"))
