"""A slider for a number in 0..1, moved in equal steps by keys and mouse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from kbx_tui.formatting import format_score
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.lines import Line, ScoreLook, Span, fit_line, looks, width_of
from kbx_tui.tui.widgets.lines_view import LineWidget

STEPS = 100
"""Number of steps from 0 to 1: as fine as the two decimals of scores on screen."""
KEYS_FROM = 22
ENDS_FROM = 46
NOTE_FROM = 100
SHORT_NOTE_FROM = 64
"""The width from which a slider keeps its `note_room`."""
LONGEST_OF_PAIR = 24
"""Cells of a track in less than the whole width, where two sliders are level."""
VALUE_WIDTH = 5


class Draggable(Widget):
    """Follows the mouse while a button is held down on it."""

    def drag_to(self, x: int) -> None:
        """Take up the place at cell `x` of the content, which may lie outside of it."""
        raise NotImplementedError

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self.drag_to(event.get_content_offset_capture(self).x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self.drag_to(event.get_content_offset_capture(self).x)

    def on_mouse_up(self) -> None:
        self.release_mouse()


class NumberSlider(LineWidget, Draggable, can_focus=True):
    COMPONENT_CLASSES = looks("label", "accent", "document", "entity", "track", "rule", "knob")
    BINDINGS = bindings("slider")
    keys = ""
    position: reactive[int] = reactive(0)
    """Number of steps above 0; unlike a sum of floats, a count does not drift."""

    @dataclass
    class Changed(Message):
        """The user has moved the slider; not posted for a value set by `show`."""

        slider: NumberSlider
        value: float

        @property
        def control(self) -> NumberSlider:
            return self.slider

        def can_replace(self, message: Message) -> bool:  # a held key re-ranks only once
            return isinstance(message, NumberSlider.Changed) and message.slider is self.slider

    def __init__(
        self,
        label: str,
        start: float,
        *,
        ends: tuple[ScoreLook, ScoreLook] | tuple[()] = (),
        format_value: Callable[[float], str] = format_score,
        command: str = "",
        note_room: int = 0,
    ) -> None:
        """`label` is also the widget's id; `ends` are the parts of a score that count most at each
        end, in their colours; `format_value` formats the value for display; the keys of `command`
        are shown beside the label. A track of less than the whole width leaves
        `note_room` cells, also without a note: it must not jump when one comes or goes."""
        super().__init__(id=label)
        self.label, self.ends, self.format_value = label, ends, format_value
        self.key_labels = {"slider.less": label}
        self.command, self.note_room = command, note_room
        self.note = ""
        self.has_effect = True
        self.set_reactive(NumberSlider.position, round(start * STEPS))

    @property
    def value(self) -> float:
        return self.position / STEPS

    def show_keys(self, keymap: Keymap) -> None:
        self.keys = keymap.key_of(self.command) if self.command else ""
        self.refresh()

    def show(self, value: float) -> None:
        self.set_reactive(NumberSlider.position, round(value * STEPS))
        self.refresh()

    def annotate(self, note: str, *, has_effect: bool = True) -> None:
        """Show a note; the value stays, because the user may be moving it."""
        self.note, self.has_effect = note, has_effect
        self.refresh()

    def layout_for(self, width: int) -> SliderLayout:
        """Divide `width` cells; if they are few, omit the note first, then the end labels."""
        keys = f" {self.keys}" if self.keys and width >= KEYS_FROM else ""
        label, right = f"{self.label}{keys} ", ""
        if self.ends and width >= ENDS_FROM:
            label, right = f"{label} {self.ends[0]} ", f" {self.ends[1]}"
        note = width // 3 if width >= NOTE_FROM else 0
        if SHORT_NOTE_FROM <= width < NOTE_FROM:
            note = self.note_room
        start = 1 + cell_len(label)
        track = max(width - start - cell_len(right) - VALUE_WIDTH - note - 1, 1)
        track = track if width >= NOTE_FROM else min(track, LONGEST_OF_PAIR)
        return SliderLayout(label, start, track, right)

    def line(self, width: int) -> Line:
        layout = self.layout_for(width)
        knob = cell_of(self.position, layout.track)
        track = [
            Span("●", "knob" if self.has_effect else "rule")
            if cell == knob
            else Span("━" if cell < knob else "─", "track")
            for cell in range(layout.track)
        ]
        name, keys, left_end = layout.label.partition(f" {self.keys} " if self.keys else " ")
        ends = self.ends if self.ends and self.has_effect else ("label", "label")
        line = (
            Span(" "),
            Span(name, "label"),
            Span(keys, "accent"),
            Span(left_end, ends[0]),
            *track,
            Span(layout.right_end, ends[1]),
            Span(f"{self.format_value(self.value):>{VALUE_WIDTH}}", "label"),
        )
        note = Span(f"   {self.note}", "dim")
        has_room = width >= NOTE_FROM or width_of((*line, note)) < width
        return fit_line((*line, note) if has_room else line, width - 1)

    def validate_position(self, position: int) -> int:
        return max(0, min(position, STEPS))

    def action_move(self, steps: int) -> None:
        self._move_to(self.position + steps)

    def action_move_to_end(self, right: bool) -> None:
        self._move_to(STEPS if right else 0)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(-1)

    def drag_to(self, x: int) -> None:
        layout = self.layout_for(self.size.width)
        self._move_to(position_at(x - layout.start, layout.track))

    def _move_to(self, position: int) -> None:
        before, self.position = self.position, position
        if self.position != before:
            self.post_message(self.Changed(self, self.value))


class SliderLayout(NamedTuple):
    label: str
    """What is left of the track, with the label of that end."""
    start: int
    """The first cell of the track, whose length follows."""
    track: int
    right_end: str


def cell_of(position: int, track: int) -> int:
    return round(position / STEPS * (track - 1))


def position_at(cell: int, track: int) -> int:
    if track <= 1:
        return 0
    return max(0, min(STEPS, round(cell / (track - 1) * STEPS)))
