"""The entities found by pass 1, best first, with a line at the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from rich.cells import cell_len

from kbx_tui.formatting import format_score
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten, wrap
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, looks
from kbx_tui.tui.explore.view import EntityRow
from kbx_tui.tui.widgets.lines_view import LineWidget
from kbx_tui.tui.widgets.rows_view import RowsView, Slot


class EntityList(RowsView[EntityRow]):
    COMPONENT_CLASSES = looks("strong", "entity", "rule", "cursor")
    BINDINGS = bindings("entities")
    LEAVE_ACTION = "screen.focus_query"
    NEEDS_FOCUS = True
    threshold = 0.5

    def show(
        self, entities: tuple[EntityRow, ...], threshold: float, *, fresh: bool = False
    ) -> None:
        """Show these entities, best first; `fresh` if they are those of another query.

        A cursor the user has moved stays on its entity if that is among them.
        """
        self.chosen = self.chosen and (self.has_focus or not fresh)
        current_id = self.current.id if self.current is not None and self.chosen else ""
        self.rows, self.threshold = entities, threshold
        ids = [entity.id for entity in entities]
        self.rebuild_lines()
        self.cursor = ids.index(current_id) if current_id in ids else 0

    def row_heights(self) -> list[int]:
        return [1 + len(self._reason_lines(row)) for row in range(len(self.rows))]

    def _reason_lines(self, row: int) -> list[str]:
        words, width = reasons(self.rows[row]), max(self.line_width - 4, 1)
        if not words:
            return []
        is_whole = row == self.cursor and self.has_focus
        return wrap(words, width) if is_whole else [shorten(words, width)]

    def cursor_moved(self) -> None:
        self.rebuild_lines()  # the reasons of another row are shown whole
        self.show_cursor()

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)  # handlers of focus and blur run before it is set
        self.cursor_moved()

    def slots(self) -> Sequence[Slot | Line]:
        slots = self.row_slots()
        if not slots:
            return slots
        passing = count_passing(self.rows, self.threshold)
        line = sum(row < passing for row, _ in slots)
        return [*slots[:line], threshold_line(self.threshold, self.line_width), *slots[line:]]

    def row_line(self, row: int, part: int, width: int) -> Line:
        entity = self.rows[row]
        if part:
            lines = self._reason_lines(row)
            return (Span("   "), Span(lines[part - 1] if part <= len(lines) else "", "dim"))
        return entity_line(entity, width, self.marker(row), self.threshold)


class EntityStrip(LineWidget):
    COMPONENT_CLASSES = looks("strong", "entity", "rule")


def count_passing(entities: tuple[EntityRow, ...], threshold: float) -> int:
    return sum(entity.score >= threshold for entity in entities)


def reasons(entity: EntityRow) -> str:
    decision = "muted by you" if entity.muted else "pinned by you" if entity.pinned else ""
    return ", ".join(filter(None, (decision, entity.left_out, entity.signals)))


def score_text(score: float, threshold: float) -> str:
    """Return a score, with a third decimal where two would make it reach the threshold."""
    if score < threshold <= round(score, 2):
        return f"{floor(score * 1000) / 1000:.3f}".removeprefix("0")
    return format_score(score)


def entity_line(entity: EntityRow, width: int, marker: str = " ", threshold: float = 0.0) -> Line:
    """Return `● Alice Chen      person 1.00` in exactly `width` cells."""
    kind = f" {shorten(entity.type, 9)} "
    room = width - 3 - cell_len(kind) - 4
    return (
        Span(marker, "dim"),
        Span(f"{entity.sign} ", "entity" if entity.kept else "dim"),
        Span(fit(entity.name, room), "strong" if entity.kept else "text"),
        Span(kind, "dim"),
        Span(f"{score_text(entity.score, threshold):>4}", "text" if entity.kept else "dim"),
    )


def threshold_line(threshold: float, width: int) -> Line:
    label = f" threshold {format_score(threshold)} "
    left = max(width - len(label), 0) // 2
    return (Span(f"{'┄' * left}{label}".ljust(width, "┄"), "rule"),)


def entity_strip_line(entities: tuple[EntityRow, ...], threshold: float, width: int) -> Line:
    """Return all entities in one line: `● Alice Chen 1.00 ┊ .50 ┊ ○ Platform .41`."""
    spans: list[Span] = [Span(" ")]
    threshold_index = count_passing(entities, threshold)
    bar = Span(f" ┊ {format_score(threshold)} ┊ ", "rule")
    for index, entity in enumerate(entities):
        if index == threshold_index:
            spans.append(bar)
        elif index:
            spans.append(Span("  "))
        spans += [
            Span(f"{entity.sign} ", "entity" if entity.kept else "dim"),
            Span(entity.name, "strong" if entity.kept else "dim"),
            Span(f" {score_text(entity.score, threshold)}", "dim"),
        ]
    if entities and threshold_index == len(entities):
        spans.append(bar)
    return fit_line(tuple(spans), width)
