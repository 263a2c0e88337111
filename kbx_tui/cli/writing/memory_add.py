"""`kbx memory add`: add a fact to the page of an entity, unless it is known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.asking import confirmed, may_ask
from kbx_tui.cli.base_command import Command
from kbx_tui.cli.completers import complete_entity
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import text_argument
from kbx_tui.cli.output import say
from kbx_tui.cli.writing.write_output import (
    report_written,
    writing_options,
)
from kbx_tui.errors import Ambiguous, NotFound

if TYPE_CHECKING:
    from kbx_tui.knowledge.records import FactKind

KINDS: dict[str, FactKind] = {"fact": "fact", "open-item": "open_item", "open_item": "open_item"}


@click.command(name="add", cls=Command)
@text_argument("text", "TEXT...", "the text is empty; give the text to write")
@click.option(
    "--entity",
    required=True,
    metavar="NAME",
    help="Entity of the fact: name, alias or id.",
    shell_complete=complete_entity,
)
@click.option("--date", metavar="D", help="Date of the fact, as 2026-03-17; default: today.")
@click.option("--source", metavar="S", help="Source of the fact: a path, a link, a title.")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="fact",
    show_default=True,
    help="Write to Recent Facts (fact) or Open Items (open-item).",
)
@click.option("--force", is_flag=True, help="Write even a known or contradicting fact.")
@click.option("--create", is_flag=True, help="Create the page if there is none.")
@writing_options
def command(
    text: str,
    entity: str,
    date: str | None,
    source: str | None,
    kind: str,
    force: bool,
    create: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Add a fact to the page of an entity, unless it is known.

    If a known fact says the same or contradicts it, you are asked on a terminal; elsewhere nothing
    is written and the exit code is 3.

    \b
    Examples:
      kbx memory add "Prefers async Slack over email" --entity "Alice Chen"
      kbx memory add "send the plan" --entity Migration --kind open-item --source Kickoff
      kbx memory add "Speaks Catalan" --entity "Alice Chen" --dry-run
    """
    with open_kb() as kb:
        add = partial(
            kb.memory_add,
            text,
            entity=entity,
            kind=KINDS[kind],
            date=date,
            source=source,
            dry_run=dry_run,
        )
        interactive = may_ask() and not as_json
        try:
            written = add(force=force, create=create)
        except Ambiguous:
            raise
        except NotFound as error:
            if create or not interactive:
                raise
            say(str(error))
            if not confirmed("create a page?"):
                return NotFound.exit_code
            create, written = True, add(force=force, create=True)
        again = partial(add, force=True, create=create)
        return report_written(
            written, again, kb.is_redacted, force=force, dry_run=dry_run, as_json=as_json
        )
