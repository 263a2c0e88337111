"""The run of indexing: a bar for each stage with rate and time left, and what the index holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbx_tui.formatting import format_count, format_duration, format_percent, format_size
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, looks
from kbx_tui.tui.engine.index_run import IndexRun, RunState, StageProgress
from kbx_tui.tui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from kbx_tui.index.index_overview import IndexOverview

STATES: dict[RunState, str] = {
    "idle": "up to date",
    "counting": "comparing files",
    "asking": "waiting for your answer",
    "running": "indexing",
    "paused": "paused",
    "stopped": "stopped; what is indexed stays",
    "locked": "waiting for another run to end",
    "failed": "the last run failed",
}
NAME = 11
"""Cells of the name of a stage."""
FIGURES = 34
"""Cells of count, rate and time left."""


class RunPane(LinesView, can_focus=False):
    """The stages, then two lines on the index; nothing to choose."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "rule", "bad")

    def __init__(self) -> None:
        super().__init__()
        self._run, self._watching = IndexRun(), ""
        self._overview: IndexOverview | None = None

    def show(self, run: IndexRun, overview: IndexOverview | None, watching: str) -> None:
        """Show a run, what the index holds if that is known, and whether files are watched."""
        self._run, self._overview, self._watching = run, overview, watching
        self.border_title = f"Index · {state_words(run, overview)}"
        self.rebuild_lines()

    def count_lines(self) -> int:
        return len(self._lines(self.line_width))

    def line_at(self, y: int, width: int) -> Line:
        lines = self._lines(width)
        return lines[y] if y < len(lines) else ()

    def _lines(self, width: int) -> list[Line]:
        stages = stage_lines(self._run, width, few=self.visible_height <= FEW_LINES)
        return [*stages, *base_lines(self._overview, self._watching, width)]


def state_words(run: IndexRun, overview: IndexOverview | None) -> str:
    """Return what the run does, or what is left to do: `up to date`, `3 files differ`."""
    if run.state != "idle" or overview is None:
        return STATES[run.state] if run.state != "idle" else "…"
    if overview.stale:
        return f"{format_count(len(overview.stale), 'file')} to index"
    return "some texts lack vectors" if overview.unembedded else STATES["idle"]


FEW_LINES = 4
"""Height up to which only the current stage is shown."""


def stage_lines(run: IndexRun, width: int, *, few: bool = False) -> list[Line]:
    """Return a line for each stage; with `few`, for the one that is being worked on."""
    stages = run.stages
    if few:
        current = run.current or next((each for each in stages if not each.is_over), stages[-1])
        stages = (current,)
    return [stage_line(stage, width) for stage in stages]


def stage_line(stage: StageProgress, width: int) -> Line:
    """Return ` vectors    ████████░░░░  312 of 1,204  40/s  26 s left`."""
    room = max(min(width - NAME - FIGURES - 3, 40), 6)
    share = 1.0 if stage.is_over else stage.done / stage.total if stage.total else 0.0
    filled = int(share * room)
    figures = [f"{stage.done:,} of {stage.total:,}" if stage.total > 1 else ""]
    if stage.is_over:
        figures = [f"{stage.total:,}" if stage.total > 1 else "", "done"]
    elif stage.has_begun:
        figures.append(f"{stage.rate:,.0f}/s" if stage.rate else "")
        left = stage.seconds_left
        figures.append(f"{format_duration(left)} left" if left is not None and left >= 1.0 else "")
    return fit_line(
        (
            Span(f" {fit(stage.name, NAME)}", "strong" if stage.has_begun else "dim"),
            Span("█" * filled, "document"),
            Span("░" * (room - filled), "rule"),
            Span(f"  {'  '.join(filter(None, figures))}", "dim"),
        ),
        width,
    )


def base_lines(overview: IndexOverview | None, watching: str, width: int) -> list[Line]:
    """Return what the index holds, and whether files are watched."""
    if overview is None:
        holds = "reading the index …"
    elif not overview.documents:
        holds = f"nothing is indexed; {format_count(len(overview.stale), 'file')} to index"
    else:
        holds = (
            f"{format_count(len(overview.documents), 'document')} ·"
            f" meaning {format_percent(overview.vector_share)} · {format_size(overview.size_bytes)}"
        )
    return [
        fit_line((Span(f" {holds}"),), width),
        fit_line((Span(f" {watching}", "dim"),), width),
    ]
