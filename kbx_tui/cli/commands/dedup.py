"""`kbx dedup`: check drafts before they are written, and find duplicate facts."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbx_tui.cli.app import has_terminal, run_app
from kbx_tui.cli.base_command import Command
from kbx_tui.cli.completion import complete_entity, complete_path
from kbx_tui.cli.open_kb import gc_disabled, open_kb, selected_root, warn_if_outdated
from kbx_tui.cli.options import json_option, threshold_option
from kbx_tui.cli.output import print_json, wants_json
from kbx_tui.errors import WriteFault
from kbx_tui.tools.json_output import dedup_json, scan_json

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.cli.text_output import IsRedacted
    from kbx_tui.drafting.drafts import Draft, DraftCheck, Verdict
    from kbx_tui.similarity.duplicate_scan import DuplicateScan


STDIN = "-"


@click.command(name="dedup", cls=Command)
@click.argument("file", required=False, type=click.UNPROCESSED, metavar="[FILE]")
@click.option("--apply", is_flag=True, help="Write the drafts that need no decision.")
@click.option("--scan", is_flag=True, help="Search the knowledge base instead of a file.")
@click.option(
    "--entity",
    metavar="NAME",
    shell_complete=complete_entity,
    help="Entity of drafts without one; with --scan, only facts of this entity.",
)
@click.option(
    "--path",
    metavar="P",
    help="With --scan, only facts on pages below this path.",
    shell_complete=complete_path,
)
@click.option("--kept", is_flag=True, help="With --scan, list only what you decided to keep.")
@threshold_option
@json_option
def command(
    file: str | None,
    apply: bool,
    scan: bool,
    entity: str | None,
    path: str | None,
    kept: bool,
    threshold: float | None,
) -> int:
    """Find duplicate facts and check drafts.

    FILE holds one draft per line; a heading names the entity of the lines below it. Each draft is
    compared with known facts and with the other drafts. On a terminal the app opens with them; with
    an option or in a pipe they are listed. Nothing is written without --apply.

    --scan lists clusters of duplicate facts in the knowledge base, then pairs that contradict each
    other, the most certain first.

    \b
    Examples:
      kbx dedup drafts.txt
      kbx dedup drafts.txt --apply --json
      kbx dedup --scan --entity "Alice Chen"
    """
    if scan and apply:
        raise click.UsageError("--scan only searches; --apply needs a file of drafts")
    if path and not scan:
        raise click.UsageError("--path requires --scan")
    if kept and not scan:
        raise click.UsageError("--kept requires --scan")
    if scan and file:
        raise click.UsageError("--scan searches the knowledge base and takes no file of drafts")
    if not (scan or file):
        raise click.UsageError("name a file of drafts, or use --scan to search the knowledge base")
    is_plain = not (apply or wants_json() or entity) and threshold is None
    if file and file != STDIN and has_terminal() and is_plain:
        run_app(selected_root(), drafts=Path(file).expanduser().absolute())
        return 0
    with gc_disabled(), open_kb() as kb:
        if file is None:
            duplicates = kb.drafts.scan_duplicates(
                entity=entity, path=path, threshold=threshold, kept=kept
            )
            warn_if_outdated(kb)
            _print_scan(duplicates, kb.documents.is_redacted, kept=kept)
            return 0
        from kbx_tui.drafting.deciding import decide

        drafts = _read_drafts(kb, file, entity or "")
        checks = [(check, decide(check, threshold)) for check in kb.drafts.check(drafts)]
        plan = kb.drafts.plan([_with_sure_choice(check, verdict) for check, verdict in checks])
        applied = kb.drafts.apply(plan) if apply else None
        warn_if_outdated(kb)
    if wants_json():
        print_json(dedup_json(checks, plan, applied))
    else:
        from kbx_tui.cli.text_output import print_drafts

        print_drafts(checks, plan, applied)
    return WriteFault.exit_code if applied and applied.failed else 0


def _print_scan(scan: DuplicateScan, is_redacted: IsRedacted, *, kept: bool) -> None:
    if wants_json():
        print_json(scan_json(scan))
    else:
        from kbx_tui.cli.text_output import print_scan

        print_scan(scan, is_redacted, kept=kept)


def _read_drafts(kb: KnowledgeBase, file: str, default_entity: str) -> list[Draft]:
    from kbx_tui.drafting.drafts import drafts_from_text

    drafts = drafts_from_text(sys.stdin.read()) if file == STDIN else kb.drafts.in_file(file)
    return [replace(draft, entity_name=draft.entity_name or default_entity) for draft in drafts]


def _with_sure_choice(check: DraftCheck, verdict: Verdict) -> Draft:
    """Return the draft with the proposal as its choice, if it needs no decision by the user."""
    return replace(check.draft, choice=verdict.proposal if verdict.is_sure else None)
