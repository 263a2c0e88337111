"""`kbx person|project|team create|edit`: pages of entities and their fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command, Group
from kbx_tui.cli.text import plain_text
from kbx_tui.cli.writing import tell_written, writing_options

if TYPE_CHECKING:
    from kbx_tui.editing.field_edits import Value

FIELDS: dict[str, tuple[tuple[str, str], ...]] = {
    "person": (
        ("role", "What they do."),
        ("email", "Their address."),
        ("team", "The team they are in."),
        ("reports-to", "Whom they report to."),
        ("company", "Where they work."),
    ),
    "project": (
        ("status", "How it stands: Active, Paused, Completed."),
        ("lead", "Who leads it."),
        ("team", "The team that works on it."),
        ("started", "When it began, 2026-03."),
    ),
    "team": (("lead", "Who leads it."), ("role", "What it is there for.")),
}
"""Options of each type, with what they mean."""

EXAMPLES = {
    "person": 'kbx person {} "Ann Lee" --role "Site reliability engineer" --team Platform',
    "project": 'kbx project {} "Blue Lagoon" --lead "Ann Lee" --status Active',
    "team": 'kbx team {} Harbour --lead "Ann Lee" --alias HRB',
}


def group_of(kind: str) -> Group:
    """Return the commands for pages of one type."""
    told = f"Make pages of {'people' if kind == 'person' else kind + 's'} and change their fields."
    lines = "\n".join(f"  {EXAMPLES[kind].format(verb)}" for verb in ("create", "edit"))
    group = Group(
        name=kind,
        help=f"{told}\n\n\b\nExamples:\n{lines}\n",
        short_help=f"Make the page of a {kind}, change its fields.",
        no_args_is_help=False,
    )
    group.add_command(_command(kind, "create", _create))
    group.add_command(_command(kind, "edit", _edit))
    return group


def _command(kind: str, verb: str, run: Callable[..., None]) -> click.Command:
    @writing_options
    def callback(name: str, alias: tuple[str, ...], meta: tuple[str, ...], **options: Any) -> None:
        flags = {key: options.pop(key) for key in ("dry_run", "as_json")}
        given = {key: plain_text(value) for key, value in options.items() if value is not None}
        fields = {**given, **_meta(meta)}
        aliases = (*_texts(alias), *filter(None, [fields.pop("aliases", "")]))
        run(kind, plain_text(name), fields, aliases, **flags)

    told = (
        f"Make the page of a {kind}: frontmatter and heading, as kbx writes them."
        if verb == "create"
        else f"Change fields of a {kind}'s page; an empty value takes a field out.\n\n"
        "What says much the same as before is told."
    )
    example = EXAMPLES[kind].format(verb)
    parameters: list[click.Parameter] = [click.Argument(["name"], metavar="NAME")]
    parameters += [
        click.Option([f"--{field}"], metavar="V", help=about) for field, about in FIELDS[kind]
    ]
    parameters += [
        click.Option(["--alias", "--codename"], multiple=True, metavar="A", help="Another name."),
        click.Option(["--meta"], multiple=True, metavar="K=V", help="Any other field."),
    ]
    return Command(
        name=verb,
        callback=callback,
        params=[*parameters, *getattr(callback, "__click_params__", [])[::-1]],
        help=f"{told}\n\n\b\nExamples:\n  {example}\n  {example} --dry-run\n",
        short_help="Make its page." if verb == "create" else "Change fields of its page.",
    )


def _create(
    kind: str,
    name: str,
    fields: dict[str, str],
    aliases: tuple[str, ...],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    with open_kb() as kb:
        told: dict[str, Value] = {**({"aliases": aliases} if aliases else {}), **fields}
        written = kb.create_page(name, kind, told, dry_run=dry_run)
    tell_written(written, as_json=as_json, dry_run=dry_run)


def _edit(
    kind: str,
    name: str,
    fields: dict[str, str],
    aliases: tuple[str, ...],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    if not (fields or aliases):
        raise click.UsageError("nothing to change; name a field, as --role")
    wanted: dict[str, str | tuple[str, ...] | None] = {k: v or None for k, v in fields.items()}
    if aliases:
        wanted["aliases"] = aliases
    with open_kb() as kb:
        written = kb.edit_page(name, wanted, kind=kind, dry_run=dry_run)
    tell_written(written, as_json=as_json, dry_run=dry_run)


def _meta(given: Sequence[str]) -> dict[str, str]:
    fields = {}
    for one in given:
        key, equals, value = plain_text(one).partition("=")
        if not (equals and key.strip()):
            raise click.UsageError(f"--meta {one!r} is no field; give it as key=value")
        fields[key.strip()] = value.strip()
    return fields


def _texts(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(plain_text(one) for one in given)
