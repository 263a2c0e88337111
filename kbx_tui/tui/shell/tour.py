"""A tour of explore in six steps, each of which waits for its key, and the bubble that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.cells import cell_len
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, LineDrawing, Span, looks


@dataclass(frozen=True, slots=True)
class TourStep:
    command: str
    words: str
    """What to do; `{key}` is its key, `{row}` what moves."""


ALPHA_STEP = "alpha.more"

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


class Tour:
    def __init__(self) -> None:
        self._index = len(STEPS)
        self._presses = 0

    @property
    def step(self) -> TourStep | None:
        """The current step; None before the beginning and after the end."""
        return STEPS[self._index] if self._index < len(STEPS) else None

    def start(self) -> None:
        self._index = 0

    def end(self) -> None:
        self._index = len(STEPS)

    def take(self, key: str, keys_of: Callable[[str], tuple[str, ...]]) -> bool:
        if self.step is None or key not in keys_of(self.step.command):
            return False
        self._index += 1
        self._presses = 0
        return True

    def wait(self, key: str, keys_of: Callable[[str], tuple[str, ...]]) -> None:
        """Stay at the current step, and say that its key is to be pressed again."""
        if self.step is not None and key in keys_of(self.step.command):
            self._presses += 1

    def words(self, key_of: Callable[[str], str], row: str) -> str:
        if self.step is None:
            return ""
        words = WAITING if self._presses else self.step.words
        words = words.replace("{key}", key_of(self.step.command))
        return f"{self._index + 1}/{len(STEPS)}  {words.replace('{row}', row)}"


class TourBubble(LineDrawing, Widget):
    """Hidden without a step. A click ends the tour, as esc does."""

    COMPONENT_CLASSES = looks("strong")
    DEFAULT_CSS = "TourBubble { display: none; height: auto; }"

    words = ""

    def show(self, words: str) -> None:
        if words == self.words:
            return
        self.words = words
        self.display = bool(words)
        self.border_subtitle = "esc ends the tour"
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
