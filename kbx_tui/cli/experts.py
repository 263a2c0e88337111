"""`kbx experts`: who or what is known best on a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kbx_tui.cli import output
from kbx_tui.cli.opening import open_kb
from kbx_tui.cli.running import Command, say
from kbx_tui.cli.text import plain_text
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from kbx_tui.experts.expert_ranking import ExpertRanking

RECEIPTS_SHOWN = 3


@click.command(name="experts", cls=Command, short_help="Rank who is known best on a topic.")
@click.argument("words", nargs=-1, metavar="TOPIC...")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="At most so many.",
)
@click.option(
    "--min-claims",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Leave out who has fewer claims.",
)
@click.option(
    "--weight",
    default="count",
    show_default=True,
    metavar="W",
    help="count, recency, citation or relevance; any other counts.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/experts.md has the fields.")
def command(
    words: tuple[str, ...], limit: int, min_claims: int, weight: str, as_json: bool
) -> None:
    """Rank people, projects and teams by what is known of them on TOPIC.

    Facts count that hold a word of the topic, or are about an entity it names; what is superseded,
    archived or redacted does not. The facts below each name add up to its score.

    \b
    Examples:
      kbx experts migration
      kbx experts "database rollback" --weight recency --limit 5
      kbx experts migration --weight citation --min-claims 2 --json | jq '.experts[0]'
    """
    topic = plain_text(" ".join(words))
    if not topic.strip():
        raise click.UsageError("the topic is empty; say what the experts are to know about")
    with open_kb() as kb:
        found = kb.experts(topic, limit, min_claims=min_claims, weight=weight)
    if found.weight != weight:
        say(f"there is no weight {weight!r}; counting claims")
    if as_json:
        from kbx_tui.tools.json.experts_json import experts_json

        output.print_json(experts_json(found))
    else:
        click.echo(experts_text(found))


def experts_text(found: ExpertRanking) -> str:
    """Return the ranking in words, each expert with what counts most."""
    if not found.experts:
        return visible(f"nobody is known for {found.topic}")
    lines = []
    for rank, one in enumerate(found.experts, 1):
        lines.append(
            f"{rank:>2}. {one.name}  {one.score:g} · {_count(one.claim_count, 'claim')}, "
            f"{_count(one.citation_count, 'source')} · {one.entity_id}"
        )
        lines += [
            f"      {receipt.contribution:.3g}  {receipt.text}"
            + (f" ({receipt.date})" if receipt.date else "")
            for receipt in one.receipts[:RECEIPTS_SHOWN]
        ]
    return "\n".join(map(visible, lines))


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
