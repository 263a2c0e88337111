"""The panes of the Index mode: the run of indexing, and the files that need attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from kbx_tui.formatting import format_count, format_duration, format_percent, format_size
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten, shorten_start, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks
from kbx_tui.tui.engine.index_run import IndexRun, RunState, StageProgress
from kbx_tui.tui.widgets.lines_view import LinesView
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

if TYPE_CHECKING:
    from kbx_tui.evaluation.past_queries import OverRetrieved
    from kbx_tui.index.index_status import IndexOverview


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
FIGURES = 34


class RunPane(LinesView, can_focus=False):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "rule", "bad")

    def __init__(self) -> None:
        super().__init__()
        self._run, self._watching = IndexRun(), ""
        self._overview: IndexOverview | None = None

    def show(self, run: IndexRun, overview: IndexOverview | None, watching: str) -> None:
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


Kind = Literal["problem", "stale", "over-retrieved", "muted", "unembedded", "template"]


@dataclass(frozen=True, slots=True)
class FileRow:
    kind: Kind
    path: str
    line: int
    """Where to look in the file, from 1; 0 for its beginning."""
    text: str
    is_gone: bool = False

    @property
    def place(self) -> str:
        """`memory/people/ida.md:12`, without control characters."""
        return safe_line(f"{self.path}:{self.line}" if self.line else self.path)


@dataclass(frozen=True, slots=True)
class FileGroup:
    title: str
    advice: str
    rows: tuple[FileRow, ...]


def file_groups(
    overview: IndexOverview, over_retrieved: Sequence[OverRetrieved], muted: Sequence[str]
) -> tuple[FileGroup, ...]:
    """Return the groups that have files, the most urgent first."""
    hubs = [
        FileRow("over-retrieved", each.path, 0, _occurrences(each))
        for each in over_retrieved
        if each.path not in muted
    ]
    silent = [FileRow("muted", path, 0, "left out of every search") for path in muted]
    problems = [
        FileRow(
            "problem",
            problem.path,
            problem.line or 0,
            safe_line(problem.reason) + " (not indexed)" * problem.skipped,
        )
        for problem in overview.problems
    ]
    stale = [
        FileRow("stale", path, 0, change, is_gone=change == "deleted")
        for path, change in overview.stale
    ]
    unembedded = [
        FileRow("unembedded", path, 0, f"{format_count(count, 'text')} without a vector")
        for path, count in overview.unembedded
    ]
    templates = [
        FileRow("template", each.path, 0, safe_line(each.reason)) for each in overview.templates
    ]
    groups = (
        _group("problem", "", problems, "mend the file"),
        _group("file", "to index", stale, "the next run reads it"),
        _group("document", "too often found", hubs, "by queries without a word of its title"),
        _group("muted document", "", silent, "[search] muted_documents in kbx.toml"),
        _group("document", "without vectors", unembedded, "words find it, meaning not yet"),
        _group("place", "left out", templates, "on purpose; nothing is to be done"),
    )
    return tuple(group for group in groups if group.rows)


def _occurrences(document: OverRetrieved) -> str:
    return f"among the first ten of {document.occurrences:,} of {document.queries:,} queries"


def _group(noun: str, rest: str, rows: Sequence[FileRow], advice: str) -> FileGroup:
    return FileGroup(f"{format_count(len(rows), noun)} {rest}".strip(), advice, tuple(rows))


SIGNS: dict[Kind, tuple[str, Look]] = {
    "problem": ("!", "bad"),
    "stale": ("~", "accent"),
    "over-retrieved": ("+", "accent"),
    "muted": ("–", "dim"),
    "unembedded": ("○", "dim"),
    "template": ("–", "dim"),
}


AROUND = 5
"""Cells of a row beside its place and its text."""


class FileList(RowsView[FileRow]):
    COMPONENT_CLASSES = looks("strong", "accent", "bad", "cursor")
    BINDINGS = bindings("files")

    _groups: tuple[FileGroup, ...] = ()

    def show(self, groups: Sequence[FileGroup]) -> None:
        self._groups, is_chosen = tuple(groups), self.chosen
        self.show_rows(
            (row for group in groups for row in group.rows),
            key=lambda row: (row.kind, row.path) if is_chosen else None,
            otherwise=self.cursor,
        )

    def slots(self) -> list[Slot | Line]:
        slots, row, heights = list[Slot | Line](), 0, self.row_heights()
        for group in self._groups:
            title, advice = Span(f" {group.title}", "strong"), Span(f"  {group.advice}", "dim")
            slots += [BLANK] if slots else []
            slots.append(fit_line((title, advice), self.line_width))
            for _ in group.rows:
                slots += [(row, part) for part in range(heights[row])]
                row += 1
        return slots

    def row_heights(self) -> list[int]:
        heights = [1] * len(self.rows)
        if self.rows:
            heights[self.cursor] += len(self._rest(self.cursor))
        return heights

    def cursor_moved(self) -> None:
        self.rebuild_lines()  # the text of the row under the cursor is shown in full

    def row_line(self, row: int, part: int, width: int) -> Line:
        if part:
            return (Span(f"     {self._rest(row)[part - 1]}", "dim"),)
        content, place_width = self.rows[row], self._place_width(width)
        text = "" if self._rest(row) else content.text
        return file_line(content, text, width, self.marker(row), place_width)

    def _rest(self, row: int) -> list[str]:
        """Return further lines of a row: the text under the cursor, where it does not fit."""
        text, width = self.rows[row].text if row == self.cursor else "", self.line_width
        is_cut = cell_len(text) > width - self._place_width(width) - AROUND
        return wrap(text, max(width - 6, 10)) if is_cut else []

    def _place_width(self, width: int) -> int:
        longest = max((cell_len(row.place) for row in self.rows), default=0)
        return min(longest, max((width - AROUND) // 2, 8))


def file_line(row: FileRow, text: str, width: int, marker: str, place_width: int) -> Line:
    """Return `› ! memory/people/ida.md:12  the date cannot be read`."""
    sign, look = SIGNS[row.kind]
    place = shorten_start(row.place, place_width)
    text = shorten(text, max(width - place_width - AROUND, 1))
    return fit_line(
        (
            Span(marker, "dim"),
            Span(f"{sign} ", look),
            Span(fit(place, place_width)),
            Span(f"  {text}", "dim"),
        ),
        width,
    )
