"""What the user decides on: the settings that the optimiser offers. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbx_tui.formatting import format_percent, format_score
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, paragraph

if TYPE_CHECKING:
    from kbx_tui.evaluation.optimise import Advice

BAR = 30
"""Width of the progress bar in cells."""


def progress_lines(done: int, total: int, width: int) -> list[Line]:
    """Return how far optimising is."""
    filled = round(done / max(total, 1) * BAR)
    bar = (Span("  " + "█" * filled, "document"), Span("░" * (BAR - filled), "rule"))
    text = "Each fifth of the judged queries is measured with what the rest chooses."
    return [bar, BLANK, *paragraph(text, width, "dim")]


def awaiting_lines(width: int) -> list[Line]:
    """Return what is shown until the judged queries are read."""
    return paragraph("Reading the judged queries; optimising starts by itself after that.", width)


def advice_lines(advice: Advice, take_key: str, width: int) -> list[Line]:
    """Return the verdict, what it rests on, and the offered settings if there are any."""
    lines = [
        *paragraph(f"{advice.verdict[0].upper()}{advice.verdict[1:]}.", width, "strong"),
        BLANK,
    ]
    facts = [
        f"nDCG@10 is {format_score(advice.before)} on {advice.queries} judged queries,"
        f" judged@10 {format_percent(advice.judged_before)}."
    ]
    if advice.left_out:
        facts.append(f"There was no memory for {advice.left_out:,} judged queries.")
    if advice.changes and not advice.wins:
        facts.append(
            f"The best on the queries that chose it, {format_score(advice.after)}, would be:"
        )
    for fact in facts:
        lines += paragraph(fact, width)
    for key, (old, new) in advice.changes.items():
        lines.append((Span(f"    {key}  "), Span(f"{old} → {new}", "accent")))
    if advice.wins:
        lines += [BLANK, *paragraph(f"{take_key} takes these settings into the app.", width)]
    return lines
