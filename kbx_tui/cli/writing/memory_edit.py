"""`kbx memory edit-fact`, `delete-fact` and `supersede`: change facts by their ids."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.asking import may_ask
from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import text_argument
from kbx_tui.cli.writing.write_output import (
    prints_written,
    report_written,
    writing_options,
)

if TYPE_CHECKING:
    from kbx_tui.drafting.plans import Written

fact_id_argument = click.argument("fact_id", type=int, metavar="ID")


@click.command(name="edit-fact", cls=Command)
@fact_id_argument
@text_argument("words", "[TEXT...]")
@click.option("--text", metavar="T", help="The new text, instead of TEXT.")
@click.option("--date", metavar="D", help="The new date; unchanged by default.")
@click.option("--force", is_flag=True, help="Write even a known or contradicting fact.")
@writing_options
def edit_fact(
    fact_id: int,
    words: str,
    text: str | None,
    date: str | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Change the text of a fact.

    Its date, sources and position stay the same. Its id depends on the text and changes with it.
    If another known fact says the same or contradicts it, you are asked, as by `memory add`.

    \b
    Examples:
      kbx memory edit-fact 8895505749491051 "Prefers async Slack, never email"
      kbx memory edit-fact 8895505749491051 --text "Prefers Slack" --dry-run
    """
    new_text = text or words
    if not new_text.strip() and may_ask():
        new_text = click.prompt("new text", err=True)
    if not new_text.strip():
        raise click.UsageError("the text is empty; give the new text of the fact")
    with open_kb() as kb:
        reword = partial(kb.reword_fact, fact_id, new_text, date=date, dry_run=dry_run)
        again = partial(reword, force=True)
        return report_written(
            reword(force=force),
            again,
            kb.is_redacted,
            force=force,
            dry_run=dry_run,
            as_json=as_json,
        )


@click.command(name="delete-fact", cls=Command)
@fact_id_argument
@prints_written
def delete_fact(fact_id: int, dry_run: bool) -> Written:
    """Delete the line of a fact or open item.

    `kbx undo` restores it.

    \b
    Examples:
      kbx memory delete-fact 8895505749491051
      kbx memory delete-fact 8895505749491051 --dry-run
    """
    with open_kb() as kb:
        return kb.delete_fact(fact_id, dry_run=dry_run)


@click.command(name="supersede", cls=Command)
@fact_id_argument
@text_argument("text", "[TEXT...]")
@click.option("--date", metavar="D", help="Date since which TEXT is true; default: today.")
@click.option("--source", metavar="S", help="Source of TEXT.")
@click.option("--force", is_flag=True, help="Write even a known or contradicting fact.")
@writing_options
def supersede(
    fact_id: int,
    text: str,
    date: str | None,
    source: str | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Strike out a fact that is no longer true.

    TEXT, if given, is added as the fact that replaces it. The struck fact stays readable. If
    another known fact says the same as TEXT or contradicts it, you are asked, as by `memory add`.

    \b
    Examples:
      kbx memory supersede 4087265596440608 "Six people share the on-call rota"
      kbx memory supersede 4087265596440608 --dry-run
    """
    with open_kb() as kb:
        replace = partial(
            kb.supersede_fact, fact_id, text=text, date=date, source=source, dry_run=dry_run
        )
        again = partial(replace, force=True)
        return report_written(
            replace(force=force),
            again,
            kb.is_redacted,
            force=force,
            dry_run=dry_run,
            as_json=as_json,
        )
