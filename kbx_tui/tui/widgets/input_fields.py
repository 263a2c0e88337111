"""One-line fields whose keys act in the order in which they were typed, and path completion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip
from textual.suggester import Suggester, SuggestionReady
from textual.widgets import Input
from textual.widgets.input import Selection

from kbx_tui.safe_text import safe_line
from kbx_tui.user_files import logger

EDITING = {
    key: binding.action
    for binding in Input.BINDINGS
    if isinstance(binding, Binding)
    and binding.action.startswith(("cursor_", "delete_", "home", "end"))
    for key in binding.key.split(",")
}


class OrderedInput(Input):
    """A one-line field without a blinking cursor, for keys that arrive several at once.

    This happens over a slow line or after a pause. Textual looks for the binding of a key only
    after all parents of the field have received it; by then, later letters have been inserted.
    """

    offers_help = False
    """Whether `?` in place of all text shows the keys: no text of this field begins so."""

    def __init__(self, placeholder: str = "", *, select_on_focus: bool = True) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=select_on_focus)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Return a text as the field holds it: a path or a file of state may hold controls."""
        return safe_line(value)

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.show_part()

    def on_resize(self) -> None:
        self.show_part()

    def watch_selection(self, _before: Selection, _selection: Selection) -> None:
        self.show_part()

    def show_part(self) -> None:
        """Show the cursor of a long text, or its beginning while it is not edited."""
        x = cell_len(self.value[: self.cursor_position]) if self.has_focus else 0
        self.scroll_to_region(Region(x, 0, 1, 1), force=True, animate=False)

    async def on_key(self, event: events.Key) -> None:
        if self.offers_help and event.key == "question_mark" and self.selected_text == self.value:
            event.stop()
            event.prevent_default()
            await self.run_action("app.help")
            return
        active = self.screen.active_bindings.get(event.key) if event.key in EDITING else None
        if active and active.node is self and active.binding.action == EDITING[event.key]:
            event.stop()
            event.prevent_default()
            await self.run_action(active.binding.action)


CLEAR_SIGN, CLEAR_ROOM = "×", 3
"""The sign, and the cells of padding that a field needs to show it."""

Work = Callable[[], Coroutine[None, None, Any]]
"""What a worker runs. A coroutine would never be awaited if a later one replaced it at once."""
CompletePath = Callable[[str], Awaitable[Sequence[str]]]


class PathSuggester(Suggester):
    def __init__(
        self, complete: CompletePath, report: Callable[[str, tuple[str, ...]], None]
    ) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete, self._report = complete, report

    async def get_suggestion(self, value: str) -> str | None:
        try:
            paths = await self._complete(value)
        except Exception as error:  # would end the app if raised here; searching reports it anyway
            logger().warning("no completions for %r: %s", value, error)
            paths = ()
        completions = tuple(path for path in paths if safe_line(path) == path)
        self._report(value, completions)
        first = completions[0] if completions else ""
        return first if first.startswith(value) and first != value else None


class PathInput(OrderedInput):
    """A field with completions, which a sign at its end clears."""

    @dataclass
    class CompletionsFound(Message):
        text: str
        completions: tuple[str, ...]

    def __init__(
        self,
        placeholder: str,
        complete: CompletePath | None = None,
        *,
        select_on_focus: bool = True,
    ) -> None:
        super().__init__(placeholder, select_on_focus=select_on_focus)
        self.suggester = None if complete is None else PathSuggester(complete, self._report)
        self._inline: SuggestionReady | None = None

    @property
    def completion(self) -> str:
        ready = self._inline
        return ready.suggestion if ready is not None and ready.value == self.value else ""

    @property
    def is_completing(self) -> bool:
        return self.suggester is not None

    @property
    def keeps_tab(self) -> bool:
        """Whether Tab completes the text instead of leaving the field."""
        return bool(self.completion)

    def complete_with(self, complete: CompletePath | None) -> None:
        self.suggester = None if complete is None else PathSuggester(complete, self._report)
        self.post_message(SuggestionReady(self.value, ""))  # removes the one shown
        if self.suggester is None:
            self.post_message(self.CompletionsFound(self.value, ()))
        else:
            self.request_completions()

    def request_completions(self) -> None:
        if self.suggester is not None:
            lookup: Work = partial(self.suggester.get_suggestion, self.value)
            # In a group of its own: Textual starts workers of the same kind, which it would end.
            self.run_worker(lookup, group="lookup", exclusive=True, exit_on_error=False)

    def action_clear_text(self) -> None:
        self.value = ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the sign that clears the text into the padding, which scrolling never covers."""
        strips, (x, y) = super().render_lines(crop), self._clear_sign
        if self.value and crop.contains(x, y):
            x, y = x - crop.x, y - crop.y
            before, blank, after = strips[y].divide([x, x + 1, strips[y].cell_length])
            # In the colour of the text, in which NO_COLOR has been taken into account: the padding
            # has none, and a dialog above would not dim the sign.
            text = [segment.style for segment in before if segment.style and segment.style.color]
            color = Style(color=text[-1].color if text else None)
            sign = [Segment(CLEAR_SIGN, (segment.style or color) + color) for segment in blank]
            strips[y] = Strip.join([before, Strip(sign), after])
        return strips

    def on_click(self, event: events.Click) -> None:
        if event.offset == self._clear_sign:
            self.action_clear_text()

    @property
    def _clear_sign(self) -> Offset:
        if self.styles.padding.right < CLEAR_ROOM:
            return Offset(-1, -1)
        return Offset(self.gutter.left + self.size.width + 1, self.gutter.top)

    async def action_complete(self) -> None:
        """Accept the inline completion, or go to the next pane if there is none."""
        before = self.value
        self.cursor_position = len(before)
        self.action_cursor_right()  # at the end of the text, this accepts the completion
        if self.value == before:
            await self.run_action("screen.next_pane(1)")

    def select_all(self) -> None:
        super().select_all()
        self._inline = None  # Input removes its suggestion here, and on focus

    def on_focus(self) -> None:
        self._inline = None

    def on_input_changed(self) -> None:
        if not self.value:  # Input asks for the completions of any other text
            self.request_completions()

    def on_suggestion_ready(self, event: SuggestionReady) -> None:
        self._inline = event

    def _report(self, text: str, completions: tuple[str, ...]) -> None:
        if self.is_completing and text == self.value:
            self.post_message(self.CompletionsFound(text.strip(), completions))
