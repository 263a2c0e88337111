"""`kbx config`, `kbx keys`, `kbx trust`, `kbx doctor` and `kbx --version`.

They show settings, the keys of the app, what a base may do, and what a report of a bug needs to say
of an installation. A report is made to be published. So it consists of what the program itself
knows, numbers, and choices from fixed lists; free text, such as messages of errors, is never copied
into it.
"""

from __future__ import annotations

import builtins
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import kbx_tui
from kbx_tui import __version__, errors
from kbx_tui.cli.base_command import (
    Command,
    Group,
    global_options,
    open_kb,
    selected_folder,
    selected_root,
)
from kbx_tui.cli.options import PATH, complete_setting, complete_value, flag, json_option
from kbx_tui.cli.output import console, print_json, print_result, say, wants_json
from kbx_tui.cli.write_output import prints_written
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.formatting import format_count, format_percent, format_size
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.json_output import picked
from kbx_tui.user_files import LOG_RECORD, log_path

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


PACKAGE = Path(kbx_tui.__file__).parent
TERMINAL_VARIABLES = ("TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LANG", "LC_ALL")
PLAIN = re.compile(r"[\w.@+-]{1,40}", re.ASCII)
"""What the value of such a variable is made of; others are not repeated."""
NOTED_VARIABLES = (
    "TMUX", "STY", "ZELLIJ", "SSH_CONNECTION", "WSL_DISTRO_NAME", "NO_COLOR", "TEXTUAL_THEME",
    "TEXTUAL_ANIMATIONS", "VISUAL", "EDITOR", "KBX_ROOT", "KBX_STATE_DIR", "KBX_CACHE_DIR",
    "KBX_LOG_DIR", "KBX_EMBEDDING_KEY",
)  # fmt: skip
"""Variables of which a report says only that they are set."""
SHOWN_ERRORS = 10
READ_OF_LOG = 200_000
"""Bytes at the end of the log that are read."""
FRAME = re.compile(r'.*/kbx_tui/([\w/]+\.py)(?:", line |:)(\d+)')
"""A place in the package, as Python and as Textual write it in a traceback."""
RAISED = re.compile(r"^([A-Za-z]\w*(?:\.\w+)*)(?::|$)", re.MULTILINE)

Rows = list[tuple[str, str]]
"""Labels and values; an empty label continues the row above."""


@click.command(name="doctor", cls=Command)
def doctor_command() -> None:
    """Print what a report of a bug needs, ready to paste.

    Versions, system and terminal, sizes of knowledge base and index, settings that differ from
    their defaults, and where in the code recent errors came from. It names no file, title, query or
    person: of settings that are free text, only that they are set, and of errors, no message.

    \b
    Examples:
      kbx doctor
      kbx doctor --kb ~/notes
      kbx doctor | xclip             copy it, where xclip is installed
    """
    rows = [("program", version_line()), *_system(), *_terminal(), *_base(), *_recent_errors()]
    click.echo("\n".join(f"{label:<10}{value}".rstrip() for label, value in rows))


def version_line() -> str:
    """Return version, bundled model and build: a digest of the code, wherever it is installed."""
    from kbx_tui.embedding import BUNDLED_MODEL

    digest = sha256()
    for file in sorted(PACKAGE.rglob("*.py")):
        digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    build = digest.hexdigest()[:12]
    return f"kbx-tui {__version__} · model {BUNDLED_MODEL} · build {build}"


def _system() -> Iterator[tuple[str, str]]:
    import platform  # as with importlib.metadata below, `kbx search` does without

    distribution = ""
    with suppress(OSError):
        distribution = f" ({platform.freedesktop_os_release().get('PRETTY_NAME', '')})"
    yield "system", f"{platform.system()}{distribution}, {platform.machine()}"
    count = format_count(os.cpu_count() or 0, "processor")
    yield "", f"{platform.python_implementation()} {platform.python_version()}, {count}"
    installed = {name: _version_of(name) for name in _requirements()}
    there = [f"{name} {number}" for name, number in installed.items() if number]
    for start in range(0, len(there), 6):
        yield "packages" * (start == 0), ", ".join(there[start : start + 6])
    if len(there) < len(installed):
        yield "", f"not installed: {', '.join(name for name in installed if not installed[name])}"


def _requirements() -> list[str]:
    """Return the names of the packages that this one asks for, those of extras last."""
    from importlib.metadata import requires

    asked = sorted(requires("kbx-tui") or (), key=lambda each: "extra ==" in each)
    return list(dict.fromkeys(re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in asked))


def _version_of(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _terminal() -> Rows:
    size = shutil.get_terminal_size()
    given = {name: os.environ.get(name, "") for name in TERMINAL_VARIABLES}
    words = [
        f"{size.columns} x {size.lines}" if sys.stderr.isatty() else "none",
        *(f"{k}={v if PLAIN.fullmatch(v) else '(set)'}" for k, v in given.items() if v),
        sys.stdout.encoding,
    ]
    noted = [name for name in NOTED_VARIABLES if os.environ.get(name)]
    return [
        ("terminal", ", ".join(words)),
        *([("", f"set: {', '.join(noted)}")] if noted else []),
    ]


def _base() -> Iterator[tuple[str, str]]:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.embedding import BUNDLED_MODEL, is_remote

    try:
        root = selected_root()
        yield from _settings(root)
        trust = global_options().trust
        with KnowledgeBase(root, notice=lambda text: None, trust=trust) as kb:
            status = kb.status()
    except Exception as error:  # whatever is wrong, the rest of the report is wanted
        yield "base", f"cannot be read: {_type_name(type(error).__name__)}"
        return
    counts = {
        "document": status.documents,
        "chunk": status.chunks,
        "entity": status.entities,
        "fact": status.facts,
        "link": status.links,
    }
    yield "base", ", ".join(format_count(count, noun) for noun, count in counts.items())
    size, meaning = format_size(status.size_bytes), format_percent(status.vector_share)
    model = "the model of a server" if is_remote(status.model) else "another model"
    model = "the bundled model" if status.model == BUNDLED_MODEL else model
    words = [size, f"{meaning} embedded by {model}", f"generation {status.generation}"]
    words += ["published"] if status.published else []
    yield "index", ", ".join(words) if status.indexed else "none"
    faults = {
        "changed file": len(status.stale),
        "problem": sum(not problem.on_purpose for problem in status.problems),
        "fault": len(status.damage),
    }
    yield "", ", ".join(format_count(count, noun) for noun, count in faults.items())


def _settings(root: Path) -> Iterator[tuple[str, str]]:
    from kbx_tui.settings_file import KEYS, choices_of, describe_settings

    changed = [each for each in describe_settings(root) if each.source != "default"]
    keys = [each for each in changed if each.key.startswith(f"{KEYS}.")]
    lines = [
        f"{each.key} = {_shown(each.value, choices_of(each.key))}"
        for each in changed
        if each not in keys
    ]
    lines += [f"{format_count(len(keys), 'key')} changed"] if keys else []
    for row, line in enumerate(lines or ["all as by default"]):
        yield "settings" * (row == 0), line


def _shown(value: Any, choices: tuple[str, ...]) -> str:
    """Return a setting's value if it cannot be a name: a number, or one of a fixed list."""
    if isinstance(value, bool | int | float) or value in choices:
        return str(value)
    return f"({format_count(len(value), 'value')})" if isinstance(value, tuple) else "(set)"


def _recent_errors() -> Rows:
    """Return a row for each of the last records of the log: time, level, places in the code."""
    try:
        with log_path().open("rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - READ_OF_LOG, 0))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return [("errors", "none noted: there is no log")]
    modules = {file.stem for file in PACKAGE.rglob("*.py")}
    heads = [head for head in LOG_RECORD.finditer(text) if head["module"] in modules]
    lines = list[str]()
    for head, following in zip_longest(heads, heads[1:]):
        if head["level"] in ("WARNING", "ERROR", "CRITICAL"):
            record = text[head.end() : following.start() if following else None]
            place = f"{head['module']}:{head['line']}"
            lines.append(f"{head['time']} {head['level']} {place}{_raised(record)}")
    shown = lines[-SHOWN_ERRORS:] or ["none noted"]
    return [("errors" * (row == 0), line) for row, line in enumerate(shown)]


def _raised(record: str) -> str:
    """Return the type of the error whose traceback a record has, and where it was raised."""
    frames = [
        f"{file}:{line}"
        for file, line in FRAME.findall(record.replace("\\", "/"))
        if (PACKAGE / file).is_file()
    ]
    if not frames:
        return ""
    kinds = [_type_name(name) for name in RAISED.findall(record)]
    kind = next((name for name in reversed(kinds) if name != ANOTHER), ANOTHER)
    return f" {kind} at {' < '.join(reversed(frames[-3:]))}"


ANOTHER = "another error"


def _type_name(name: str) -> str:
    """Return the name of a type of error that Python or this package has; of others, no name."""
    last = name.rpartition(".")[2]
    found = getattr(errors, last, getattr(builtins, last, None))
    known = isinstance(found, type) and issubclass(found, Exception)
    return last if known else ANOTHER
