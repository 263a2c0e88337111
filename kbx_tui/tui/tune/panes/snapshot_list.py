"""The snapshots of the knobs, and how the current settings differ from each."""

from __future__ import annotations

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span, looks
from kbx_tui.tui.tune.snapshots.snapshot_view import SnapshotRow
from kbx_tui.tui.widgets.rows_view import RowsView

PART_HEIGHT = 2
"""Lines of a snapshot: the settings, and the comparison."""

WHEN_FROM = 60
"""The width from which the time is shown."""


class SnapshotList(RowsView[SnapshotRow]):
    """Two lines per snapshot, the newest first."""

    COMPONENT_CLASSES = looks("strong", "accent", "cursor")
    BINDINGS = bindings("snapshots")

    def show(self, rows: tuple[SnapshotRow, ...]) -> None:
        """Show these rows, with the cursor on the same snapshot."""
        before = self.current.snapshot if self.current is not None else None
        self.rows = rows
        self.rebuild_lines()
        snapshots = [row.snapshot for row in rows]
        self.cursor = snapshots.index(before) if before in snapshots else self.cursor

    def row_heights(self) -> list[int]:
        return [PART_HEIGHT] * len(self.rows)

    def row_line(self, row: int, part: int, width: int) -> Line:
        shown = self.rows[row]
        if part:
            return (Span(shorten(f"     now {shown.comparison}", width), "dim"),)
        marker = Span(self.marker(row), "dim")
        letter = Span("A " if shown.is_pinned else "  ", "accent")
        when = f"  {shown.when}" if width >= WHEN_FROM else ""
        words = fit(shown.settings.words(), max(width - 3 - len(when), 0))
        return (marker, letter, Span(words), Span(when, "dim"))
