"""Shared by commands that write: options, questions to the user on a terminal, output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import unified_diff
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_diff, print_json, say, wants_json
from kbx_tui.errors import FileChanged
from kbx_tui.safe_text import safe_line
from kbx_tui.tools.json_output import written_json

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.knowledge.topics import EntityProposal


NAMES_SHOWN = 8


def may_ask() -> bool:
    """Return whether the user can be asked: stdin and stderr are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def chose_entities(proposal: EntityProposal, root: Path, *, once: bool = False) -> bool:
    """Ask whether to use the proposed entities; with `once`, only if it was never asked before."""
    from kbx_tui.tui.app_state import entities_asked, note_entities_asked

    if once and entities_asked(root):
        return False
    for line in (*proposal.lines(NAMES_SHOWN), *proposal.explanation):
        say(line)
    is_wanted = confirmed(f"{proposal.sentence}: use them as entities?")
    note_entities_asked(root)
    return is_wanted


def confirmed(question: str) -> bool:
    return click.confirm(safe_line(question), default=False, err=True)


KNOWN = {
    "refines": ("a known fact says it in other detail", "edit-fact {} TEXT rewords that fact"),
    "conflict": ("a known fact contradicts it", "supersede {} TEXT replaces that fact"),
}
"""What prevents a write by the relation of the first match, and the command that resolves it."""
EXIT_KNOWN = 3
"""Nothing was written: the fact is known already, or contradicts a known one."""

Function = TypeVar("Function", bound=Callable[..., object])


def writing_options(command: Function) -> Function:
    """Add `--dry-run` and `--json`, and print a diff if a file changed while the command ran."""

    @wraps(command)
    def run(**options: Any) -> Any:
        try:
            return command(**options)
        except FileChanged as error:
            names = (f"{error.path} as read", f"{error.path} now")
            print_versions(error.expected, error.found, names)
            raise

    dry_run_option = click.option(
        "--dry-run", is_flag=True, help="Show what would be written, without writing."
    )
    return dry_run_option(json_option(cast(Function, run)))


def prints_written(write: Callable[..., Written]) -> Callable[..., None]:
    @wraps(write)
    def run(*, dry_run: bool, **options: Any) -> None:
        print_written(write(dry_run=dry_run, **options), dry_run=dry_run)

    return writing_options(run)


def report_written(
    write: Callable[..., Written], kb: KnowledgeBase, *, force: bool, dry_run: bool
) -> int:
    """Call `write(force=..., dry_run=...)`, print the outcome and return the exit code.

    If known facts prevent the write, they are printed and, on a terminal, the user is asked.
    """
    written = write(force=force, dry_run=dry_run)
    known, advice = "", "--force writes it anyway"
    if written.matches:
        first = written.matches[0]
        known, resolving = KNOWN.get(first.relation, ("a known fact says the same", ""))
        if resolving and first.fact_id is not None:
            advice = f"kbx memory {resolving.format(first.fact_id)}, {advice}"
    if dry_run and known and not (force or wants_json()):
        say(f"{known}; {advice}")
    if written.matches and not written.written and not wants_json():
        from kbx_tui.cli.text_output import print_matches

        print_matches(written.matches, kb.documents.is_redacted)
    if not written.matches or written.written or dry_run:
        print_written(written, dry_run=dry_run)
        return EXIT_KNOWN if written.matches and not (written.written or force) else 0
    if may_ask() and not wants_json() and confirmed(f"{known}; write it anyway?"):
        print_written(write(force=True, dry_run=False), dry_run=False)
        return 0
    if wants_json():
        print_written(written, dry_run=False)
    else:
        say(f"nothing was written: {known}; {advice}")
    return EXIT_KNOWN


def print_versions(left: str, right: str, names: tuple[str, str]) -> None:
    for line in unified_diff(left.splitlines(), right.splitlines(), *names, lineterm=""):
        click.echo(safe_line(line), err=True)


def print_written(written: Written, *, dry_run: bool) -> None:
    if wants_json():
        print_json(written_json(written))
        return
    for hint in written.hints:
        say(hint)
    if dry_run:
        print_diff(written.diff)
    elif written.written:
        place = f"{written.path}:{written.line}" if written.line else written.path
        parts = ["written", place, *([str(written.fact_id)] if written.fact_id else [])]
        click.echo(safe_line(" · ".join(parts)))
