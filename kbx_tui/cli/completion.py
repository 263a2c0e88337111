"""`kbx completion`: its scripts, and the values that a shell completes: types, paths, settings.

A completer loads no model and never fails: what cannot be read has no completions.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
)

from kbx_tui.cli.base_command import Command, GlobalOptions
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from pathlib import Path

    from kbx_tui.api import KnowledgeBase


Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Value = TypeVar("Value")
MAX_COMPLETIONS = 100


def complete_type(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    return _last_of_list(text, _from_base(context, lambda kb: kb.contents().kinds))


def complete_tag(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    return _last_of_list(text, _from_base(context, lambda kb: kb.contents().tags))


def complete_saved_query(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    saved = _from_base(context, lambda kb: [query.name for query in kb.queries.saved()])
    return [CompletionItem(name) for name in saved if name.startswith(text)]


def complete_entity(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    """Return the names of entities that begin like the last part of a list; ids after a colon."""
    from kbx_tui.knowledge.folding import name_key

    before, comma, name = text.rpartition(",")

    def find(kb: KnowledgeBase) -> list[tuple[str, str]]:
        if ":" in name:
            ids = (entity.id for entity in kb.entities.find("", MAX_COMPLETIONS))
            return [(entity_id, "") for entity_id in ids if entity_id.startswith(name)]
        found = kb.entities.find(name, MAX_COMPLETIONS)
        start = name_key(name)  # what a shell inserts must begin like what is typed
        return [
            (entity.name, entity.type)
            for entity in found
            if name_key(entity.name).startswith(start)
        ]

    return [
        CompletionItem(before + comma + safe_line(value), help=safe_line(kind) or None)
        for value, kind in _from_base(context, find)
    ]


def complete_path(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    """Return the folders and files of the base that begin like a path, without its index."""
    from kbx_tui.errors import KbxError

    try:
        from kbx_tui.index.excluded_files import excluded_files
        from kbx_tui.index.path_filter import complete
        from kbx_tui.knowledge.vault import list_files
        from kbx_tui.settings_file import load_settings

        root = _root(context)
        files = list_files(root, excluded_files(root, load_settings(root).index))
        found = complete(sorted(files), text, root, MAX_COMPLETIONS)
    except (KbxError, OSError):
        return []
    return [CompletionItem(path) for path in found if safe_line(path) == path]


def complete_setting(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    from kbx_tui.errors import KbxError
    from kbx_tui.settings_file import describe_settings

    try:
        settings = describe_settings(_root(context))
    except (KbxError, OSError):
        return []
    return [
        CompletionItem(setting.key, help=setting.help)
        for setting in settings
        if setting.key.startswith(text)
    ]


def complete_value(
    context: click.Context, parameter: click.Parameter, text: str
) -> list[CompletionItem]:
    from kbx_tui.settings_file import choices_of

    choices = choices_of(str(context.params.get("key", "")))
    return [CompletionItem(choice) for choice in choices if choice.startswith(text)]


def _last_of_list(text: str, values: Iterable[str]) -> list[CompletionItem]:
    before, comma, last = text.rpartition(",")
    given = set(before.split(","))
    return [
        CompletionItem(before + comma + value)
        for value in values
        if value.startswith(last) and value not in given and safe_line(value) == value
    ]


def _root(context: click.Context) -> Path:
    from kbx_tui.base_discovery import find_base
    from kbx_tui.settings_file import knowledge_base_from_environment

    options = context.ensure_object(GlobalOptions)
    return find_base(next(iter(options.kb), None) or knowledge_base_from_environment())


def _from_base(
    context: click.Context, read: Callable[[KnowledgeBase], Iterable[Value]]
) -> list[Value]:
    from kbx_tui.errors import KbxError

    try:
        from kbx_tui.api import KnowledgeBase

        options = context.ensure_object(GlobalOptions)
        with KnowledgeBase(_root(context), notice=lambda text: None, trust=options.trust) as kb:
            return list(read(kb)) if kb.is_indexed() else []
    except (KbxError, OSError):
        return []


class Bash(BashComplete):
    """Quotes values with spaces, and lets a folder be continued."""

    def source(self) -> str:
        keeps_backslashes = super().source().replace("read type value", "read -r type value")
        return keeps_backslashes.replace(
            "\n    return 0",
            "\n    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then"
            "\n        compopt -o nospace"
            "\n    fi\n\n    return 0",
        )

    def format_completion(self, item: CompletionItem) -> str:
        value = str(item.value)
        quoted = value if shlex.quote(value) == value else _escaped(value)
        return f"{item.type},{quoted}"


class Zsh(ZshComplete):
    """Lets a folder be continued."""

    def source(self) -> str:
        return (
            super()
            .source()
            .replace(
                'completions+=("$key")',
                'if [[ "$key" == */ ]]; then folders+=("$key"); else completions+=("$key"); fi',
            )
            .replace(
                "    local -a completions\n", "    local -a completions\n    local -a folders\n"
            )
            .replace(
                '    if [ -n "$completions" ]; then',
                '    if [ -n "$folders" ]; then\n'
                "        compadd -U -S '' -V unsorted -a folders\n"
                "    fi\n\n"
                '    if [ -n "$completions" ]; then',
            )
        )


class Fish(FishComplete):
    """Keeps commas in values."""

    def source(self) -> str:
        return super().source().replace('string split ","', 'string split --max 1 ","')


def register() -> None:
    for kind in (Bash, Zsh, Fish):
        add_completion_class(kind)


def _escaped(value: str) -> str:
    """Return a value as bash reads it in a command, as `Alice\\ Chen`."""
    return "".join(
        character if character.isalnum() or character in "-_./:,@%+=" else f"\\{character}"
        for character in value
    )


PROGRAM_NAMES = ("kbx", "kbx-tui")


@click.command(name="completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print a shell completion script for both names of the program.

    It completes commands, options, types, tags, entities, paths and settings.

    \b
    Examples:
      kbx completion bash >> ~/.bashrc
      kbx completion zsh >> ~/.zshrc
      kbx completion fish > ~/.config/fish/conf.d/kbx.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None  # there is one for each of the choices above
    program = context.find_root().command
    for name in PROGRAM_NAMES:
        variable = f"_{name}_COMPLETE".replace("-", "_").upper()
        click.echo(completion_class(program, {}, name, variable).source())
