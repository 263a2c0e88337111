"""`kbx experts`: people, projects and teams ranked by what is known of them on a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kbx_tui.cli.base_command import Command
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import count_option, json_option, text_argument
from kbx_tui.cli.output import print_result, say
from kbx_tui.formatting import format_count
from kbx_tui.tools.json.search_json import experts_json

if TYPE_CHECKING:
    from kbx_tui.experts.expert_ranking import ExpertRanking

RECEIPTS_SHOWN = 3


@click.command(name="experts", cls=Command)
@text_argument("topic", "TOPIC...", "the topic is empty; name what the experts should know about")
@count_option("--limit", 10, "Maximum number of experts.")
@count_option("--min-claims", 1, "Leave out entities with fewer claims.")
@click.option(
    "--weight",
    default="count",
    show_default=True,
    metavar="W",
    help="count, recency, citation or relevance; anything else means count.",
)
@json_option
def command(topic: str, limit: int, min_claims: int, weight: str, as_json: bool) -> None:
    """Rank people, projects and teams as experts on a topic.

    A fact counts when it contains a word of the topic or is about an entity that the topic names;
    superseded, archived and redacted facts do not count. The score of an expert is the sum over
    these facts.

    \b
    Examples:
      kbx experts migration
      kbx experts "database rollback" --weight recency --limit 5
      kbx experts migration --weight citation --min-claims 2 --json | jq '.experts[0]'
    """
    with open_kb() as kb:
        ranking = kb.experts(topic, limit, min_claims=min_claims, weight=weight)
    if ranking.weight != weight:
        say(f"unknown weight {weight!r}; counting claims")
    print_result(experts_json(ranking), experts_lines(ranking), as_json=as_json)


def experts_lines(ranking: ExpertRanking) -> list[str]:
    """Return the ranking as lines of text, each expert with the facts that add most."""
    if not ranking.experts:
        return [f"no experts found on {ranking.topic}"]
    lines = []
    for rank, expert in enumerate(ranking.experts, 1):
        claims = format_count(expert.claim_count, "claim")
        sources = format_count(expert.citation_count, "source")
        head = f"{rank:>2}. {expert.name}  {expert.score:g}"
        lines.append(f"{head} · {claims}, {sources} · {expert.entity_id}")
        lines += [
            f"      {receipt.contribution:.3g}  {receipt.text}"
            + (f" ({receipt.date})" if receipt.date else "")
            for receipt in expert.receipts[:RECEIPTS_SHOWN]
        ]
    return lines
