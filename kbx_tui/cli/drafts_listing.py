"""Checked drafts for people: state, whose, what it is like, what would be written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from kbx_tui.cli import output
from kbx_tui.cli.running import say
from kbx_tui.cli.similarity_listing import BAD, DIM, GOOD
from kbx_tui.cli.writing import print_diff
from kbx_tui.formatting import STATE_SIGNS, count_words, score_text
from kbx_tui.safe_text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbx_tui.drafting.checks import DraftCheck, Verdict
    from kbx_tui.drafting.plans import Applied, Plan


def print_drafts(
    checks: Sequence[tuple[DraftCheck, Verdict]], plan: Plan, applied: Applied | None
) -> None:
    """Print every draft, then the diff of what is sure, or what was done."""
    console = output.console()
    states: Counter[str] = Counter(verdict.state for _, verdict in checks)
    told = ", ".join(f"{states[state]} {state}" for state in STATE_SIGNS if states[state])
    total = count_words(len(checks), "draft")
    console.print(Text(f"{total}: {told}" if told else "no drafts", "bold"))
    for check, verdict in checks:
        _print_draft(check, verdict)
    if applied is None:
        if plan.diff:
            console.print()
            print_diff(plan.diff)
        return
    console.print()
    skipped = f"{applied.skipped} skipped"
    left = len(checks) - len(applied.done) - len(applied.failed)
    console.print(Text(f"{applied.created} written, {skipped}, {left} left to decide", "bold"))
    for problem in applied.failed:
        say(problem.reason)


def _print_draft(check: DraftCheck, verdict: Verdict) -> None:
    console = output.console()
    style = GOOD if verdict.is_sure else BAD
    whose = check.entity.name if check.entity else "?"
    head = Text.assemble(
        (f"{STATE_SIGNS[verdict.state]} {verdict.state:<9}", style),
        visible(check.draft.text),
        (visible(f"  ({whose})"), DIM),
    )
    console.print(head)
    console.print(Text(visible(f"           {verdict.proposal.action}: {verdict.reason}"), DIM))
    for note in check.notes:
        console.print(Text(visible(f"           {note}"), BAD))
    if verdict.match:
        known = verdict.match.known
        place = f"{known.source_path}:{known.line}"
        line = f"           {score_text(known.score)} {known.relation}: {known.text} · {place}"
        console.print(Text(visible(line), DIM))
