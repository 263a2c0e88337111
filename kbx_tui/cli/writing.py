"""What commands that write have in common: options, questions, and how a write is told."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import unified_diff
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from kbx_tui.cli import output
from kbx_tui.cli.running import say
from kbx_tui.errors import FileChanged
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from kbx_tui.drafting.written import Written

EXIT_KNOWN = 3
"""Nothing was written: it is known already, or contradicts what is known."""

Function = TypeVar("Function", bound=Callable[..., object])

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def writing_options(command: Function) -> Function:
    """Add `--dry-run` and `--json`; a file that changed meanwhile is shown in both versions."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except FileChanged as error:
            _show_both_versions(error)
            raise

    dry = click.option("--dry-run", is_flag=True, help="Only show what would be written.")
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields."
    )
    return dry(as_json(cast(Function, run)))


def _show_both_versions(error: FileChanged) -> None:
    """Tell on stderr how a file that was read differs from what it is by now."""
    was, now = error.expected.splitlines(), error.found.splitlines()
    for line in unified_diff(was, now, f"{error.path} as read", f"{error.path} now", lineterm=""):
        click.echo(visible(line), err=True)


def tell_written(written: Written, *, as_json: bool, dry_run: bool) -> None:
    """Print what was written, or would be."""
    if as_json:
        from kbx_tui.tools.json.writing_json import written_json

        output.print_json(written_json(written))
        return
    for hint in written.hints:
        say(hint)
    if dry_run:
        print_diff(written.diff)
    elif written.written:
        place = f"{written.path}:{written.line}" if written.line else written.path
        about = [place, str(written.fact_id)] if written.fact_id else [place]
        click.echo(visible(" · ".join(["written", *about])))


def print_diff(diff: str) -> None:
    """Print a unified diff, coloured on a terminal."""
    from rich.text import Text

    console = output.console()
    for line in diff.splitlines():
        console.print(Text(visible(line), STYLES.get(line[:1], "")))


def may_ask() -> bool:
    """Tell whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirmed(question: str) -> bool:
    """Ask a person yes or no; no is the default."""
    return click.confirm(visible(question), default=False, err=True)
