"""A tour of explore in six steps, each of which waits for its key, and the bubble that shows it."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.commands.keymap import command_by_id
from kbx_tui.tui.drawing.cell_text import shorten, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, looks
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.pane_layout import Panes
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.shell.frame_screen import ModeScreen


@dataclass(frozen=True, slots=True)
class TourStep:
    command: str
    words: str
    """What to do; `{key}` stands for the key, `{row}` for the row that moves."""


ALPHA_STEP = "alpha.more"
TITLE_CELLS = 24

STEPS: tuple[TourStep, ...] = (
    TourStep("query.earlier", "Press {key} to ask a question. Answers come as you type, too."),
    TourStep(
        "query.results",
        "Press {key} to go to the results. Beside them is what you named, such as a person, and"
        " why a result is where it is.",
    ),
    TourStep(
        ALPHA_STEP,
        "Press {key} and watch {row} move: alpha now weighs a document's own text more, its"
        " entities less.",
    ),
    TourStep(
        "undo",
        "Press {key}: alpha goes back to where it was. It undoes any change, the last one first.",
    ),
    TourStep("results.read", "Press {key} to read the result, at the passage that matches."),
    TourStep(
        "app.help",
        "Press {key} for the keys of a pane, and what its numbers mean. That was the tour;"
        " `kbx demo --tour` shows it again.",
    ),
)


WAITING = "No row has moved yet. Press {key} again and watch {row} move."


class TourBubble(LineDrawing, Widget):
    """The words of the current step; hidden without one. A click ends the tour, as does esc with no
    document open."""

    COMPONENT_CLASSES = looks("strong")
    DEFAULT_CSS = "TourBubble { display: none; height: auto; }"

    words = ""

    def show(self, words: str, *, is_reading: bool = False) -> None:
        self.border_subtitle = "esc goes back" if is_reading else "esc ends the tour"
        if words == self.words:
            return
        self.words = words
        self.display = bool(words)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(wrap(self.words, max(width, 1)))

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return min(cell_len(self.words), container.width)

    def render_line(self, y: int) -> Strip:
        lines = wrap(self.words, max(self.size.width, 1))
        line: Line = (Span(lines[y], "strong"),) if y < len(lines) else BLANK
        return self.draw(line, self.size.width)

    async def on_click(self) -> None:
        await self.run_action("screen.end_tour")


class TourGuide:
    def __init__(self, screen: ModeScreen) -> None:
        self._screen, self._model = screen, screen.session.explore
        self._index, self._is_pressed = len(STEPS), False
        self.is_wanted = False
        self.is_shown = False

    def start_if_wanted(self) -> None:
        if self.is_wanted:
            self.is_wanted = False
            self.start()

    def start(self) -> None:
        self._screen.app_state.note_tour()
        self._index, self._is_pressed = 0, False
        self.show()

    def end(self) -> None:
        self._index = len(STEPS)
        self.show()

    @property
    def _step(self) -> TourStep | None:
        """The current step; None before the beginning and after the end."""
        return STEPS[self._index] if self._index < len(STEPS) else None

    def take_key(self, key: str) -> bool:
        """Continue or end the tour; return whether the key does nothing else (esc while typing)."""
        if key == "escape":
            if self._is_reading:
                return False
            self.end()
            return isinstance(self._screen.focused, QueryLine)
        step, keymap = self._step, self._screen.app.keymap
        if step is not None and key in keymap.keys(command_by_id(step.command)):
            self._is_pressed = step.command == ALPHA_STEP and self._is_to_move
            self._index += not self._is_pressed
            self._screen.call_after_refresh(self.show)
        return False

    def show(self) -> None:
        bubble, step = self._screen.query_one(TourBubble), self._step
        watches = step is not None and step.command in (ALPHA_STEP, "undo")
        self._screen.set_class(watches, "-watching-rows")
        if not watches:
            self._screen.query_one(ResultList).watch_row("")
        self.is_shown = step is not None
        if step is None:
            bubble.show("")
            return
        moves = self._row_that_moves
        if step.command == ALPHA_STEP:
            # The list must first get its height for this step.
            self._screen.call_after_refresh(self._show_row_that_moves)
        rows = self._screen.query_one(ResultList).rows
        row = "the bars" if moves is None else f"“{shorten(rows[moves].title, TITLE_CELLS)}”"
        words = WAITING if self._is_pressed else step.words
        words = words.replace("{key}", self._screen.app.keymap.key_of(step.command))
        words = f"{self._index + 1}/{len(STEPS)}  {words.replace('{row}', row)}"
        bubble.show(words, is_reading=self._is_reading)

    @property
    def _is_reading(self) -> bool:
        return self._screen.query_one(Panes).read is not None

    @property
    def _row_that_moves(self) -> int | None:
        """Index of the row that the next step of alpha moves up; None if no row moves."""
        paths = [result.path for result in self._screen.query_one(ResultList).rows]
        moved = self._model.paths_after_alpha_step()
        pairs = zip(paths, moved, strict=False)
        path = next((after for before, after in pairs if before != after), "")
        return paths.index(path) if path in paths else None

    def _show_row_that_moves(self) -> None:
        results, row = self._screen.query_one(ResultList), self._row_that_moves
        if row is not None:
            results.watch_row(results.rows[row].path)

    @property
    def _is_to_move(self) -> bool:
        """Whether the next step of alpha moves no row, but a later one may."""
        view = self._model.displayed.view
        has_effect = view is not None and not view.alpha_note.startswith("alpha has no effect")
        return has_effect and self._model.state.alpha < 1.0 and self._row_that_moves is None
