"""What undoing in the dedup mode took back, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count, format_score, join_limited
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import shorten

if TYPE_CHECKING:
    from kbx_tui.editing.state.drafts import Draft
    from kbx_tui.tui.dedup.draft_store import ReviewStep

NAMED = 40
"""Cells of a draft's text in a notice."""


def describe_undone_write(paths: Sequence[str], settled: int) -> str:
    """Return what a write changed that is undone: `undid the write to people/alice-chen.md`."""
    names = [safe_line(path).removeprefix("memory/") for path in paths]
    files = join_limited(names) if names else "no file"
    again = f"; {format_count(settled, 'draft')} here again" if settled else ""
    return f"undid the write to {files}{again}"


def describe_undone(drafts: Sequence[Draft], threshold: float | None, step: ReviewStep) -> str:
    """Return what undoing `step` does to the drafts as they are now."""
    if step.kind == "threshold" or (step.drafts == tuple(drafts) and step.threshold != threshold):
        value = "by kind" if step.threshold is None else format_score(step.threshold)
        return f"threshold is {value} again"
    now, then = ({draft.id: draft for draft in each} for each in (drafts, step.drafts))
    gone = [draft for draft in drafts if draft.id not in then]
    back = [draft for draft in step.drafts if draft.id not in now]
    changed = [draft for draft in step.drafts if draft.id in now and draft != now[draft.id]]
    parts = [
        f"{_named(drafts_)} {what}"
        for drafts_, what in ((gone, "removed again"), (back, "here again"))
        if drafts_
    ]
    parts += [_change(now[draft.id], draft) for draft in changed[:1]]
    return "undone: " + (", ".join(parts) or "the last change")


def _change(now: Draft, then: Draft) -> str:
    """Return which field of a draft is as before."""
    named = _named([then])
    if now.text != then.text:
        return f"{named} has its former text"
    if now.kind != then.kind:
        return f"{named} is {'a fact' if then.kind == 'fact' else 'an open item'} again"
    if now.choice == then.choice:
        return f"{named} has its former entity"
    return f"{named} is {f'to {then.choice.action}' if then.choice else 'undecided'} again"


def _named(drafts: Sequence[Draft]) -> str:
    if len(drafts) > 1:
        return format_count(len(drafts), "draft")
    return f"“{shorten(safe_line(drafts[0].text), NAMED)}”"
