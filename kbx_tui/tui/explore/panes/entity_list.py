"""The entities pass 1 found, best first, with the threshold drawn between kept and not kept."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.message import Message

from kbx_tui.formatting import score_text
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import Line, Span, fit_line, looks
from kbx_tui.tui.explore.view import EntityRow
from kbx_tui.tui.widgets.line_widget import LineWidget
from kbx_tui.tui.widgets.rows_view import RowsView, Slot

KEPT, NOT_KEPT, MUTED = "●", "○", "✕"


class EntityList(RowsView):
    """Entities in a column, each with the reasons why it was found."""

    COMPONENT_CLASSES = looks("strong", "entity", "rule", "cursor")
    BINDINGS = bindings("entities")

    @dataclass
    class Opened(Message):
        """A person wants to know all about an entity."""

        entity: EntityRow

    @dataclass
    class Muted(Message):
        """A person leaves an entity out, or takes it in again."""

        entity: EntityRow

    @dataclass
    class Pinned(Message):
        """A person wants the query to be about an entity, or no longer."""

        entity: EntityRow

    class Left(Message):
        """The up arrow was pressed on the first entity."""

    def __init__(self) -> None:
        super().__init__()
        self.entities: tuple[EntityRow, ...] = ()
        self.threshold = 0.5

    def show(
        self, entities: tuple[EntityRow, ...], threshold: float, *, fresh: bool = False
    ) -> None:
        """Show these entities, best first; with `fresh` those of another query.

        Who is among them stays where they are, as when an entity is pinned.
        """
        self.chosen = self.chosen and (self.has_focus or not fresh)
        at = self.entities[self.cursor].id if self.entities and self.chosen else ""
        self.entities, self.threshold = entities, threshold
        ids = [entity.id for entity in entities]
        self.lines_changed()
        self.cursor = ids.index(at) if at in ids else 0

    def count_rows(self) -> int:
        return len(self.entities)

    def slots(self) -> list[Slot]:
        slots: list[Slot] = []
        if not self.entities:
            return slots
        line_at = passing(self.entities, self.threshold)
        for row, entity in enumerate(self.entities):
            if row == line_at:
                slots.append((-1, 0))
            slots.append((row, 0))
            if reasons(entity):
                slots.append((row, 1))
        if line_at == len(self.entities):
            slots.append((-1, 0))
        return slots

    def row_line(self, row: int, part: int, width: int) -> Line:
        if row < 0:
            return threshold_line(self.threshold, width)
        entity = self.entities[row]
        if part:
            return (Span("   "), Span(shorten(reasons(entity), width - 3), "dim"))
        marker = "›" if row == self.cursor and self.has_focus else " "
        return entity_line(entity, width, marker)

    def is_cursor_line(self, y: int) -> bool:
        return self.has_focus and super().is_cursor_line(y)

    @property
    def current(self) -> EntityRow | None:
        """The entity under the cursor."""
        return self.entities[self.cursor] if self.entities else None

    def opened(self) -> None:
        self.post_message(self.Opened(self.entities[self.cursor]))

    def left(self) -> None:
        self.post_message(self.Left())

    def action_mute(self) -> None:
        if (entity := self.current) is not None:
            self.post_message(self.Muted(entity))

    def action_pin(self) -> None:
        if (entity := self.current) is not None:
            self.post_message(self.Pinned(entity))


class EntityStrip(LineWidget):
    """The same in one line, for terminals too small for a column."""

    COMPONENT_CLASSES = looks("strong", "entity", "rule")

    def __init__(self) -> None:
        super().__init__()
        self.entities: tuple[EntityRow, ...] = ()
        self.threshold = 0.5

    def show(self, entities: tuple[EntityRow, ...], threshold: float) -> None:
        """Show these entities, best first."""
        self.entities, self.threshold = entities, threshold
        self.refresh()

    def line(self, width: int) -> Line:
        return strip_line(self.entities, self.threshold, width)


def passing(entities: tuple[EntityRow, ...], threshold: float) -> int:
    """Return how many entities reach the threshold; they come best first."""
    return sum(entity.score >= threshold for entity in entities)


def sign(entity: EntityRow) -> str:
    """Return how an entity is marked: it counts, it does not, a person left it out."""
    return MUTED if entity.muted else KEPT if entity.kept else NOT_KEPT


def reasons(entity: EntityRow) -> str:
    """Return why an entity is where it is, a hand before the signals."""
    hand = "muted by you" if entity.muted else "pinned by you" if entity.pinned else ""
    return ", ".join(words for words in (hand, entity.signals) if words)


def entity_line(entity: EntityRow, width: int, marker: str = " ") -> Line:
    """Return `● Alice Chen      person 1.00`, exactly `width` cells."""
    kind = f" {shorten(entity.type, 9)} "
    room = width - 3 - cell_len(kind) - 4
    return (
        Span(marker, "dim"),
        Span(f"{sign(entity)} ", "entity" if entity.kept else "dim"),
        Span(fit(entity.name, room), "strong" if entity.kept else "text"),
        Span(kind, "dim"),
        Span(f"{score_text(entity.score):>4}", "text" if entity.kept else "dim"),
    )


def threshold_line(threshold: float, width: int) -> Line:
    """Return the line between kept and not kept."""
    words = f" threshold {score_text(threshold)} "
    left = max(width - len(words), 0) // 2
    right = max(width - len(words) - left, 0)
    return (Span("┄" * left + words + "┄" * right, "rule"),)


def strip_line(entities: tuple[EntityRow, ...], threshold: float, width: int) -> Line:
    """Return all entities in one line: `● Alice Chen 1.00 ┊ .50 ┊ ○ Platform .41`."""
    spans: list[Span] = [Span(" ")]
    at = passing(entities, threshold)
    bar = Span(f" ┊ {score_text(threshold)} ┊ ", "rule")
    for index, entity in enumerate(entities):
        if index == at:
            spans.append(bar)
        elif index:
            spans.append(Span("  "))
        spans += [
            Span(f"{sign(entity)} ", "entity" if entity.kept else "dim"),
            Span(entity.name, "strong" if entity.kept else "dim"),
            Span(f" {score_text(entity.score)}", "dim"),
        ]
    if entities and at == len(entities):
        spans.append(bar)
    return fit_line(tuple(spans), width)
