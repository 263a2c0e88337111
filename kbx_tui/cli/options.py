"""Arguments and options shared by several commands, and their shell completions.

A completer loads no model and never fails; on an error it returns no completions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click import Context, Parameter
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
)

from kbx_tui.cli.base_command import Command, GlobalOptions
from kbx_tui.cli.output import note_format, note_json
from kbx_tui.errors import KbxError
from kbx_tui.knowledge.folding import name_key
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Items = list[CompletionItem]
Completer = Callable[[Context, Parameter, str], Items]
Value = TypeVar("Value")
PORT = click.IntRange(0, 65535)
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)


def text_argument(
    name: str, metavar: str, if_empty: str = "", complete: Completer | None = None
) -> Decorator:
    """Return an argument of one or more words, which the command receives joined by spaces.

    `if_empty` is the message of the usage error for blank text; without it, blank text is accepted.
    """

    def join(context: Context, argument: Parameter, words: Sequence[str]) -> str:
        text = " ".join(words)
        if if_empty and not text.strip():
            raise click.UsageError(if_empty)
        return text

    return click.argument(name, nargs=-1, metavar=metavar, callback=join, shell_complete=complete)


def option(names: str, help_text: str, kind: Any = None, **more: Any) -> Decorator:
    """Return an option that shows its default.

    `names` is like `--from since DATE`: the option, its parameter unless equal, its metavar.
    """
    words = names.split()
    more["metavar"] = next(filter(str.isupper, words), None)
    if more.get("default"):
        more.setdefault("show_default", True)
    declared = [word for word in words if not word.isupper()]
    return click.option(*declared, help=help_text, type=kind, **more)


def flag(names: str, help_text: str) -> Decorator:
    return click.option(*names.split(), is_flag=True, help=help_text)


class Choice(click.Choice[Any]):
    """One of several words; `-` and `_` are the same in them, as files and JSON write `_`."""

    def normalize_choice(self, choice: object, ctx: Context | None) -> str:
        return super().normalize_choice(choice, ctx).replace("-", "_")


def choice(names: str, values: Sequence[str], help_text: str, **more: Any) -> Decorator:
    return option(names, help_text, Choice(values), **more)


def list_option(names: str, help_text: str, complete: Completer | None = None) -> Decorator:
    def split(context: Context, parameter: Parameter, values: Sequence[str]) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, ",".join(values).split(","))))

    return option(names, help_text, multiple=True, callback=split, shell_complete=complete)


def unit_option(names: str, help_text: str) -> Decorator:
    return option(f"{names} F", help_text, click.FloatRange(0.0, 1.0))


def count_option(name: str, default: int, help_text: str) -> Decorator:
    return option(f"{name} N", help_text, click.IntRange(min=1), default=default)


def reranker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--reranker` (`reranker`) and `--no-reranker` (`rerank`, False if given)."""
    name = option(
        "--reranker NAME",
        "Rerank the first 20 results by this cross-encoder: a folder or a fastembed model.",
    )
    without = click.option(
        "--no-reranker",
        "rerank",
        flag_value=False,
        default=True,
        help="Leave out the reranker of kbx.toml.",
    )
    return name(without(command))


MAX_COMPLETIONS = 100


def _last_of_list(read: Callable[[KnowledgeBase], Iterable[str]]) -> Completer:
    def complete(context: Context, parameter: Parameter, text: str) -> Items:
        before, comma, last = text.rpartition(",")
        given = set(before.split(","))
        return [
            CompletionItem(before + comma + value)
            for value in _from_base(context, read)
            if value.startswith(last) and value not in given and safe_line(value) == value
        ]

    return complete


complete_type = _last_of_list(lambda kb: kb.contents().kinds)
complete_tag = _last_of_list(lambda kb: kb.contents().tags)


def complete_saved_query(context: Context, parameter: Parameter, text: str) -> Items:
    saved = _from_base(context, lambda kb: [query.name for query in kb.queries.saved()])
    shown = (name for name in saved if name.startswith(text) and safe_line(name) == name)
    return list(map(CompletionItem, shown))


def complete_proposal(context: Context, parameter: Parameter, text: str) -> Items:
    ids = _from_base(context, lambda kb: ["all", *(each.id for each in kb.drafts.inbox())])
    return [CompletionItem(each) for each in ids if each.startswith(text)]


def complete_entity(context: Context, parameter: Parameter, text: str) -> Items:
    """Return entity names that begin with the last item of a list; ids if it has a colon."""
    before, comma, name = text.rpartition(",")

    def find(kb: KnowledgeBase) -> list[tuple[str, str]]:
        if ":" in name:
            ids = (entity.id for entity in kb.entities.find("", MAX_COMPLETIONS))
            return [(entity_id, "") for entity_id in ids if entity_id.startswith(name)]
        found = kb.entities.find(name, MAX_COMPLETIONS)
        start = name_key(name)  # shells insert only values that begin with the typed text
        return [(each.name, each.type) for each in found if name_key(each.name).startswith(start)]

    return [
        CompletionItem(before + comma + safe_line(value), help=safe_line(kind) or None)
        for value, kind in _from_base(context, find)
        if not safe_line(value).startswith("-")  # an option for the shell, such as --trust
    ]


def complete_path(context: Context, parameter: Parameter, text: str) -> Items:
    """Return folders and files of the base whose paths begin with the text; reads no index."""
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


def complete_setting(context: Context, parameter: Parameter, text: str) -> Items:
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


def complete_value(context: Context, parameter: Parameter, text: str) -> Items:
    from kbx_tui.settings_file import choices_of

    choices = choices_of(str(context.params.get("key", "")))
    return [CompletionItem(choice) for choice in choices if choice.startswith(text)]


def _root(context: Context) -> Path:
    from kbx_tui.base_discovery import find_base
    from kbx_tui.settings_file import knowledge_base_from_environment

    options = context.ensure_object(GlobalOptions)
    return find_base(next(iter(options.kb), None) or knowledge_base_from_environment())


def _from_base(context: Context, read: Callable[[KnowledgeBase], Iterable[Value]]) -> list[Value]:
    try:
        from kbx_tui.api import KnowledgeBase

        options = context.ensure_object(GlobalOptions)
        with KnowledgeBase(_root(context), notice=lambda text: None, trust=options.trust) as kb:
            return list(read(kb)) if kb.is_indexed() else []
    except (KbxError, OSError):
        return []


warm_option = click.option(
    "--warm/--no-warm",
    default=True,
    help="Load the engine when a client connects, or only with its first call.",
)
json_option = click.option(
    "--json",
    is_flag=True,
    expose_value=False,
    callback=note_json,
    help="Print JSON; docs/cli.md lists the fields.",
)
format_option = click.option(
    "--format",
    type=click.Choice(["csv", "markdown", "paths"]),
    expose_value=False,
    callback=note_format,
    help="Print a table as CSV or Markdown, or only the paths.",
)
entity_option = option(
    "--entity NAME", "Only facts of this entity: name, alias or id.", shell_complete=complete_entity
)
threshold_option = unit_option("--threshold", "Minimum similarity; default: [dedup] of kbx.toml.")
types_option = list_option(
    "--type doc_types T,...", "Only documents of these types: meeting,note.", complete_type
)


def metrics_options(command: Callable[..., Any]) -> Callable[..., Any]:
    host = option(
        "--metrics-host H",
        "Address for --metrics-port. Name one that other machines can reach only on purpose.",
        default="127.0.0.1",
    )
    port = option(
        "--metrics-port N", "Port for health and metrics (Prometheus); 0 picks a free one.", PORT
    )
    return port(host(command))


_SPECIAL = re.compile(r"[^\w./:,@%+=-]")
"""Characters that bash would not take as a part of a word."""


class Bash(BashComplete):
    """Quotes values with spaces, and adds no space after a folder."""

    def source(self) -> str:
        keeps_backslashes = super().source().replace("read type value", "read -r type value")
        return keeps_backslashes.replace(
            "\n    return 0",
            "\n    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then"
            "\n        compopt -o nospace"
            "\n    fi\n\n    return 0",
        )

    def format_completion(self, item: CompletionItem) -> str:
        quoted = _SPECIAL.sub(r"\\\g<0>", str(item.value))
        return f"{item.type},{quoted}"


class Zsh(ZshComplete):
    """Adds no space after a folder."""

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
    """Does not split values at commas."""

    def source(self) -> str:
        return super().source().replace('string split ","', 'string split --max 1 ","')


def register() -> None:
    for kind in (Bash, Zsh, Fish):
        add_completion_class(kind)


PROGRAM_NAMES = ("kbx", "kbx-tui")


@click.command(name="completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: Context, shell: str) -> None:
    """Print a shell completion script for both names of the program.

    It completes commands, options, types, tags, entities, paths and settings.

    \b
    Examples:
      kbx completion bash >> ~/.bashrc
      kbx completion zsh >> ~/.zshrc
      kbx completion fish > ~/.config/fish/conf.d/kbx.fish
    """
    completion_class = get_completion_class(shell)
    assert completion_class is not None  # every choice above has one
    program = context.find_root().command
    for name in PROGRAM_NAMES:
        variable = f"_{name}_COMPLETE".replace("-", "_").upper()
        click.echo(completion_class(program, {}, name, variable).source())
