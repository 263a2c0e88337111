"""Arguments and options that several commands share, each declared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from kbx_tui.cli.completion import Completer, complete_entity, complete_type
from kbx_tui.cli.output import note_json

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def text_argument(name: str, metavar: str, if_empty: str = "") -> Decorator:
    """Return an argument of one or more words, which the command receives joined by spaces.

    `if_empty` is the message of the usage error for blank text; without it, blank text is accepted.
    """

    def join(context: click.Context, argument: click.Parameter, words: Sequence[str]) -> str:
        text = " ".join(words)
        if if_empty and not text.strip():
            raise click.UsageError(if_empty)
        return text

    return click.argument(name, nargs=-1, metavar=metavar, callback=join)


def list_option(
    name: str,
    variable: str,
    metavar: str,
    help_text: str,
    complete: Completer | None = None,
) -> Decorator:
    """Return an option that may be repeated or contain commas; `complete` is for the shell."""

    def split(
        context: click.Context, option: click.Parameter, values: Sequence[str]
    ) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, ",".join(values).split(","))))

    return click.option(
        name,
        variable,
        multiple=True,
        metavar=metavar,
        callback=split,
        help=help_text,
        shell_complete=complete,
    )


def unit_option(name: str, variable: str, help_text: str) -> Decorator:
    return click.option(
        name, variable, type=click.FloatRange(0.0, 1.0), metavar="F", help=help_text
    )


def count_option(name: str, default: int, help_text: str) -> Decorator:
    number = click.IntRange(min=1)
    return click.option(
        name, type=number, default=default, show_default=True, metavar="N", help=help_text
    )


def reranker_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--reranker` (`reranker`) and `--no-reranker` (`rerank`, False if given)."""
    name = click.option(
        "--reranker",
        metavar="NAME",
        help="Rerank the first 20 results by this cross-encoder: a folder or a fastembed model.",
    )
    without = click.option(
        "--no-reranker",
        "rerank",
        flag_value=False,
        default=True,
        help="Leave out the reranker of kbx.toml.",
    )
    return name(without(command))


def allow_writes_option(help_text: str) -> Decorator:
    return click.option("--allow-writes", is_flag=True, help=help_text)


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
entity_option = click.option(
    "--entity",
    metavar="NAME",
    help="Only facts of this entity: name, alias or id.",
    shell_complete=complete_entity,
)
threshold_option = unit_option(
    "--threshold", "threshold", "Minimum similarity; default: [dedup] of kbx.toml."
)
types_option = list_option(
    "--type", "doc_types", "T,...", "Only documents of these types: meeting,note.", complete_type
)


def metrics_options(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option(
        "--metrics-host",
        default="127.0.0.1",
        show_default=True,
        metavar="H",
        help="Address for --metrics-port. Name one that other machines can reach only on purpose.",
    )(command)
    return click.option(
        "--metrics-port",
        type=click.IntRange(0, 65535),
        metavar="N",
        help="Port for health and metrics (Prometheus); 0 picks a free one.",
    )(command)
