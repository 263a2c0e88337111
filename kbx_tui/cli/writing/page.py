"""`kbx person|project|team create|edit`: pages of entities and their fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.base_command import Command, Group
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.writing.write_output import prints_written

if TYPE_CHECKING:
    from kbx_tui.drafting.plans import Written
    from kbx_tui.editing.pages.field_edits import Value

    Fields = dict[str, Value]

FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "person": (
        ("role", "What they do."),
        ("email", "Their address."),
        ("team", "Their team."),
        ("reports-to", "Their manager."),
        ("company", "Their employer."),
    ),
    "project": (
        ("status", "Its status: Active, Paused, Completed."),
        ("lead", "Who leads it."),
        ("team", "The team that works on it."),
        ("started", "When it started, as 2026-03."),
    ),
    "team": (("lead", "Who leads it."), ("role", "What it is responsible for.")),
}
"""For each type of entity, its options and their help texts."""

EXAMPLES = {
    "person": 'kbx person {} "Ann Lee" --role "Site reliability engineer" --team Platform',
    "project": 'kbx project {} "Blue Lagoon" --lead "Ann Lee" --status Active',
    "team": 'kbx team {} Harbour --lead "Ann Lee" --alias HRB',
}


def group_of(kind: str) -> Group:
    """Return the commands `create` and `edit` for one type of entity."""
    examples = "\n".join(f"  {EXAMPLES[kind].format(verb)}" for verb in ("create", "edit"))
    plural = "people" if kind == "person" else f"{kind}s"
    group = Group(
        name=kind,
        help=f"Create and edit pages of {plural}.\n\n\b\nExamples:\n{examples}\n",
        no_args_is_help=False,
    )
    create_help = f"""Create the page of a {kind}.

    It consists of frontmatter and a heading, as kbx writes them."""
    edit_help = f"""Edit fields of a {kind}'s page.

    An empty value removes a field. A message says when a new value means nearly the same as the
    old one."""
    group.add_command(_command(kind, "create", _create, create_help))
    group.add_command(_command(kind, "edit", _edit, edit_help))
    return group


def _command(kind: str, verb: str, write: Callable[..., Written], help_text: str) -> click.Command:
    @prints_written
    def callback(
        name: str, alias: tuple[str, ...], meta: tuple[str, ...], dry_run: bool, **options: Any
    ) -> Written:
        named = {key: value for key, value in options.items() if value is not None}
        fields = named | _parse_meta(meta)
        aliases = (*alias, *filter(None, [fields.pop("aliases", "")]))
        return write(kind, name, fields, {"aliases": aliases} if aliases else {}, dry_run=dry_run)

    example = EXAMPLES[kind].format(verb)
    parameters = [
        click.Argument(["name"], metavar="NAME"),
        *(click.Option([f"--{field}"], metavar="V", help=text) for field, text in FIELDS[kind]),
        click.Option(["--alias", "--codename"], multiple=True, metavar="A", help="Another name."),
        click.Option(["--meta"], multiple=True, metavar="K=V", help="Any other field."),
        *reversed(getattr(callback, "__click_params__", [])),
    ]
    return Command(
        name=verb,
        callback=callback,
        params=parameters,
        help=f"{cleandoc(help_text)}\n\n\b\nExamples:\n  {example}\n  {example} --dry-run\n",
    )


def _create(kind: str, name: str, fields: Fields, aliases: Fields, *, dry_run: bool) -> Written:
    with open_kb() as kb:
        return kb.create_page(name, kind, aliases | fields, dry_run=dry_run)


def _edit(kind: str, name: str, fields: Fields, aliases: Fields, *, dry_run: bool) -> Written:
    values = {field: value or None for field, value in fields.items()} | aliases
    if not values:
        raise click.UsageError("nothing to change; give a field, for example --role")
    with open_kb() as kb:
        return kb.edit_page(name, values, kind=kind, dry_run=dry_run)


def _parse_meta(assignments: Sequence[str]) -> dict[str, str]:
    """Return the fields of `key=value` arguments."""
    fields = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not (equals and key.strip()):
            raise click.UsageError(f"--meta {assignment!r} is not a field; use key=value")
        fields[key.strip()] = value.strip()
    return fields
