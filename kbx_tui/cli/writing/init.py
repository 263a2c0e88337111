"""`kbx init`: index a folder of notes, and decide what its entities are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kbx_tui.cli.asking import NAMES_SHOWN, chose_entities, may_ask
from kbx_tui.cli.base_command import Command
from kbx_tui.cli.listings.index_listing import totals
from kbx_tui.cli.open_kb import open_kb
from kbx_tui.cli.options import json_option
from kbx_tui.cli.output import print_result

if TYPE_CHECKING:
    from kbx_tui.knowledge.entities.topics import EntityProposal


@click.command(name="init", cls=Command)
@click.option("--yes", is_flag=True, help="Write what is proposed without asking.")
@click.option("--dry-run", is_flag=True, help="Show what would be written to kbx.toml.")
@json_option
def command(yes: bool, dry_run: bool, as_json: bool) -> None:
    """Propose what the entities of a folder of notes are, and write it to kbx.toml.

    Notes with people/, projects/ or teams/ have entities already, and nothing is proposed. In other
    notes these can be entities: tags on at least 3 notes, hubs (notes that at least 5 others link
    to), maps of content, folders such as Books/, and what properties such as author link to. You
    are asked once; without a terminal or --yes, nothing is written. The words of the notes are
    indexed; kbx index adds vectors. kbx undo takes the change back.

    \b
    Examples:
      kbx init
      kbx init --dry-run
      kbx init --yes --json
      kbx --kb ~/Notes init
    """
    with open_kb() as kb:
        kb.index(fast=True)
        proposal = kb.entity_proposal()
        written = None if proposal is None else kb.use_entities(proposal, dry_run=True)
        is_used = False
        if proposal is not None and not dry_run:
            may = yes or (may_ask() and chose_entities(proposal, kb.root))
            is_used = bool(may and kb.use_entities(proposal).written)
        report = kb.index(fast=True)
    lines = [totals(report)]
    if proposal is None:
        lines.append("nothing to propose: there are entities, or kbx.toml decides")
    elif is_used:
        lines.append(f"{proposal.sentence}: written to kbx.toml; kbx undo takes it back")
    else:
        lines.append(f"{proposal.sentence}: not used; kbx init --yes writes them to kbx.toml")
        lines += proposal.lines(NAMES_SHOWN)
        lines += written.diff.splitlines() if dry_run and written is not None else []
    answer = {
        "notes": report.documents,
        "entities": report.entities,
        "proposed": dict(proposal.counts) if proposal else {},
        "settings": dict(proposal.settings) if proposal else {},
        "examples": _examples(proposal) if proposal else {},
        "written": is_used,
    }
    print_result(answer, lines, as_json=as_json)


def _examples(proposal: EntityProposal) -> dict[str, list[dict[str, str | int]]]:
    return {
        what: [{"name": name, "notes": count} for name, count in names]
        for what, names in proposal.examples.items()
    }
