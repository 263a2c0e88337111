"""`kbx memory`: facts and open items, asked about, listed, written and changed."""

from __future__ import annotations

import click

from kbx_tui.cli import memory_add, memory_edit, memory_list, output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Group, say
from kbx_tui.cli.search import UNIT
from kbx_tui.cli.text import plain_text
from kbx_tui.cli.uncollected import uncollected


@click.group(
    name="memory", cls=Group, no_args_is_help=False, short_help="Facts: ask, write, change."
)
def command() -> None:
    """Ask what is known, write it, change it.

    \b
    Examples:
      kbx memory similar "prefers async communication" --entity "Alice Chen"
      kbx memory add "Prefers async Slack over email" --entity "Alice Chen"
      kbx memory list --entity "Alice Chen"
    """


@command.command(name="similar", short_help="Find facts and open items that say the same.")
@click.argument("words", nargs=-1, metavar="TEXT...")
@click.option("--entity", metavar="NAME", help="Only facts of this entity: name, alias or id.")
@click.option(
    "--path", metavar="P", help="Only below this path; passages of documents are compared too."
)
@click.option("--chunks", is_flag=True, help="Compare passages of all documents too.")
@click.option(
    "--threshold", type=UNIT, metavar="F", help="Least similarity; else [dedup] of kbx.toml."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    metavar="N",
    help="At most so many matches.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def similar(
    words: tuple[str, ...],
    entity: str | None,
    path: str | None,
    chunks: bool,
    threshold: float | None,
    limit: int,
    as_json: bool,
) -> None:
    """Find facts and open items that say the same as TEXT, best first.

    A match that contradicts TEXT in a number, date, name or negation is a conflict: alike, and no
    duplicate.

    \b
    Examples:
      kbx memory similar "prefers async communication" --entity "Alice Chen"
      kbx memory similar "deployment rollback procedure" --threshold 0.80 --json
      kbx memory similar "blocked by auth" --path memory/projects --json | jq .has_similar
    """
    text = plain_text(" ".join(words))
    if not text.strip():
        raise click.UsageError("the text is empty; say what you are about to write")
    with uncollected(), open_kb() as kb:
        (found,) = kb.check_similar(
            [text],
            entity=plain_text(entity),
            path=plain_text(path),
            threshold=threshold,
            limit=limit,
            chunks=chunks,
        )
        newer = kb.count_newer_files()
    if newer:
        say_newer(newer)
    if as_json:
        from kbx_tui.tools.json.similarity_json import check_json

        output.print_json(check_json(found))
    else:
        from kbx_tui.cli.similarity_listing import print_check

        print_check(found)


for _command in (
    memory_add.command,
    memory_list.command,
    memory_edit.edit_fact,
    memory_edit.delete_fact,
    memory_edit.supersede,
):
    command.add_command(_command)


def say_newer(count: int) -> None:
    """Tell that the answer may be out of date."""
    files = "1 file was" if count == 1 else f"{count:,} files were"
    say(f"{files} changed since the last run; `kbx index` brings them in")
