"""`kbx context`: a digest of the base; `kbx timeline`: what is known of an entity, by date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import options
from kbx_tui.cli.base_command import Command, open_kb
from kbx_tui.cli.output import padded, print_result, say
from kbx_tui.formatting import format_count
from kbx_tui.tools.json_output import digest_json, picked

if TYPE_CHECKING:
    from kbx_tui.search.timeline import Timeline, TimelineEntry


@click.command(name="context", cls=Command)
@options.count_option("--tokens", 2000, "Length of the digest; a token is four bytes.")
@options.json_option
def context_command(tokens: int) -> None:
    """Print a digest: people, projects, teams, open items, what is new.

    It is for an agent, or a person, who begins to work with the base. Each line ends with an id or
    a place, by which `kbx search` and the tools find more.

    \b
    Examples:
      kbx context
      kbx context --tokens 500 --json | jq -r .text
    """
    with open_kb() as kb:
        digest = kb.context(tokens)
    print_result(digest_json(digest), digest.text.split("\n"))


@click.command(name="timeline", cls=Command)
@click.argument("name", metavar="NAME", shell_complete=options.complete_entity)
@options.option("--as-of DATE", "What was known on this day, or at the end of this month or year.")
@options.count_option("--limit", 50, "Maximum number of entries.")
@options.json_option
@options.format_option
def timeline_command(name: str, as_of: str | None, limit: int) -> None:
    """List the facts, meetings and other documents of an entity by date.

    The newest come first. NAME is a name, an alias or an id, with or without an @. A fact that was
    superseded after the day of --as-of is shown as it was then, if its line states when.

    \b
    Examples:
      kbx timeline @alice
      kbx timeline "Alice Chen" --as-of 2026-03-01
      kbx timeline project:migration --limit 200 --format csv
    """
    with open_kb() as kb:
        found = kb.entities.timeline(name, as_of=as_of, limit=limit)
    if found.later:
        say(f"{format_count(found.later, 'entry')} dated later, or undated, left out")
    if found.more:
        say(f"{format_count(found.more, 'older entry')} left out; --limit shows more")
    entries = [entry_json(entry) for entry in found.entries]
    head = {"entity": picked(found.entity, "id name type path?"), "as_of": found.as_of or None}
    counts = picked(found, "more later")
    data: Any = {**head, "entries": entries, **counts}
    print_result(data, timeline_lines(found), rows=entries)


def entry_json(entry: TimelineEntry) -> dict[str, Any]:
    names = "date? kind text path line fact_id status? superseded? reason?"
    return picked(entry, names)


def timeline_lines(found: Timeline) -> Iterator[str]:
    entity = found.entity
    as_of = f" · as of {found.as_of}" if found.as_of else ""
    yield f"{entity.name} · {entity.type} · {entity.id}{as_of}"
    for entry in found.entries:
        status = "" if entry.status in ("", "active") else entry.status
        since = f" on {entry.superseded}" if status == "superseded" and entry.superseded else ""
        place = "" if entry.fact_id is not None else entry.path
        remarks = ", ".join(filter(None, (f"{status}{since}", entry.reason, place)))
        kind = entry.kind.replace("_", " ")
        shown = f"  ({remarks})" if remarks else ""
        yield f"{entry.date[:10]:<10}  {padded(kind, 9)}  {entry.text}{shown}"
