"""The field for the path filter: a completion stands behind the cursor while one types."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import Line, Span
from kbx_tui.tui.explore.view import ScopeView
from kbx_tui.tui.widgets.line_widget import LineWidget
from kbx_tui.tui.widgets.path_suggester import Complete, Completing


class PathLine(Input):
    """The path itself."""

    BINDINGS = bindings("path")

    @dataclass
    class Offered(Message):
        """What would continue the path that is being typed."""

        path: str
        candidates: tuple[str, ...]

    @dataclass
    class Left(Message):
        """A person is done with the path."""

        path: str

    def __init__(self, complete: Complete) -> None:
        super().__init__(
            placeholder="everywhere", compact=True, suggester=Completing(complete, self._offer)
        )
        self.cursor_blink = False

    @property
    def completion(self) -> str:
        """What stands behind the cursor to be taken; empty when nothing does."""
        return self._suggestion

    async def action_complete(self) -> None:
        """Take the completion; where there is none, go on to the next pane."""
        before = self.value
        self.cursor_position = len(before)
        self.action_cursor_right()  # at the end, this takes the completion
        if self.value == before:
            await self.run_action("screen.next_pane(1)")

    async def action_clear_or_leave(self) -> None:
        """Empty the field, or leave it when it is empty."""
        if self.value:
            self.value = ""
        else:
            await self.run_action("screen.leave_field")

    def on_focus(self, event: events.Focus) -> None:
        self.cursor_position = len(self.value)
        self.run_worker(self._look(self.value), exclusive=True, exit_on_error=False)

    def on_blur(self) -> None:
        self.post_message(self.Left(self.value.strip()))

    async def _look(self, value: str) -> None:
        if self.suggester is not None:
            await self.suggester.get_suggestion(value)

    def _offer(self, path: str, candidates: tuple[str, ...]) -> None:
        if self.has_focus and path == self.value:
            self.post_message(self.Offered(path.strip(), candidates))


class PathField(Horizontal):
    """The path with how many documents it leaves."""

    def __init__(self, complete: Complete) -> None:
        super().__init__()
        self._complete = complete

    def compose(self) -> ComposeResult:
        yield PathLabel()
        yield PathLine(self._complete)
        yield ScopeCount()

    @property
    def line(self) -> PathLine:
        """Where it is typed."""
        return self.query_one(PathLine)

    def show(self, scope: ScopeView | None) -> None:
        """Say how many documents are in scope."""
        words = scope_words(scope)
        self.line.border_subtitle = Content(words)
        self.query_one(ScopeCount).show(words)


class PathLabel(LineWidget):
    """The word before the path, where there is no border to say it."""

    def line(self, width: int) -> Line:
        return (Span("in", "dim"),)


class ScopeCount(LineWidget):
    """The count, where there is no border to say it."""

    words = ""

    def show(self, words: str) -> None:
        """Show these words."""
        self.words = words
        self.refresh()

    def line(self, width: int) -> Line:
        return (Span(f"{self.words:>{width}}", "dim"),)


def meant_path(path: str, candidates: tuple[str, ...]) -> str:
    """Return which path counts while `path` is typed: `memory/me` is still `memory/`.

    A path that nothing continues counts as it is: a glob, a whole file name, a mistake.
    """
    if not candidates or path.endswith("/") or {path, f"{path}/"} & set(candidates):
        return path
    folder, slash, _ = path.rpartition("/")
    return folder + slash


def scope_words(scope: ScopeView | None) -> str:
    """Return `12 in scope`; nothing when everything is."""
    return "" if scope is None or not scope.path else f"{scope.in_scope:,} in scope"
