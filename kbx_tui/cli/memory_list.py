"""`kbx memory list`: facts and open items with their ids."""

from __future__ import annotations

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command
from kbx_tui.cli.text import plain_text
from kbx_tui.safe_text import visible


@click.command(name="list", cls=Command, short_help="List facts and open items with their ids.")
@click.option("--entity", metavar="NAME", help="Only of this entity: name, alias or id.")
@click.option(
    "--since", metavar="D", help="Only from this date on, 2026-03-17, or of the last D days."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def command(entity: str | None, since: str | None, as_json: bool) -> None:
    """List facts and open items, newest first, whatever their status.

    \b
    Examples:
      kbx memory list --entity "Alice Chen"
      kbx memory list --since 7 --json | jq '.[].fact_id'
    """
    with open_kb() as kb:
        found = kb.facts(entity=plain_text(entity), since=_date(since))
        names = {one.id: one.name for one in kb.find_entities("", 1_000_000)}
    if as_json:
        from kbx_tui.tools.json.writing_json import fact_json

        output.print_json([fact_json(fact, names.get(fact.entity_id, "")) for fact in found])
        return
    for fact in found:
        state = "done" if fact.done else ("" if fact.status == "active" else fact.status)
        kind = "open item" if fact.kind == "open_item" else ""
        about = [names.get(fact.entity_id, ""), kind, state, str(fact.fact_id)]
        click.echo(visible(f"{fact.date:<10}  {fact.text}  ({', '.join(filter(None, about))})"))


def _date(since: str | None) -> str | None:
    """Return the date that so many days ago was, or the date as given."""
    from datetime import date, timedelta

    if since and since.isdigit() and len(since) <= 5:
        return (date.today() - timedelta(days=int(since))).isoformat()
    return since
