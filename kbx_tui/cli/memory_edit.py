"""`kbx memory edit-fact`, `delete-fact`, `supersede`: facts that are there, by their ids."""

from __future__ import annotations

import click

from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command
from kbx_tui.cli.text import plain_text
from kbx_tui.cli.writing import may_ask, tell_written, writing_options


@click.command(name="edit-fact", cls=Command, short_help="Word a fact anew.")
@click.argument("fact_id", type=int, metavar="ID")
@click.argument("words", nargs=-1, metavar="[TEXT...]")
@click.option("--text", metavar="T", help="The new text, instead of TEXT.")
@click.option("--date", metavar="D", help="Another date; else it stays.")
@writing_options
def edit_fact(
    fact_id: int,
    words: tuple[str, ...],
    text: str | None,
    date: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Word a fact anew; its date, sources and place stay. Its id follows the text.

    \b
    Examples:
      kbx memory edit-fact 8895505749491051 "Prefers async Slack, never email"
      kbx memory edit-fact 8895505749491051 --text "Prefers Slack" --dry-run
    """
    wanted = plain_text(text or " ".join(words))
    if not wanted.strip() and may_ask():
        wanted = click.prompt("new text", err=True)
    if not wanted.strip():
        raise click.UsageError("the text is empty; say what the fact is to be")
    with open_kb() as kb:
        written = kb.reword_fact(fact_id, wanted, date=plain_text(date), dry_run=dry_run)
    tell_written(written, as_json=as_json, dry_run=dry_run)


@click.command(name="delete-fact", cls=Command, short_help="Take a fact out of its file.")
@click.argument("fact_id", type=int, metavar="ID")
@writing_options
def delete_fact(fact_id: int, dry_run: bool, as_json: bool) -> None:
    """Take the line of a fact, or open item, out of its file. `kbx undo` brings it back.

    \b
    Examples:
      kbx memory delete-fact 8895505749491051
      kbx memory delete-fact 8895505749491051 --dry-run
    """
    with open_kb() as kb:
        written = kb.delete_fact(fact_id, dry_run=dry_run)
    tell_written(written, as_json=as_json, dry_run=dry_run)


@click.command(name="supersede", cls=Command, short_help="Strike a fact out that no longer holds.")
@click.argument("fact_id", type=int, metavar="ID")
@click.argument("words", nargs=-1, metavar="[TEXT...]")
@click.option("--date", metavar="D", help="Since when TEXT holds; else today.")
@click.option("--source", metavar="S", help="Where TEXT comes from.")
@writing_options
def supersede(
    fact_id: int,
    words: tuple[str, ...],
    date: str | None,
    source: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Strike a fact out, and write TEXT, if given, in its place. What was known stays readable.

    \b
    Examples:
      kbx memory supersede 4087265596440608 "Six people share the on-call rota"
      kbx memory supersede 4087265596440608 --dry-run
    """
    text = plain_text(" ".join(words))
    with open_kb() as kb:
        written = kb.supersede_fact(
            fact_id,
            text=text,
            date=plain_text(date),
            source=plain_text(source),
            dry_run=dry_run,
        )
    tell_written(written, as_json=as_json, dry_run=dry_run)
