"""`kbx memory`: find, list, add and change facts and open items."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Group
from kbx_tui.cli.commands.entity import ALL_ENTITIES, fact_state, greyed
from kbx_tui.cli.completers import complete_path
from kbx_tui.cli.gc_disabled import gc_disabled
from kbx_tui.cli.open_kb import open_kb, warn_if_outdated
from kbx_tui.cli.options import (
    count_option,
    entity_option,
    json_option,
    text_argument,
    threshold_option,
)
from kbx_tui.cli.output import print_json, print_result
from kbx_tui.cli.writing import memory_add, memory_edit
from kbx_tui.tools.json.similarity_json import check_json
from kbx_tui.tools.json.writing_json import fact_json

if TYPE_CHECKING:
    from kbx_tui.knowledge.records import Fact


@click.group(name="memory", cls=Group, no_args_is_help=False)
def command() -> None:
    """Find, list, add and change facts.

    \b
    Examples:
      kbx memory similar "prefers async communication" --entity "Alice Chen"
      kbx memory add "Prefers async Slack over email" --entity "Alice Chen"
      kbx memory list --entity "Alice Chen"
    """


@command.command(name="similar")
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
def similar(text: str, as_json: bool, **options: Any) -> None:
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
        (check,) = kb.check_similar([text], **options)
        warn_if_outdated(kb)
        if as_json:
            print_json(check_json(check))
        else:
            from kbx_tui.cli.listings.similarity_listing import print_check

            print_check(check, kb.is_redacted)


command.add_command(memory_add.command)


@command.command(name="list")
@entity_option
@click.option(
    "--since", metavar="D", help="Only facts since a date, as 2026-03-17, or of the last D days."
)
@json_option
def list_facts(entity: str | None, since: str | None, as_json: bool) -> None:
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
        facts = kb.facts(entity=entity, since=since)
        names = {known.id: known.name for known in kb.find_entities("", ALL_ENTITIES)}
    rows = [(fact, names.get(fact.entity_id, "")) for fact in facts]
    lines = (
        greyed(fact, f"{fact.date:<10}  {fact.text}  ({_details(fact, name)})")
        for fact, name in rows
    )
    print_result([fact_json(fact, name) for fact, name in rows], lines, as_json=as_json)


def _details(fact: Fact, entity_name: str) -> str:
    kind = "open item" if fact.kind == "open_item" else ""
    return ", ".join(filter(None, (entity_name, kind, fact_state(fact), str(fact.fact_id))))


for _command in (memory_edit.edit_fact, memory_edit.delete_fact, memory_edit.supersede):
    command.add_command(_command)
