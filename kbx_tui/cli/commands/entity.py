"""`kbx entity`: people, projects and teams from the shell."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Group
from kbx_tui.cli.completers import complete_entity
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option, threshold_option
from kbx_tui.cli.output import Greyed, padded, print_json, print_result, say
from kbx_tui.knowledge.folding import slug
from kbx_tui.tools.json.similarity_json import field_json

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.knowledge.records import Fact
    from kbx_tui.search.browsing.card import EntityCard, EntityName

ALL_ENTITIES = 1_000_000
"""A limit that no knowledge base reaches."""


@click.group(name="entity", cls=Group, no_args_is_help=False)
def command() -> None:
    """Look up people, projects and teams.

    List them, show one, or check a field before changing it.

    \b
    Examples:
      kbx entity list --type person
      kbx entity show "Alice Chen"
      kbx entity similar-field "Alice Chen" --field role --value "Engineering Director"
    """


@command.command(name="list")
@click.option("--type", "kind", metavar="T", help="Only this type: person, project, team ...")
@json_option
def list_entities(kind: str | None, as_json: bool) -> None:
    """List all entities, those with the most documents first.

    \b
    Examples:
      kbx entity list
      kbx entity list --type team --json | jq -r '.[].name'
    """
    with open_kb() as kb:
        _require_index(kb)
        entities = kb.find_entities("", ALL_ENTITIES)
    wanted = None if kind is None else slug(kind)
    listed = [entity for entity in entities if wanted in (None, entity.type)]
    if entities and not listed:
        types = ", ".join(sorted({entity.type for entity in entities}))
        say(f"no entity has type {kind!r}; existing types: {types}")
    lines = (f"{padded(each.type, 9)} {padded(each.name, 30)} {each.id}" for each in listed)
    print_result([name_json(entity) for entity in listed], lines, as_json=as_json)


@command.command(name="show")
@click.argument("name", metavar="NAME", shell_complete=complete_entity)
@json_option
def show(name: str, as_json: bool) -> None:
    """Show what is known about one entity.

    That is its role, team, facts with their ids, open items and documents. NAME is a name, an
    alias, an id, or the beginning of one that matches a single entity.

    \b
    Examples:
      kbx entity show "Alice Chen"
      kbx entity show person:alice-chen --json | jq .facts
    """
    with open_kb() as kb:
        _require_index(kb)
        card = kb.named_entity(name)
        redacted = {
            text
            for text in (card.role, card.team, *card.aliases)
            if kb.is_redacted(card.path, text)
        }
    print_result(card_json(card), card_lines(card, redacted), as_json=as_json)


@command.command(name="similar-field")
@click.argument("name", metavar="NAME", shell_complete=complete_entity)
@click.option(
    "--field",
    required=True,
    metavar="F",
    help="role, team, facts, open_items or any key of the page's frontmatter.",
)
@click.option("--value", required=True, metavar="V", help="The proposed value.")
@threshold_option
@json_option
def similar_field(
    name: str, field: str, value: str, threshold: float | None, as_json: bool
) -> None:
    """Check whether a field already says the same as a value.

    \b
    Examples:
      kbx entity similar-field "Alice Chen" --field role --value "Engineering Director"
      kbx entity similar-field "Alice Chen" --field team --value "Platform & Infrastructure" --json
      kbx entity similar-field "Alice Chen" --field open_items --value "check migration status"
    """
    with open_kb() as kb:
        similarity = kb.entity_similar_field(name, field, value, threshold=threshold)
    if as_json:
        print_json(field_json(similarity))
    else:
        from kbx_tui.cli.listings.similarity_listing import print_field

        print_field(similarity)


def _require_index(kb: KnowledgeBase) -> None:
    """Index text and entities unless there is an index."""
    if not kb.is_indexed():
        kb.index(fast=True)


def name_json(entity: EntityName) -> dict[str, Any]:
    """Return an entity as `--json` lists it."""
    path = entity.path or None
    return {"id": entity.id, "name": entity.name, "type": entity.type, "path": path}


def card_json(card: EntityCard) -> dict[str, Any]:
    """Return what `kbx entity show --json` prints."""
    members = [name_json(member) for member in card.members]
    fields = asdict(card) | {"path": card.path or None, "members": members}
    for row in (*fields["facts"], *fields["open_items"], *fields["documents"]):
        row["date"] = row["date"] or None
    return fields


def card_lines(card: EntityCard, redacted: Collection[str] = ()) -> list[str]:
    """Return a card as lines of text, greyed if redacted; `redacted` are values of its fields."""
    lines = [f"{card.name} · {card.type} · {card.id}"]
    fields = [
        ("role", card.role),
        ("team", card.team),
        ("aliases", ", ".join(card.aliases)),
        ("members", ", ".join(member.name for member in card.members)),
        ("page", card.path),
    ]
    public = ", ".join(alias for alias in card.aliases if alias not in redacted)
    for name, value in fields:
        line = f"{name:<9} {value}"
        is_redacted = value in redacted or (name == "aliases" and value != public)
        lines += [Greyed(line) if is_redacted else line] if value else []
    for title, facts in (("facts", card.facts), ("open items", card.open_items)):
        lines += ["", title] if facts else []
        for fact in facts:
            details = (fact.date, fact_state(fact), str(fact.fact_id))
            lines.append(greyed(fact, f"- {fact.text} ({', '.join(filter(None, details))})"))
    lines += ["", "documents"] if card.documents else []
    return lines + [f"{row.date or '':<10} {row.path} ({row.reason})" for row in card.documents]


def greyed(fact: Fact, line: str) -> str:
    """Return a line about a fact, greyed if the fact is redacted."""
    return Greyed(line) if fact.status == "redacted" else line


def fact_state(fact: Fact) -> str:
    """Return `done`, or the status of a fact that is not active, else nothing."""
    if fact.done:
        return "done"
    return "" if fact.status == "active" else fact.status
