"""`kbx memory add`: a fact onto the page of an entity, unless it is known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command, say
from kbx_tui.cli.text import plain_text
from kbx_tui.cli.writing import EXIT_KNOWN, confirmed, may_ask, tell_written, writing_options
from kbx_tui.errors import Ambiguous, NotFound

if TYPE_CHECKING:
    from kbx_tui.drafting.written import Written

KINDS = {"fact": "fact", "open-item": "open_item", "open_item": "open_item"}


@click.command(name="add", cls=Command, short_help="Write a fact, unless it is known.")
@click.argument("words", nargs=-1, metavar="TEXT...")
@click.option("--entity", required=True, metavar="NAME", help="Whose fact: name, alias or id.")
@click.option("--date", metavar="D", help="When it was true, 2026-03-17; else today.")
@click.option("--source", metavar="S", help="Where it comes from: a path, a link, a title.")
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="fact",
    show_default=True,
    help="A fact goes to Recent Facts, an open item to Open Items.",
)
@click.option("--force", is_flag=True, help="Write it although it is known, or contradicts.")
@click.option("--create", is_flag=True, help="Make the page when there is none.")
@writing_options
def command(
    words: tuple[str, ...],
    entity: str,
    date: str | None,
    source: str | None,
    kind: str,
    force: bool,
    create: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Write a fact onto the page of an entity, after looking whether it is known.

    With a match nothing is written and the exit code is 3; on a terminal you are asked.

    \b
    Examples:
      kbx memory add "Prefers async Slack over email" --entity "Alice Chen"
      kbx memory add "send the plan" --entity Migration --kind open-item --source Kickoff
      kbx memory add "Speaks Catalan" --entity "Alice Chen" --dry-run
    """
    text = plain_text(" ".join(words))
    if not text.strip():
        raise click.UsageError("the text is empty; say what to write")
    with open_kb() as kb:
        add = partial(
            kb.memory_add,
            text,
            entity=plain_text(entity),
            kind="open_item" if KINDS[kind] == "open_item" else "fact",
            date=plain_text(date),
            source=plain_text(source),
            dry_run=dry_run,
        )
        asking = may_ask() and not as_json
        try:
            written = add(force=force, create=create)
        except Ambiguous:
            raise
        except NotFound as error:
            if create or not asking:
                raise
            say(str(error))
            if not confirmed("make a page?"):
                return NotFound.exit_code
            create, written = True, add(force=force, create=True)
        if dry_run and written.matches and not (force or as_json):
            say("it is known, or contradicts what is known: only --force writes it")
        return _told(written, add, as_json=as_json, dry_run=dry_run, asking=asking, create=create)


def _told(
    written: Written,
    add: partial[Written],
    *,
    as_json: bool,
    dry_run: bool,
    asking: bool,
    create: bool,
) -> int:
    if written.matches and not written.written and not as_json:
        from kbx_tui.cli.similarity_listing import print_matches

        print_matches(written.matches)
    if not written.matches or written.written or dry_run:
        tell_written(written, as_json=as_json, dry_run=dry_run)
        return 0
    if asking and confirmed("it is known, or contradicts what is known; write it all the same?"):
        tell_written(add(force=True, create=create), as_json=as_json, dry_run=False)
        return 0
    if as_json:
        tell_written(written, as_json=True, dry_run=False)
    else:
        say("nothing was written; --force writes it all the same")
    return EXIT_KNOWN
