"""`kbx init` and `kbx demo`: first steps with notes of your own, or with a sample."""

from __future__ import annotations

from pathlib import Path

import click

from kbx_tui.cli.app import compose_headless, run_app
from kbx_tui.cli.base_command import Command, open_kb
from kbx_tui.cli.commands.index import totals
from kbx_tui.cli.options import flag, json_option
from kbx_tui.cli.output import print_result, say
from kbx_tui.cli.write_output import NAMES_SHOWN, chose_entities, may_ask
from kbx_tui.errors import KbxError


@click.command(name="init", cls=Command)
@flag("--yes", "Write what is proposed without asking.")
@flag("--dry-run", "Show what would be written to kbx.toml.")
@json_option
def init_command(yes: bool, dry_run: bool) -> None:
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
        proposal = kb.entities.proposal()
        written = None if proposal is None else kb.entities.use(proposal, dry_run=True)
        is_used = False
        if proposal is not None and not dry_run:
            may = yes or (may_ask() and chose_entities(proposal, kb.root))
            is_used = bool(may and kb.entities.use(proposal).written)
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
    examples = {
        what: [{"name": name, "notes": count} for name, count in names]
        for what, names in (proposal.examples.items() if proposal else ())
    }
    answer = {
        "notes": report.documents,
        "entities": report.entities,
        "proposed": dict(proposal.counts) if proposal else {},
        "settings": dict(proposal.settings) if proposal else {},
        "examples": examples,
        "written": is_used,
    }
    print_result(answer, lines)


SMOKE_QUERY = "what did the platform team decide about migration?"


@click.command(name="demo", cls=Command)
@flag("--reset", "Restore the original sample, then exit.")
@flag("--smoke", "Index, search and compose the app without a terminal, then exit.")
@flag("--tour", "Show the tour of the first start again.")
def demo_command(reset: bool, smoke: bool, tour: bool) -> None:
    """Explore a sample knowledge base.

    The sample, a fictional company that makes software for ferry lines, is first copied to your
    data folder (KBX_DEMO_DIR names another place), so you may change anything in it. --reset undoes
    your changes; files that you added are kept in a folder beside it. The first start shows a tour
    in six steps, which esc ends.

    \b
    Examples:
      kbx demo
      kbx demo --reset
      kbx demo --tour
    """
    from kbx_tui.demo import install_demo

    root = install_demo(reset=reset, notice=say)
    if smoke:
        click.echo(_smoke_test(root))
    elif reset:
        say(f"restored the original sample in {root}")
    else:
        run_app(root, tour="always" if tour else "first")


def _smoke_test(root: Path) -> str:
    with open_kb(root) as kb:
        report = kb.index()
        response = kb.search(SMOKE_QUERY)
        if not response.results:
            raise KbxError(f"nothing found in {root} for {SMOKE_QUERY!r}")
        widgets = compose_headless(kb.root)
    return (
        f"ok: {report.documents} documents and {report.entities} entities indexed, "
        f"{response.meta.search_mode} search found {response.results[0].path}, "
        f"app composed of {widgets} widgets"
    )
