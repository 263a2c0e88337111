"""`kbx config`, `kbx keys` and `kbx trust`: settings, keys of the app, and what a base may do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command, Group, open_kb, selected_folder, selected_root
from kbx_tui.cli.options import PATH, complete_setting, complete_value, flag, json_option
from kbx_tui.cli.output import console, print_json, print_result, say, wants_json
from kbx_tui.cli.write_output import prints_written
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.json_output import picked

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.settings_file import SettingInfo


@click.group(name="config", cls=Group, invoke_without_command=True)
@json_option
@click.pass_context
def config_command(context: click.Context) -> None:
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
    if wants_json():
        from dataclasses import asdict

        print_json([asdict(setting) for setting in settings])
    else:
        print_settings(settings)


@config_command.command(name="set", cls=Command)
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
        written = kb.change_setting(key, value, dry_run=dry_run)
    if not written.written and not dry_run:
        say("kbx.toml says this already")
    return written


@config_command.command(name="unset", cls=Command)
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


def print_settings(settings: list[SettingInfo]) -> None:
    """Print the settings as kbx.toml has them, made safe, as someone else may have written it."""
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


Row = dict[str, str]


@click.command(name="keys", cls=Command)
@json_option
@flag("--markdown", "Print markdown tables.")
def keys_command(markdown: bool) -> None:
    """List the keys of the app.

    Each comes with the id by which [keys] in kbx.toml can change it; changes made there are shown.

    \b
    Examples:
      kbx keys
      kbx keys --json | jq '.[] | select(.id == "edit")'
    """
    from kbx_tui.tui.commands.keymap import SCOPE_TITLES, Keymap, commands_in

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
    if wants_json():
        print_json([row for rows in tables.values() for row in rows])
    else:
        texts = (_table(title, rows, markdown=markdown) for title, rows in tables.items())
        click.echo("\n\n".join(texts))
    if problem is not None:
        raise problem


def check_keys(command_id: str, keys: str) -> None:
    """Raise ConfigError unless the app accepts these keys for a command, beside those changed."""
    from kbx_tui.tui.commands.keymap import Keymap

    Keymap({**_configured_keys(), command_id: keys})


def _configured_keys() -> dict[str, str]:
    """Return the keys changed in kbx.toml; none without a base. Raises NotFound for a wrong one."""
    from kbx_tui.knowledge.vault import find_root
    from kbx_tui.settings_file import load_settings

    return load_settings(find_root(explicit=selected_folder())).keys


def _table(title: str, rows: list[Row], *, markdown: bool) -> str:
    if not markdown:
        lines = [f"  {row['keys']:<16} {row['help']}  ({row['id']})" for row in rows]
        return "\n".join([title, *lines])
    head = [f"## {title}", "", "| keys | what they do | id |", "|---|---|---|"]
    lines = [
        f"| `{row['keys'].replace(' ', '` `')}` | {row['help']} | `{row['id']}` |" for row in rows
    ]
    return "\n".join([*head, *lines])


@click.command(name="trust", cls=Command)
@click.argument("path", required=False, type=PATH, metavar="[PATH]")
@flag("--list as_list", "List what is allowed; change nothing.")
@flag("--remove", "Allow the knowledge base nothing any more.")
@json_option
def trust_command(path: Path | None, as_list: bool, remove: bool) -> None:
    """Allow a knowledge base what its kbx.toml asks for.

    A knowledge base that you did not make here may not keep its index outside itself, use another
    model, or commit with git, before you have allowed it. What is allowed is shown, and holds until
    kbx.toml asks for something else.

    \b
    Examples:
      kbx trust
      kbx trust ~/clones/team-notes
      kbx trust --list
      kbx trust ~/clones/team-notes --remove
    """
    folder = path or selected_folder()
    if as_list:
        _list()
    elif remove:
        _remove(folder)
    else:
        _grant(folder)


def _grant(folder: Path | None) -> None:
    from kbx_tui.base_discovery import find_base
    from kbx_tui.base_trust import grant, requests_of
    from kbx_tui.settings_file import load_settings

    root = find_base(folder)
    requests = requests_of(root, load_settings(root))
    lines = [f"{root} asks for nothing that needs trust"]
    if requests:
        grant(root, requests)
        lines = [f"{root} is trusted with"]
    for request in requests:
        lines += [f"  {request.wish}", f"    it {request.effect}"]
    granted = [picked(request, "key value effect") for request in requests]
    print_result({"root": str(root), "granted": granted}, lines)


def _remove(folder: Path | None) -> None:
    from kbx_tui.base_trust import revoke
    from kbx_tui.knowledge.vault import find_root

    # A base that is gone can be removed too.
    root = folder.expanduser().absolute() if folder else find_root(explicit=None)
    if not revoke(root):
        raise NotFound(f"nothing is allowed for {root}; `kbx trust --list` lists what is")
    print_result({"root": str(root), "removed": True}, [f"{root} is not trusted any more"])


def _list() -> None:
    from kbx_tui.base_trust import trusted_bases

    bases: list[dict[str, Any]] = [
        {"root": root, "made_here": base.made_here, "granted": base.granted}
        for root, base in sorted(trusted_bases().items())
        if base.made_here or base.granted
    ]
    lines = [] if bases else ["no knowledge base needed trust so far"]
    for each in bases:
        lines.append(f"{each['root']}{' (made here: everything)' if each['made_here'] else ''}")
        lines += [f"  {key} = {value}" for key, value in each["granted"].items()]
    print_result(bases, lines)
