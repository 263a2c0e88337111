"""A document's text as it is in the file, the best place marked. No markdown widget: it mounts
one widget per block and takes seconds on long notes."""

from __future__ import annotations

from textual.message import Message

from kbx_tui.tui.commands import bindings
from kbx_tui.tui.drawing import Line, Look, Span, looks
from kbx_tui.tui.text import wrap
from kbx_tui.tui.view import Preview
from kbx_tui.tui.widgets.lines_view import TextPane


class PreviewPane(TextPane):
    """The text of one file."""

    COMPONENT_CLASSES = looks("strong", "accent")
    BINDINGS = bindings("preview")

    class Closed(Message):
        """A person is done reading."""

    def __init__(self) -> None:
        super().__init__()
        self.preview: Preview | None = None
        self._starts: list[int] = []

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def show(self, preview: Preview) -> None:
        """Show another document, from its best place on."""
        self.preview = preview
        self.lines_changed()
        self.call_after_refresh(self.scroll_to_best_place)

    def scroll_to_best_place(self) -> None:
        """Put the best place a little below the top."""
        line = self.preview.line_start if self.preview is not None else 0
        if 0 < line <= len(self._starts):
            self.scroll_line(max(self._starts[line - 1] - self.line_room // 4, 0))
        else:
            self.scroll_line(0)

    def build(self, width: int) -> list[Line]:
        if self.preview is None:
            return []
        lines, self._starts = preview_lines(self.preview, width - 1)
        return lines


def preview_lines(preview: Preview, width: int) -> tuple[list[Line], list[int]]:
    """Return the text wrapped to `width` cells, and on which line each line of the file starts."""
    lines: list[Line] = []
    starts: list[int] = []
    looks = _looks(preview.lines)
    for number, (text, look) in enumerate(zip(preview.lines, looks, strict=True), 1):
        starts.append(len(lines))
        best = preview.line_start <= number <= preview.line_end
        margin = Span("▌ ", "accent") if best else Span("  ")
        lines += [(margin, Span(line, look)) for line in wrap(text, width - 2)]
    return lines, starts


def _looks(lines: tuple[str, ...]) -> list[Look]:
    """Frontmatter and code stand back, headings stand out."""
    looks: list[Look] = []
    in_front = bool(lines) and lines[0].rstrip() == "---"
    in_code = False
    for number, line in enumerate(lines):
        if in_front:
            looks.append("dim")
            in_front = number == 0 or line.rstrip() not in ("---", "...")
        elif line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
            looks.append("dim")
        elif not in_code and line.startswith("#"):
            looks.append("strong")
        else:
            looks.append("text")
    return looks
