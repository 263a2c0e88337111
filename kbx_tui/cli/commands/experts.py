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
    from kbx_tui.experts.expert_ranking import ExpertRanking, Receipt

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
@click.option("--people", is_flag=True, help="Rank only people, no projects and teams.")
@json_option
def command(
    topic: str, limit: int, min_claims: int, weight: str, people: bool, as_json: bool
) -> None:
    """Rank people, projects and teams as experts on a topic.

    A fact counts when it contains a word of the topic or is about an entity that the topic names;
    if it holds only some of the words, by their share. Superseded, archived and redacted facts do
    not count. The score of an expert is the sum over these facts; those with a fact on the whole
    topic come first.

    \b
    Examples:
      kbx experts migration
      kbx experts "database rollback" --weight recency --limit 5
      kbx experts "ferry timetable" --people
      kbx experts migration --weight citation --min-claims 2 --json | jq '.experts[0]'
    """
    with open_kb() as kb:
        ranking = kb.experts(topic, limit, min_claims=min_claims, weight=weight, people=people)
    for note in () if as_json else ranking.notes:
        say(note)
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
        partly = "" if expert.full_claim_count else ", on a part of the topic"
        lines.append(f"{head} · {claims}, {sources}{partly} · {expert.entity_id}")
        lines += [_receipt_line(receipt) for receipt in expert.receipts[:RECEIPTS_SHOWN]]
    return lines


def _receipt_line(receipt: Receipt) -> str:
    remarks = [
        receipt.date + ", of the file" * receipt.has_file_date if receipt.date else "",
        f"{receipt.share:.0%} of the topic" if receipt.is_partial else "",
    ]
    shown = ", ".join(filter(None, remarks))
    return f"      {receipt.contribution:.3g}  {receipt.text}" + (f" ({shown})" if shown else "")
