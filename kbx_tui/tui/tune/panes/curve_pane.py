"""The curve of a measure over one knob; keys and the mouse move the knob."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, fit_to_height, looks
from kbx_tui.tui.tune.curve import Curve, curve_words
from kbx_tui.tui.tune.curve_plot import plot_area, plot_lines
from kbx_tui.tui.tune.tunable import Value
from kbx_tui.tui.widgets.lines_view import EmptyState, blank

LEAST_HEIGHT = 4
"""Height of the smallest plot; below it only the words are shown."""
MARGIN = 1
"""Cells left and right of the plot."""


class CurvePane(LineDrawing, Widget, can_focus=True, inherit_bindings=False):
    """A plot, and below it the same in words."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "rule")
    BINDINGS = bindings("slider")

    @dataclass
    class Moved(Message):
        """The user gave the knob another value."""

        value: Value

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, CurvePane.Moved)

    def __init__(self) -> None:
        super().__init__()
        self.curve: Curve | None = None
        self.p: float | None = None
        """p-value of the difference of the best value; None while it is not known."""
        self.steps: tuple[float, ...] = ()
        """Values at which the results of the query under the cursor change."""
        self.empty_state: EmptyState = blank
        self._value: Value | None = None
        """Where keys have moved the knob, until a newer curve comes."""
        self._drawn: tuple[object, list[Line]] = (None, [])

    def show(self, curve: Curve | None, p: float | None, steps: tuple[float, ...]) -> None:
        """Show a curve; None shows the empty state."""
        self.curve, self.p, self.steps, self._value = curve, p, steps, None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        lines, width = self._lines(), self.content_size.width
        return self.draw(lines[y] if y < len(lines) else BLANK, width)

    def _lines(self) -> list[Line]:
        """Return the lines of the whole pane; drawn once per change."""
        width, height = self.content_size
        key = (self.curve, self.p, self.steps, self.empty_state, width, height)
        if self._drawn[0] != key:
            self._drawn = (key, self._draw(width, height))
        return self._drawn[1]

    def _draw(self, width: int, height: int) -> list[Line]:
        if self.curve is None:
            return fit_to_height(self.empty_state(width), height)
        words: list[Line] = [
            (Span(f" {line}"),) for line in wrap(curve_words(self.curve, self.p), width - 2)
        ]
        tall = height - len(words)
        if tall < LEAST_HEIGHT:
            return words[:height]
        plot = plot_lines(self.curve, self.steps, width - 2 * MARGIN, tall)
        return [*((Span(" " * MARGIN), *line) for line in plot), *words]

    def action_move(self, steps: int) -> None:
        if self.curve is not None:
            self._move_to(self.curve.knob.moved(self._value_of(self.curve), steps))

    def action_move_to_end(self, right: bool) -> None:
        if self.curve is not None:
            self._move_to(self.curve.values[-1 if right else 0])

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._move_to_cell(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._move_to_cell(event)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def _move_to_cell(self, event: events.MouseEvent) -> None:
        if self.curve is not None:
            x = event.get_content_offset_capture(self).x
            width, height = self.content_size
            area = plot_area(width - 2 * MARGIN, height)
            self._move_to(self.curve.knob.value_at(area.position(x - MARGIN)))

    def _value_of(self, curve: Curve) -> Value:
        return curve.current if self._value is None else self._value

    def _move_to(self, value: Value) -> None:
        if self.curve is not None and value != self._value_of(self.curve):
            self._value = value
            self.post_message(self.Moved(value))
