"""A tour of explore in six steps, each of which waits until it is done, and its bubble."""

from __future__ import annotations

from rich.cells import cell_len
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.commands.keymap import command_by_id
from kbx_tui.tui.drawing.lines import Line, LineDrawing, Span, looks, wrap
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.pane_layout import Panes
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.shell.frame_screen import ModeScreen

STEPS: tuple[tuple[str, str], ...] = (
    ("query.earlier", "Press {key} to ask a question, or type one. Answers come as you type."),
    (
        "query.results",
        "Press {key} to go to the results. With them is what you named, such as a person, and"
        " why a result is where it is.",
    ),
    (
        "alpha.more",
        "Press {key} twice: alpha now weighs a document's own text more, its entities less. If a"
        " row moves, it gets ▲ or ▼.",
    ),
    (
        "undo",
        "Press {key}: alpha goes back to where it was. It undoes any change, the last one first.",
    ),
    ("results.read", "Press {key} to read the result, at the passage that matches."),
    (
        "app.help",
        "Press {key} for the keys of a pane, and what its numbers mean. That was the"
        " tour; to take it again, look for it in ctrl+p.",
    ),
)
"""The command that each step is about, and what to do; `{key}` stands for its key."""
BACK = ("query.results", "Press {key} to go back to the results.")
"""In place of a later step while the user types."""
ALPHA_MOVE = 0.095
"""How far alpha moves in its step: two key presses, as a single one often moves no row."""


class TourBubble(LineDrawing, Widget):
    """The words of the current step; hidden without one.

    A click ends the tour, as does esc in the query line or the results with no document open.
    """

    COMPONENT_CLASSES = looks("strong", "accent")
    DEFAULT_CSS = "TourBubble { display: none; height: auto; }"

    words = key = ""

    def show(self, words: str, key: str = "", *, goes_back: bool = False) -> None:
        self.border_subtitle = "esc goes back" if goes_back else "esc ends the tour"
        if words == self.words:
            return
        self.words, self.key = words, key
        self.display = bool(words)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(wrap(self.words, max(width, 1)))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return min(cell_len(self.words), container.width)

    def render_line(self, y: int) -> Strip:
        lines = wrap(self.words, max(self.size.width, 1))
        text = lines[y] if y < len(lines) else ""
        before, key, after = text.partition(self.key) if y == 0 and self.key else (text, "", "")
        line: Line = (Span(before, "strong"), Span(key, "accent"), Span(after, "strong"))
        return self.draw(line, self.size.width)

    async def on_click(self) -> None:
        await self.run_action("screen.end_tour")


class TourGuide:
    """Shows the first step that is not done, whether by its key, by the mouse or by typing."""

    def __init__(self, screen: ModeScreen) -> None:
        self._screen, self._model = screen, screen.session.explore
        self._index, self._alpha = len(STEPS), 0.0
        self.is_wanted = False

    @property
    def is_shown(self) -> bool:
        return self._index < len(STEPS)

    def start_if_wanted(self) -> None:
        if self.is_wanted:
            self.is_wanted = False
            self.start()

    def start(self) -> None:
        self._screen.app_state.note_tour()
        self._index = 0
        self.show()

    def end(self) -> None:
        self._index = len(STEPS)
        self.show()

    def take_key(self, key: str) -> bool:
        """End the tour at esc or its last key; return whether the key does nothing else (esc while
        typing)."""
        is_last = self._index == len(STEPS) - 1
        if is_last and key in self._screen.app.keymap.keys(command_by_id("app.help")):
            self.end()
        if key != "escape" or self._goes_back:
            return False
        self.end()
        return isinstance(self._screen.focused, QueryLine)

    def show(self) -> None:
        while self.is_shown and self._is_done(STEPS[self._index][0]):
            self._index += 1
        bubble = self._screen.query_one(TourBubble)
        self._screen.set_class(self.is_shown, "-touring")
        if not self.is_shown:
            bubble.show("")
            return
        command, words = STEPS[self._index]
        if self._index > 1 and isinstance(self._screen.focused, QueryLine):
            command, words = BACK  # the keys of all later steps would be text there
        key = self._screen.app.keymap.key_of(command)
        words = f"{self._index + 1}/{len(STEPS)}  {words.replace('{key}', key)}"
        bubble.show(words, key, goes_back=self._goes_back)

    def _is_done(self, command: str) -> bool:
        alpha = self._model.state.alpha
        match command:
            case "query.earlier":
                return self._model.displayed.view is not None
            case "query.results":
                self._alpha = alpha  # from which the next step moves it
                return not isinstance(self._screen.focused, QueryLine)
            case "alpha.more":
                return abs(alpha - self._alpha) > ALPHA_MOVE
            case "undo":
                return alpha == self._alpha
            case "results.read":
                return self._is_reading
            case _:
                return False

    @property
    def _goes_back(self) -> bool:
        """Whether esc leads to the results, from a document or from another pane."""
        is_home = isinstance(self._screen.focused, QueryLine | ResultList)
        return self._is_reading or not (is_home or self._screen.focused is None)

    @property
    def _is_reading(self) -> bool:
        return self._screen.query_one(Panes).read is not None
