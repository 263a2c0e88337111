"""`kbx memory`: find, list, add and change facts and open items."""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command, Group
from kbx_tui.cli.commands.entities import ALL_ENTITIES, fact_state, greyed
from kbx_tui.cli.completion import complete_entity, complete_path
from kbx_tui.cli.open_kb import gc_disabled, open_kb, warn_if_outdated
from kbx_tui.cli.options import (
    count_option,
    entity_option,
    json_option,
    text_argument,
    threshold_option,
)
from kbx_tui.cli.output import print_json, print_result, say, wants_json
from kbx_tui.cli.write_output import (
    confirmed,
    may_ask,
    prints_written,
    report_written,
    writing_options,
)
from kbx_tui.errors import Ambiguous, NotFound
from kbx_tui.tools.json_output import check_json, fact_json

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.knowledge.records import Fact, FactKind


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
def add_fact(
    text: str,
    entity: str,
    date: str | None,
    source: str | None,
    kind: str,
    force: bool,
    create: bool,
    dry_run: bool,
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
        interactive = may_ask() and not wants_json()
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
            written, again, kb.documents.is_redacted, force=force, dry_run=dry_run
        )


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
        reword = partial(kb.pages.reword_fact, fact_id, new_text, date=date, dry_run=dry_run)
        again = partial(reword, force=True)
        return report_written(
            reword(force=force),
            again,
            kb.documents.is_redacted,
            force=force,
            dry_run=dry_run,
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
        return kb.pages.delete_fact(fact_id, dry_run=dry_run)


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
            kb.pages.supersede_fact, fact_id, text=text, date=date, source=source, dry_run=dry_run
        )
        again = partial(replace, force=True)
        return report_written(
            replace(force=force),
            again,
            kb.documents.is_redacted,
            force=force,
            dry_run=dry_run,
        )


@click.group(name="memory", cls=Group, no_args_is_help=False)
def memory_command() -> None:
    """Find, list, add and change facts.

    \b
    Examples:
      kbx memory similar "prefers async communication" --entity "Alice Chen"
      kbx memory add "Prefers async Slack over email" --entity "Alice Chen"
      kbx memory list --entity "Alice Chen"
    """


@memory_command.command(name="similar")
@text_argument("text", "TEXT...", "the text is empty; give the text you are about to write")
@entity_option
@click.option(
    "--path",
    metavar="P",
    help="Only below this path; includes passages of the documents there.",
    shell_complete=complete_path,
)
@click.option("--chunks", is_flag=True, help="Include passages of all documents.")
@threshold_option
@count_option("--limit", 5, "Maximum number of matches.")
@json_option
def similar(text: str, **options: Any) -> None:
    """Find facts and open items that say the same as a text.

    The best match comes first. A match that contradicts TEXT in a number, date, name or negation
    is a conflict, not a duplicate.

    \b
    Examples:
      kbx memory similar "prefers async communication" --entity "Alice Chen"
      kbx memory similar "deployment rollback procedure" --threshold 0.80 --json
      kbx memory similar "blocked by auth" --path memory/projects --json | jq .has_similar
    """
    with gc_disabled(), open_kb() as kb:
        (check,) = kb.similarity.check([text], **options)
        warn_if_outdated(kb)
        if wants_json():
            print_json(check_json(check))
        else:
            from kbx_tui.cli.text_output import print_check

            print_check(check, kb.documents.is_redacted)


memory_command.add_command(add_fact)


@memory_command.command(name="list")
@entity_option
@click.option(
    "--since", metavar="D", help="Only facts since a date, as 2026-03-17, or of the last D days."
)
@json_option
def list_facts(entity: str | None, since: str | None) -> None:
    """List facts and open items with their ids.

    The newest come first, and facts of every status are listed.

    \b
    Examples:
      kbx memory list --entity "Alice Chen"
      kbx memory list --since 7 --json | jq '.[].fact_id'
    """
    if since and since.isdigit() and len(since) <= 5:
        since = (date.today() - timedelta(days=int(since))).isoformat()
    with open_kb() as kb:
        facts = kb.entities.facts(entity=entity, since=since)
        names = {known.id: known.name for known in kb.entities.find("", ALL_ENTITIES)}
    rows = [(fact, names.get(fact.entity_id, "")) for fact in facts]
    lines = (
        greyed(fact, f"{fact.date:<10}  {fact.text}  ({_details(fact, name)})")
        for fact, name in rows
    )
    print_result([fact_json(fact, name) for fact, name in rows], lines)


def _details(fact: Fact, entity_name: str) -> str:
    kind = "open item" if fact.kind == "open_item" else ""
    return ", ".join(filter(None, (entity_name, kind, fact_state(fact), str(fact.fact_id))))


for _command in (edit_fact, delete_fact, supersede):
    memory_command.add_command(_command)
