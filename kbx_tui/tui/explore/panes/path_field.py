"""The path filter: a field that completes paths, and the number of documents in scope."""

from __future__ import annotations

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message

from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import Line, Span
from kbx_tui.tui.explore.view import ScopeView
from kbx_tui.tui.widgets.line_widget import LineWidget
from kbx_tui.tui.widgets.path_input import CompletePath, PathInput


class PathLine(PathInput):
    """The line in which the path is typed."""

    BINDINGS = bindings("path")

    @dataclass
    class Left(Message):
        """The user left the field with this path in it."""

        path: str

    def __init__(self, complete: CompletePath) -> None:
        super().__init__("everywhere", complete)
        self._completions: tuple[str, ...] = ()
        """Those of the current text, as far as they are known."""

    @property
    def is_completing(self) -> bool:
        return self.has_focus

    def on_path_input_completions_found(self, event: PathInput.CompletionsFound) -> None:
        self._completions = event.completions

    async def action_clear_or_leave(self) -> None:
        """Clear the field, or leave it if it is empty."""
        if self.value:
            self.value = ""
        else:
            await self.run_action("screen.leave_field")

    def on_focus(self) -> None:
        self.cursor_position = len(self.value)
        self.request_completions()

    def on_blur(self) -> None:
        """Apply the path; half a name, which no document has, is completed as shown."""
        path = self.value.strip()
        if self.completion and effective_path(path, self._completions) != path:
            path = self.value = self.completion
        self.post_message(self.Left(path))


class PathField(Horizontal):
    """The path, with the number of documents in its scope."""

    def __init__(self, complete: CompletePath) -> None:
        super().__init__()
        self.line = PathLine(complete)

    def compose(self) -> ComposeResult:
        yield from (PathLabel(), self.line, ScopeCount())

    def show(self, scope: ScopeView | None) -> None:
        """Show how many documents are in scope."""
        text = "" if scope is None or not scope.path else f"{scope.in_scope:,} in scope"
        self.line.border_subtitle = Content(text)
        self.query_one(ScopeCount).show(text)


class PathLabel(LineWidget):
    """The label of the path field, for layouts in which it has no border."""

    def line(self, width: int) -> Line:
        return (Span("in", "dim"),)


class ScopeCount(LineWidget):
    """The number of documents in scope, for a path field without a border to show it in."""

    text = ""

    def show(self, text: str) -> None:
        self.text = text
        self.refresh()

    def line(self, width: int) -> Line:
        return (Span(f"{self.text:>{width}}", "dim"),)


def effective_path(path: str, candidates: tuple[str, ...]) -> str:
    """Return the path to filter by while `path` is being typed: `memory/` for `memory/me`.

    A path without completions is used verbatim: a glob, a complete file name or a mistake.
    """
    if not candidates or path.endswith("/") or {path, f"{path}/"} & set(candidates):
        return path
    folder, slash, _ = path.rpartition("/")
    return folder + slash
