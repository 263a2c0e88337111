"""`kbx dedup`: drafts checked before they are written, and facts that stand in the base twice."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbx_tui.cli import output
from kbx_tui.cli.app import has_terminal, run_app
from kbx_tui.cli.memory import say_newer
from kbx_tui.cli.opening import named_base, open_kb
from kbx_tui.cli.running import Command
from kbx_tui.cli.search import UNIT
from kbx_tui.cli.text import plain_text
from kbx_tui.cli.uncollected import uncollected
from kbx_tui.errors import WriteFault

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.checks import DraftCheck, Verdict
    from kbx_tui.editing.state.drafts import Draft

STDIN = "-"


@click.command(name="dedup", cls=Command, short_help="Check drafts; find facts that are twice.")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--apply", is_flag=True, help="Write what is new; nothing that needs a decision.")
@click.option("--scan", is_flag=True, help="Look through the base instead of a file.")
@click.option(
    "--entity", metavar="NAME", help="Whose the drafts are; with --scan only facts of this entity."
)
@click.option("--path", metavar="P", help="With --scan, only facts on pages below this path.")
@click.option(
    "--threshold", type=UNIT, metavar="F", help="Least similarity; else [dedup] of kbx.toml."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON; docs/cli.md has the fields.")
def command(
    file: str | None,
    apply: bool,
    scan: bool,
    entity: str | None,
    path: str | None,
    threshold: float | None,
    as_json: bool,
) -> int:
    """Check the drafts in FILE, one per line, against what is known and against each other.

    On a terminal the app opens with them; with an option, or in a pipe, they are listed. Nothing is
    changed without --apply. A heading in FILE names the entity of the lines below it.
    With --scan: clusters of facts that are in the base more than once, and pairs that contradict
    each other, the surest first.

    \b
    Examples:
      kbx dedup drafts.txt
      kbx dedup drafts.txt --apply --json
      kbx dedup --scan --entity "Alice Chen"
    """
    if scan and apply:
        raise click.UsageError("--scan only looks; --apply goes with a file of drafts")
    if path and not scan:
        raise click.UsageError("--path goes with --scan")
    if scan and file:
        raise click.UsageError("--scan looks through the base; a file of drafts goes without it")
    if not (scan or file):
        raise click.UsageError("name a file of drafts, or say --scan to look through the base")
    is_plain = not (apply or as_json or entity) and threshold is None
    if file and file != STDIN and has_terminal() and is_plain:
        run_app(named_base(), drafts=Path(file).expanduser().absolute())
        return 0
    with uncollected(), open_kb() as kb:
        if file is None:
            _scan(kb, plain_text(entity), plain_text(path), threshold, as_json=as_json)
            return 0
        drafts = _drafts(kb, file, plain_text(entity) or "")
        return _check(kb, drafts, threshold, apply=apply, as_json=as_json)


def _drafts(kb: KnowledgeBase, file: str, entity: str) -> tuple[Draft, ...]:
    from kbx_tui.editing.state.drafts import drafts_from_text

    found = drafts_from_text(sys.stdin.read()) if file == STDIN else kb.drafts_in(file)
    return tuple(replace(one, entity_name=one.entity_name or entity) for one in found)


def _check(
    kb: KnowledgeBase,
    drafts: tuple[Draft, ...],
    threshold: float | None,
    *,
    apply: bool,
    as_json: bool,
) -> int:
    checks = [(check, kb.decide(check, threshold)) for check in kb.check_drafts(drafts)]
    plan = kb.plan([_settled(check, verdict) for check, verdict in checks])
    applied = kb.apply(plan) if apply else None
    newer = kb.count_newer_files()
    if newer:
        say_newer(newer)
    if as_json:
        from kbx_tui.tools.json.writing_json import dedup_json

        output.print_json(dedup_json(checks, plan, applied))
    else:
        from kbx_tui.cli.drafts_listing import print_drafts

        print_drafts(checks, plan, applied)
    return WriteFault.exit_code if applied and applied.failed else 0


def _settled(check: DraftCheck, verdict: Verdict) -> Draft:
    """Return the draft with the proposal for its choice, if nobody needs to look at it."""
    return replace(check.draft, choice=verdict.proposal if verdict.is_sure else None)


def _scan(
    kb: KnowledgeBase, entity: str | None, path: str | None, threshold: float | None, *,
    as_json: bool,
) -> None:  # fmt: skip
    found = kb.scan_duplicates(entity=entity, path=path, threshold=threshold)
    newer = kb.count_newer_files()
    if newer:
        say_newer(newer)
    if as_json:
        from kbx_tui.tools.json.similarity_json import scan_json

        output.print_json(scan_json(found))
    else:
        from kbx_tui.cli.similarity_listing import print_scan

        print_scan(found)
