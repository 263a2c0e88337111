"""`kbx search`: find documents from the shell."""

from __future__ import annotations

from collections.abc import Sequence

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command, say
from kbx_tui.cli.uncollected import uncollected

UNIT = click.FloatRange(0.0, 1.0)


@click.command(name="search", cls=Command, short_help="Find documents, entities first.")
@click.argument("words", nargs=-1, metavar="QUERY...")
@click.option(
    "--path", metavar="P", help="Only below this folder, this file, or what this glob names."
)
@click.option(
    "--type", "types", multiple=True, metavar="T,...", help="Only these kinds: meeting,note."
)
@click.option("--from", "since", metavar="DATE", help="Not older than 2026-03-17, 2026-03 or 2026.")
@click.option("--to", "until", metavar="DATE", help="Not newer; the whole month or year counts.")
@click.option("--tag", "tags", multiple=True, metavar="T,...", help="Only with one of these tags.")
@click.option(
    "--entity", "entities", multiple=True, metavar="ID,...", help="Only linked to one of these."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="At most so many results.",
)
@click.option("--no-hierarchy", is_flag=True, help="Flat: rank by the documents alone.")
@click.option(
    "--hierarchy-alpha",
    type=UNIT,
    metavar="F",
    help="Weight of the document: 1 = document alone, 0 = entity alone.",
)
@click.option(
    "--hierarchy-threshold",
    type=UNIT,
    metavar="F",
    help="Score below which an entity is not kept; none kept means flat.",
)
@click.option(
    "--max-entities", type=click.IntRange(1, 20), metavar="N", help="Keep at most so many entities."
)
@click.option(
    "--gate",
    type=click.Choice(["soft", "hard"]),
    help="soft keeps documents no entity is linked to, hard drops them.",
)
@click.option(
    "--parent",
    type=click.Choice(["coverage", "max"]),
    help="Entity part: the mean over the entities named, or the best one.",
)
@click.option(
    "--hotness",
    type=UNIT,
    metavar="F",
    help="Weight of what was opened lately, 0 by default.",
)
@click.option("--fast", is_flag=True, help="Words only: flat, no model is loaded.")
@click.option("--explain", is_flag=True, help="Show how each score came about.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def command(
    words: tuple[str, ...],
    path: str | None,
    types: tuple[str, ...],
    since: str | None,
    until: str | None,
    tags: tuple[str, ...],
    entities: tuple[str, ...],
    limit: int,
    no_hierarchy: bool,
    hierarchy_alpha: float | None,
    hierarchy_threshold: float | None,
    max_entities: int | None,
    hotness: float | None,
    gate: str | None,
    parent: str | None,
    fast: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Find documents: first the people, projects and teams a query names, then what is linked.

    When no entity fits well enough the search is flat, and says why. Knobs that are not given
    come from kbx.toml. A query may be any text, with or without quotes; put -- before one that
    starts with a dash.

    \b
    Examples:
      kbx search "what did the platform team decide about migration?"
      kbx search grace tully rollout --type meeting --path memory/meetings/2026
      kbx search "error code 5032" --fast
      kbx search alice migration --hierarchy-alpha 0.7 --explain
      kbx search "rollback plan" --json | jq -r '.results[].path'
      kbx search -- --no-hierarchy
    """
    query = _text(" ".join(words))
    if not query.strip():
        raise click.UsageError("the query is empty; say what to look for")
    with uncollected(), open_kb() as kb:
        response = kb.search(
            query,
            limit=limit,
            path=None if path is None else _text(path),
            fast=fast,
            hierarchy=not no_hierarchy,
            alpha=hierarchy_alpha,
            threshold=hierarchy_threshold,
            max_entities=max_entities,
            hotness=hotness,
            gate=gate,
            parent=parent,
            doc_types=_values(types),
            since=since,
            until=until,
            tags=_values(tags),
            entities=_values(entities),
            explain=explain or not as_json,
        )
        newer = kb.count_newer_files()
        kinds = {} if as_json or response.results else kb.document_kinds()
    if newer:
        files = "1 file was" if newer == 1 else f"{newer:,} files were"
        say(f"{files} changed since the last run; `kbx index` brings them in")
    if as_json:
        from kbx_tui.tools.json.search_json import search_json

        output.print_json(search_json(response))
    else:
        from kbx_tui.cli.search_listing import print_listing

        print_listing(response, kinds, explain=explain)


def _values(given: Sequence[str]) -> list[str]:
    """Return the values of an option that takes several: repeated, or with commas between."""
    return [name.strip() for name in _text(",".join(given)).split(",") if name.strip()]


def _text(argument: str) -> str:
    """Return an argument as valid text: bytes that are none arrive as lone surrogates."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
