"""Checked drafts as text: state, entity, nearest known fact, and what would be written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from kbx_tui.cli import output
from kbx_tui.cli.output import say
from kbx_tui.cli.text_output import BAD, GOOD, QUIET
from kbx_tui.cli.write_output import print_diff
from kbx_tui.formatting import STATE_SIGNS, format_count, format_score
from kbx_tui.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from kbx_tui.drafting.records import Applied, DraftCheck, Plan, Verdict


INDENT = " " * 11
"""As wide as the sign and state of a draft."""


def print_drafts(
    checks: Sequence[tuple[DraftCheck, Verdict]], plan: Plan, applied: Applied | None
) -> None:
    """Print every draft, then the diff of what would be written or a summary of what was."""
    console = output.console()
    states: Counter[str] = Counter(verdict.state for _, verdict in checks)
    counts = ", ".join(f"{states[state]} {state}" for state in STATE_SIGNS if states[state])
    total = format_count(len(checks), "draft")
    console.print(Text(f"{total}: {counts}" if counts else "no drafts", "bold"))
    for check, verdict in checks:
        _print_draft(console, check, verdict)
    if applied is None:
        if plan.diff:
            console.print()
            print_diff(plan.diff)
        return
    console.print()
    undecided = len(checks) - len(applied.done) - len(applied.failed)
    summary = f"{applied.created} written, {applied.skipped} skipped, {undecided} left to decide"
    console.print(Text(summary, "bold"))
    for problem in applied.failed:
        say(problem.reason)


def _print_draft(console: Console, check: DraftCheck, verdict: Verdict) -> None:
    entity = check.entity.name if check.entity else "?"
    head = Text.assemble(
        (f"{STATE_SIGNS[verdict.state]} {verdict.state:<9}", GOOD if verdict.is_sure else BAD),
        safe_line(check.draft.text),
        (safe_line(f"  ({entity})"), QUIET),
    )
    console.print(head)
    proposal = f"{verdict.proposal.action}: {verdict.reason}"
    console.print(Text(safe_line(f"{INDENT}{proposal}"), QUIET))
    for note in check.notes:
        console.print(Text(safe_line(f"{INDENT}{note}"), BAD))
    if verdict.match:
        known = verdict.match.known
        place = f"{known.source_path}:{known.line}"
        line = f"{INDENT}{format_score(known.score)} {known.relation}: {known.text} · {place}"
        console.print(Text(safe_line(line), QUIET))
