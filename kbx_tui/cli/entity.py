"""`kbx entity`: people, projects and teams from the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Group, say
from kbx_tui.cli.search import UNIT
from kbx_tui.cli.text import plain_text
from kbx_tui.knowledge.folding import slug
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.browsing.card import EntityCard, EntityName

ALL = 1_000_000
"""More entities than a base holds."""


@click.group(name="entity", cls=Group, no_args_is_help=False, short_help="Look entities up.")
def command() -> None:
    """List people, projects and teams, show one, and check a field before changing it.

    \b
    Examples:
      kbx entity list --type person
      kbx entity show "Alice Chen"
      kbx entity similar-field "Alice Chen" --field role --value "Engineering Director"
    """


@command.command(name="list", short_help="List all entities, those with most documents first.")
@click.option("--type", "kind", metavar="T", help="Only this type: person, project, team ...")
@click.option("--json", "as_json", is_flag=True, help="A list of id, name, type and path.")
def list_entities(kind: str | None, as_json: bool) -> None:
    """List all entities, those with the most documents first.

    \b
    Examples:
      kbx entity list
      kbx entity list --type team --json | jq -r '.[].name'
    """
    with open_kb() as kb:
        require_index(kb)
        known = kb.find_entities("", ALL)
    wanted = None if kind is None else slug(plain_text(kind))
    found = [one for one in known if wanted in (None, one.type)]
    if known and not found:
        types = ", ".join(sorted({one.type for one in known}))
        say(f"no entity is of type {visible(kind or '')!r}; there are {types}")
    if as_json:
        output.print_json([name_json(one) for one in found])
    else:
        for one in found:
            click.echo(visible(f"{one.type:<9} {one.name:<30} {one.id}"))


@command.command(name="show", short_help="Show what is known about one entity.")
@click.argument("name", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def show(name: str, as_json: bool) -> None:
    """Show what is known about one entity: role, team, facts with their ids, open items, documents.

    NAME is a name, an alias or an id; the beginning will do when only one entity fits.

    \b
    Examples:
      kbx entity show "Alice Chen"
      kbx entity show person:alice-chen --json | jq .facts
    """
    with open_kb() as kb:
        require_index(kb)
        card = kb.named_entity(plain_text(name))
    if as_json:
        output.print_json(card_json(card))
    else:
        click.echo(card_text(card))


@command.command(name="similar-field", short_help="Check a field before changing it.")
@click.argument("name", metavar="NAME")
@click.option(
    "--field",
    required=True,
    metavar="F",
    help="role, team, facts, open_items or any key of the page's frontmatter.",
)
@click.option("--value", required=True, metavar="V", help="What it is to be.")
@click.option("--threshold", type=UNIT, metavar="F", help="Least similarity; else that of [dedup].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def similar_field(
    name: str, field: str, value: str, threshold: float | None, as_json: bool
) -> None:
    """Tell whether a field of an entity says what is proposed already.

    \b
    Examples:
      kbx entity similar-field "Alice Chen" --field role --value "Engineering Director"
      kbx entity similar-field "Alice Chen" --field team --value "Platform & Infrastructure" --json
      kbx entity similar-field "Alice Chen" --field open_items --value "check migration status"
    """
    with open_kb() as kb:
        found = kb.entity_similar_field(
            plain_text(name), plain_text(field), plain_text(value), threshold=threshold
        )
    if as_json:
        from kbx_tui.tools.json.similarity_json import field_json

        output.print_json(field_json(found))
    else:
        from kbx_tui.cli.similarity_listing import print_field

        print_field(found)


def require_index(kb: KnowledgeBase) -> None:
    """Make the fast part of the index when there is none."""
    if not kb.is_indexed():
        kb.index(fast=True)


def name_json(one: EntityName) -> dict[str, Any]:
    return {"id": one.id, "name": one.name, "type": one.type, "path": one.path or None}


def card_json(card: EntityCard) -> dict[str, Any]:
    """Return what `kbx entity show --json` prints."""
    from dataclasses import asdict

    known = asdict(card)
    known["path"] = card.path or None
    known["members"] = [name_json(member) for member in card.members]
    for row in (*known["facts"], *known["open_items"], *known["documents"]):
        row["date"] = row["date"] or None
    return known


def card_text(card: EntityCard) -> str:
    """Return a card in words."""
    lines = [f"{card.name} · {card.type} · {card.id}"]
    about = [("role", card.role), ("team", card.team), ("aliases", ", ".join(card.aliases))]
    about += [("members", ", ".join(one.name for one in card.members)), ("page", card.path)]
    lines += [f"{name:<9} {value}" for name, value in about if value]
    for title, facts in (("facts", card.facts), ("open items", card.open_items)):
        lines += ["", title] if facts else []
        for fact in facts:
            state = "done" if fact.done else ("" if fact.status == "active" else fact.status)
            notes = ", ".join(filter(None, (fact.date, state, str(fact.fact_id))))
            lines.append(f"- {fact.text} ({notes})")
    lines += ["", "documents"] if card.documents else []
    lines += [f"{one.date or '':<10} {one.path} ({one.reason})" for one in card.documents]
    return "\n".join(map(visible, lines))
